package io.steelyard.integrity;

import io.steelyard.bus.Call;
import io.steelyard.db.Sql;
import io.steelyard.domain.Environment;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.WireName;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Whose turn a round is, and through whom it goes. */
final class RoundStore {
  // Any number that no other advisory lock of the service has; held by the session, so that it goes
  // with whoever dies.
  private static final long LOCK = 0x1472_6174_6573L;

  private static final String TRY_LOCK = "SELECT pg_try_advisory_lock($1)";
  private static final String UNLOCK = "SELECT pg_advisory_unlock($1)";

  private static final String MERCHANTS =
      "SELECT id, environment, timezone FROM merchant WHERE id > $1 ORDER BY id LIMIT $2";

  // Goes from one merchant's rows to the next one's along the index, whatever lies between. What no
  // merchant has, no merchant's own check can find.
  private static final String STRAYS =
      """
      WITH RECURSIVE named AS (
        (SELECT merchant_id FROM {table} ORDER BY merchant_id LIMIT 1)
        UNION ALL
        SELECT (SELECT t.merchant_id FROM {table} t
                 WHERE t.merchant_id > n.merchant_id ORDER BY t.merchant_id LIMIT 1)
          FROM named n WHERE n.merchant_id IS NOT NULL
      )
      SELECT format('{table} %s names merchant %s', t.id, n.merchant_id) AS stray
        FROM named n
       CROSS JOIN LATERAL (
         SELECT id FROM {table} WHERE merchant_id = n.merchant_id ORDER BY id LIMIT 1) t
       WHERE NOT EXISTS (SELECT FROM merchant m WHERE m.id = n.merchant_id)
       LIMIT $1
      """;

  /** Takes the turn of this connection's session; false while another has it. */
  Future<Boolean> tryLock(SqlConnection connection) {
    return connection
        .preparedQuery(TRY_LOCK)
        .execute(Tuple.of(LOCK))
        .map(rows -> rows.iterator().next().getBoolean(0));
  }

  Future<Void> unlock(SqlConnection connection) {
    return connection.preparedQuery(UNLOCK).execute(Tuple.of(LOCK)).mapEmpty();
  }

  /** Of each merchant that rows name and that is not there, one of these rows. */
  Future<List<String>> strays(SqlConnection connection) {
    List<String> strays = new ArrayList<>();
    Future<Void> looked = Future.succeededFuture();
    for (String table : List.of("customer", "subscription", "invoice")) {
      looked =
          looked
              .compose(
                  before ->
                      connection
                          .preparedQuery(STRAYS.replace("{table}", table))
                          .execute(Tuple.of(Inspection.FINDINGS_MAX)))
              .map(
                  rows -> {
                    rows.forEach(row -> strays.add(row.getString("stray")));
                    return null;
                  });
    }
    return looked.map(done -> strays);
  }

  /** The next merchants by id. */
  Future<List<Call.Merchant>> merchants(SqlConnection connection, UUID after, int max) {
    return connection
        .preparedQuery(MERCHANTS)
        .execute(Tuple.of(after, max))
        .map(
            rows -> {
              List<Call.Merchant> merchants = new ArrayList<>(rows.size());
              rows.forEach(
                  row ->
                      merchants.add(
                          new Call.Merchant(
                              Sql.id(row, "id", IdKind.MERCHANT),
                              WireName.parse(Environment.class, row.getString("environment")),
                              ZoneId.of(row.getString("timezone")))));
              return merchants;
            });
  }
}
