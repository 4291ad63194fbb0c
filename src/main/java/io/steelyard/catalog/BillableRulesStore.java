package io.steelyard.catalog;

import io.steelyard.catalog.CatalogDocument.Rules;
import io.steelyard.catalog.CatalogEdits.Edits;
import io.steelyard.catalog.CatalogEdits.Entry;
import io.steelyard.db.Columns;
import io.steelyard.db.Sql;
import io.steelyard.json.Json;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.UUID;

/** Writes the versions of billables' rules. */
final class BillableRulesStore {
  private static final String END =
      """
      UPDATE billable_rules SET active_until = $2
      WHERE merchant_id = $1 AND billable_id = ANY($3) AND active_until IS NULL
      """;

  /** A version that was in force for no time at all is as if it had never been. */
  private static final String ADD =
      """
      INSERT INTO billable_rules (billable_id, rules, merchant_id, active_from)
      SELECT v.billable_id, v.rules::json, $3, $4
      FROM unnest($1::uuid[], $2::text[]) AS v (billable_id, rules)
      ON CONFLICT (billable_id, active_from) DO UPDATE
      SET rules = excluded.rules, active_until = NULL
      """;

  /** A billable's version ends before its next is added: only one is open at a time. */
  Future<Void> write(SqlConnection connection, UUID merchantId, Edits<Rules> edits, Instant now) {
    if (edits.added().isEmpty()) {
      return Future.succeededFuture();
    }
    return connection
        .preparedQuery(END)
        .execute(Tuple.of(merchantId, Sql.time(now), edits.removed().toArray(UUID[]::new)))
        .compose(
            ended ->
                connection
                    .preparedQuery(ADD)
                    .execute(
                        new Columns<>(edits.added())
                            .uuids(Entry::id)
                            .texts(BillableRulesStore::json)
                            .and(merchantId, Sql.time(now))))
        .mapEmpty();
  }

  private static String json(Entry<Rules> entry) {
    return entry.value() == null ? null : Json.encodeText(entry.value());
  }
}
