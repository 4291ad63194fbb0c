package io.steelyard.merchant;

import io.steelyard.bus.Call;
import io.steelyard.db.Sql;
import io.steelyard.domain.Environment;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.KeyType;
import io.steelyard.domain.Paging;
import io.steelyard.domain.WireName;
import io.steelyard.merchant.MerchantMessages.MerchantView;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** The rows of merchants and their keys, within the caller's transaction where there is one. */
final class MerchantStore {
  private static final String INSERT_MERCHANT =
      """
      INSERT INTO merchant (id, name, environment, timezone, created_at, updated_at)
      VALUES ($1, $2, $3, $4, $5, $5)
      """;

  private static final String INSERT_INVOICE_NUMBER =
      "INSERT INTO invoice_number (merchant_id, last) VALUES ($1, 0)";

  private static final String INSERT_KEY =
      """
      INSERT INTO api_key (id, merchant_id, type, name, key_hash, created_at)
      VALUES ($1, $2, $3, $4, $5, $6)
      """;

  private static final String REVOKE_KEY =
      """
      UPDATE api_key SET revoked_at = COALESCE(revoked_at, $3)
      WHERE merchant_id = $1 AND id = $2
      RETURNING id
      """;

  /** The one query that finds out whose rows may be seen, and so cannot filter by merchant. */
  private static final String KEY_BY_HASH =
      """
      SELECT k.id AS key_id, k.type, k.key_hash, m.id, m.environment, m.timezone
      FROM api_key k
      JOIN merchant m ON m.id = k.merchant_id
      WHERE k.key_hash = $1 AND k.revoked_at IS NULL
      """;

  private static final String MERCHANT =
      "SELECT id, environment, timezone FROM merchant WHERE id = $1";

  /** The operator's own list, the other query that sees every merchant. */
  private static final String PAGE =
      """
      SELECT id, name, environment, timezone, created_at FROM merchant
      ORDER BY created_at {order}, id {order} LIMIT $1 OFFSET $2
      """;

  private static final String COUNT = "SELECT count(*) FROM merchant";

  /** Compares and sets in one: of two concurrent calls, the later time wins in any order. */
  private static final String SET_CLOCK =
      """
      UPDATE merchant SET clock_now = $2, updated_at = $3
      WHERE id = $1 AND environment = 'test' AND COALESCE(clock_now, $3) <= $2
      RETURNING clock_now
      """;

  record StoredKey(Id id, KeyType type, byte[] hash, Call.Merchant merchant) {}

  record NewKey(Id id, KeyType type, String name, byte[] hash) {}

  /** A merchant and the counter of its invoices. */
  Future<Void> insert(SqlClient client, Call.Merchant merchant, String name, Instant at) {
    UUID id = merchant.id().uuid();
    return client
        .preparedQuery(INSERT_MERCHANT)
        .execute(
            Tuple.of(
                id, name, merchant.environment().wire(), merchant.zone().getId(), Sql.time(at)))
        .compose(
            done -> client.preparedQuery(INSERT_INVOICE_NUMBER).execute(Tuple.of(id)).mapEmpty());
  }

  Future<Void> insertKey(SqlClient client, UUID merchantId, NewKey key, Instant at) {
    return client
        .preparedQuery(INSERT_KEY)
        .execute(
            Tuple.of(
                key.id().uuid(),
                merchantId,
                key.type().wire(),
                key.name(),
                Buffer.buffer(key.hash()),
                Sql.time(at)))
        .mapEmpty();
  }

  /** Whether the merchant has that key; one revoked before keeps its time. */
  Future<Boolean> revokeKey(SqlClient client, UUID merchantId, UUID keyId, Instant at) {
    return client
        .preparedQuery(REVOKE_KEY)
        .execute(Tuple.of(merchantId, keyId, Sql.time(at)))
        .map(rows -> rows.size() == 1);
  }

  /** The unrevoked key with this hash. */
  Future<Optional<StoredKey>> keyByHash(SqlClient client, byte[] hash) {
    return client
        .preparedQuery(KEY_BY_HASH)
        .execute(Tuple.of(Buffer.buffer(hash)))
        .map(rows -> first(rows).map(MerchantStore::storedKey));
  }

  Future<Optional<Call.Merchant>> merchant(SqlClient client, UUID id) {
    return client
        .preparedQuery(MERCHANT)
        .execute(Tuple.of(id))
        .map(rows -> first(rows).map(MerchantStore::merchant));
  }

  Future<Long> count(SqlClient client) {
    return client.preparedQuery(COUNT).execute().map(rows -> rows.iterator().next().getLong(0));
  }

  Future<List<MerchantView>> page(SqlClient client, Paging paging) {
    return client
        .preparedQuery(PAGE.replace("{order}", paging.ascending() ? "ASC" : "DESC"))
        .execute(Tuple.of(paging.pageSize(), paging.offset()))
        .map(
            rows -> {
              List<MerchantView> page = new ArrayList<>(rows.size());
              rows.forEach(row -> page.add(view(row)));
              return page;
            });
  }

  /** The clock as set, or empty when it may not be set to that. */
  Future<Optional<Instant>> setClock(
      SqlClient client, UUID merchantId, Instant now, Instant systemNow) {
    return client
        .preparedQuery(SET_CLOCK)
        .execute(Tuple.of(merchantId, Sql.time(now), Sql.time(systemNow)))
        .map(rows -> first(rows).map(row -> Sql.instant(row, "clock_now")));
  }

  private static StoredKey storedKey(Row row) {
    return new StoredKey(
        Sql.id(row, "key_id", IdKind.API_KEY),
        WireName.parse(KeyType.class, row.getString("type")),
        row.getBuffer("key_hash").getBytes(),
        merchant(row));
  }

  private static Call.Merchant merchant(Row row) {
    return new Call.Merchant(
        Sql.id(row, "id", IdKind.MERCHANT),
        WireName.parse(Environment.class, row.getString("environment")),
        ZoneId.of(row.getString("timezone")));
  }

  private static MerchantView view(Row row) {
    Call.Merchant merchant = merchant(row);
    return new MerchantView(
        merchant.id(),
        row.getString("name"),
        merchant.environment(),
        merchant.zone(),
        Sql.instant(row, "created_at"));
  }

  private static Optional<Row> first(RowSet<Row> rows) {
    return rows.size() == 0 ? Optional.empty() : Optional.of(rows.iterator().next());
  }
}
