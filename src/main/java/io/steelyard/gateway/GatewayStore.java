package io.steelyard.gateway;

import io.steelyard.db.SecretBox;
import io.steelyard.db.Sql;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.domain.WireName;
import io.steelyard.gateway.GatewayMessages.ConnectionView;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/** The merchants' connections to gateways. */
public final class GatewayStore {
  private static final String IS_CONNECTED =
      """
      SELECT EXISTS (
        SELECT 1 FROM gateway_connection WHERE merchant_id = $1 AND gateway = $2
      ) AS connected
      """;

  private static final String FIND =
      """
      SELECT kind, base_url, secret
      FROM gateway_connection
      WHERE merchant_id = $1 AND gateway = $2
      """;

  private static final String CONNECT =
      """
      INSERT INTO gateway_connection
        (merchant_id, gateway, kind, base_url, secret, created_at, updated_at)
      VALUES ($1, $2, $3, $4, $5, $6, $6)
      ON CONFLICT (merchant_id, gateway) DO UPDATE
      SET kind = EXCLUDED.kind, base_url = EXCLUDED.base_url, secret = EXCLUDED.secret,
          updated_at = EXCLUDED.updated_at
      RETURNING gateway, kind, base_url, created_at, updated_at
      """;

  private static final String DISCONNECT =
      """
      DELETE FROM gateway_connection WHERE merchant_id = $1 AND gateway = $2
      """;

  private GatewayStore() {}

  /**
   * How to reach a merchant's gateway.
   *
   * @param baseUrl null for a sandbox
   * @param sealedSecret as {@link SecretBox} sealed it, null for a sandbox
   */
  record Connection(String kind, String baseUrl, byte[] sealedSecret) {}

  /** Whether the merchant has connected {@code gateway}; may run in the caller's transaction. */
  public static Future<Boolean> isConnected(
      SqlClient client, UUID merchantId, PaymentGateway gateway) {
    return client
        .preparedQuery(IS_CONNECTED)
        .execute(Tuple.of(merchantId, gateway.wire()))
        .map(rows -> rows.iterator().next().getBoolean("connected"));
  }

  static Future<Optional<Connection>> find(
      SqlClient client, UUID merchantId, PaymentGateway gateway) {
    return client
        .preparedQuery(FIND)
        .execute(Tuple.of(merchantId, gateway.wire()))
        .map(GatewayStore::first);
  }

  static Future<ConnectionView> connect(
      SqlClient client,
      UUID merchantId,
      PaymentGateway gateway,
      Connection connection,
      Instant now) {
    byte[] secret = connection.sealedSecret();
    return client
        .preparedQuery(CONNECT)
        .execute(
            Tuple.of(merchantId, gateway.wire(), connection.kind())
                .addString(connection.baseUrl())
                .addBuffer(secret == null ? null : Buffer.buffer(secret))
                .addOffsetDateTime(Sql.time(now)))
        .map(rows -> view(rows.iterator().next()));
  }

  /** Whether there was a connection to remove. */
  static Future<Boolean> disconnect(SqlClient client, UUID merchantId, PaymentGateway gateway) {
    return client
        .preparedQuery(DISCONNECT)
        .execute(Tuple.of(merchantId, gateway.wire()))
        .map(rows -> rows.rowCount() == 1);
  }

  private static Optional<Connection> first(RowSet<Row> rows) {
    if (rows.size() == 0) {
      return Optional.empty();
    }
    Row row = rows.iterator().next();
    Buffer secret = row.getBuffer("secret");
    return Optional.of(
        new Connection(
            row.getString("kind"),
            row.getString("base_url"),
            secret == null ? null : secret.getBytes()));
  }

  private static ConnectionView view(Row row) {
    return new ConnectionView(
        WireName.parse(PaymentGateway.class, row.getString("gateway")),
        row.getString("kind"),
        row.getString("base_url"),
        Sql.instant(row, "created_at"),
        Sql.instant(row, "updated_at"));
  }
}
