package io.steelyard.merchant;

import io.steelyard.db.Sql;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.KeyType;
import io.steelyard.domain.Paging;
import io.steelyard.domain.WireName;
import io.steelyard.merchant.MerchantMessages.ApiKeySummary;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** What an operator may know of keys: which there are, and when each was last used. */
final class ApiKeyStore {
  private static final String COUNT = "SELECT count(*) FROM api_key WHERE merchant_id = $1";

  private static final String PAGE =
      """
      SELECT id, type, name, created_at, revoked_at, last_used_at FROM api_key
      WHERE merchant_id = $1
      ORDER BY created_at {order}, id {order} LIMIT $2 OFFSET $3
      """;

  /**
   * Each use names its key's merchant. What another instance has just written stays, so that a key
   * in use by many is written about once.
   */
  private static final String RECORD_USES =
      """
      UPDATE api_key k SET last_used_at = u.at
      FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) AS u (merchant_id, id, at)
      WHERE k.merchant_id = u.merchant_id AND k.id = u.id
        AND (k.last_used_at IS NULL
             OR k.last_used_at < u.at - $4::bigint * interval '1 millisecond')
      """;

  /** That a key was used. */
  record Use(UUID merchantId, UUID keyId, Instant at) {}

  Future<Long> count(SqlClient client, UUID merchantId) {
    return client
        .preparedQuery(COUNT)
        .execute(Tuple.of(merchantId))
        .map(rows -> rows.iterator().next().getLong(0));
  }

  Future<List<ApiKeySummary>> page(SqlClient client, UUID merchantId, Paging paging) {
    return client
        .preparedQuery(PAGE.replace("{order}", paging.ascending() ? "ASC" : "DESC"))
        .execute(Tuple.of(merchantId, paging.pageSize(), paging.offset()))
        .map(
            rows -> {
              List<ApiKeySummary> page = new ArrayList<>(rows.size());
              rows.forEach(row -> page.add(summary(row)));
              return page;
            });
  }

  private static ApiKeySummary summary(Row row) {
    return new ApiKeySummary(
        Sql.id(row, "id", IdKind.API_KEY),
        WireName.parse(KeyType.class, row.getString("type")),
        row.getString("name"),
        Sql.instant(row, "created_at"),
        Sql.instant(row, "revoked_at"),
        Sql.instant(row, "last_used_at"));
  }

  /**
   * Writes down when keys were last used.
   *
   * @param uses one for a key, in an order that is everywhere the same, or two instances that write
   *     at once might wait for each other
   * @param knownWithinMs how much earlier a use that is written down already may be, to do as well
   */
  Future<Void> recordUses(SqlClient client, List<Use> uses, long knownWithinMs) {
    return client
        .preparedQuery(RECORD_USES)
        .execute(
            Tuple.of(
                uses.stream().map(Use::merchantId).toArray(UUID[]::new),
                uses.stream().map(Use::keyId).toArray(UUID[]::new),
                uses.stream().map(use -> Sql.time(use.at())).toArray(OffsetDateTime[]::new),
                knownWithinMs))
        .mapEmpty();
  }
}
