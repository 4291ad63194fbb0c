package io.steelyard.gateway;

import io.steelyard.db.Sql;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.domain.WireName;
import io.steelyard.gateway.GatewayMessages.SandboxBehaviorView;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/** The sandbox gateways' memory of invoices, of keys, and of how they are to behave. */
final class SandboxInvoiceStore {
  // A request under a key that is known waits for the one before and gets its outcome.
  private static final String RECEIVE =
      """
      INSERT INTO sandbox_request AS r (merchant_id, gateway, idempotency_key, external_id, outcome,
          received, created_at)
      VALUES ($1, $2, $3, $4, $5, 1, $6)
      ON CONFLICT (merchant_id, gateway, idempotency_key) DO UPDATE SET received = r.received + 1
      RETURNING external_id, outcome, received
      """;

  private static final String INSERT =
      """
      INSERT INTO sandbox_invoice (merchant_id, gateway, external_id, invoice_id, status, total,
          charges, sends, created_at)
      VALUES ($1, $2, $3, $4, 'open', $5, 0, 0, $6)
      """;

  private static final String STATUS =
      """
      SELECT status FROM sandbox_invoice
       WHERE merchant_id = $1 AND gateway = $2 AND external_id = $3
      """;

  private static final String CHANGE =
      """
      UPDATE sandbox_invoice
         SET status = coalesce($4, status), charges = charges + $5, sends = sends + $6
       WHERE merchant_id = $1 AND gateway = $2 AND external_id = $3
      """;

  // One that is paid already may be told so again.
  private static final String COMPLETE =
      """
      UPDATE sandbox_invoice
         SET status = $3,
             charges = charges + CASE WHEN $3 = 'paid' AND status <> 'paid' THEN 1 ELSE 0 END
       WHERE merchant_id = $1 AND invoice_id = $2 AND status IN ('actionRequired', $3)
         AND (status = 'actionRequired' OR $3 = 'paid')
      RETURNING external_id
      """;

  private static final String BEHAVE =
      """
      INSERT INTO sandbox_behavior (merchant_id, gateway, sync, collect, send)
      VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (merchant_id, gateway) DO UPDATE
         SET sync = excluded.sync, collect = excluded.collect, send = excluded.send
      """;

  private static final String BEHAVIOR =
      "SELECT sync, collect, send FROM sandbox_behavior WHERE merchant_id = $1 AND gateway = $2";

  private final UUID merchantId;
  private final PaymentGateway gateway;

  SandboxInvoiceStore(UUID merchantId, PaymentGateway gateway) {
    this.merchantId = merchantId;
    this.gateway = gateway;
  }

  /** What a key stands for; {@code first} when it was not known before. */
  record Received(String externalId, String outcome, boolean first) {}

  Future<Received> receive(
      SqlClient tx, String idempotencyKey, String externalId, String outcome, Instant now) {
    return tx.preparedQuery(RECEIVE)
        .execute(
            Tuple.of(merchantId, gateway.wire(), idempotencyKey, externalId, outcome)
                .addOffsetDateTime(Sql.time(now)))
        .map(
            rows -> {
              Row row = rows.iterator().next();
              return new Received(
                  row.getString("external_id"),
                  row.getString("outcome"),
                  row.getInteger("received") == 1);
            });
  }

  Future<Void> insert(
      SqlClient tx, String externalId, UUID invoiceId, BigDecimal total, Instant now) {
    return tx.preparedQuery(INSERT)
        .execute(
            Tuple.of(merchantId, gateway.wire(), externalId, invoiceId, total)
                .addOffsetDateTime(Sql.time(now)))
        .mapEmpty();
  }

  /** How an invoice stands, as it is stored; empty when there is none. */
  Future<Optional<String>> status(SqlClient client, String externalId) {
    return client
        .preparedQuery(STATUS)
        .execute(Tuple.of(merchantId, gateway.wire(), externalId))
        .map(rows -> first(rows).map(row -> row.getString("status")));
  }

  /**
   * @param status null leaves it as it is
   */
  Future<Void> change(SqlClient tx, String externalId, String status, int charges, int sends) {
    return tx.preparedQuery(CHANGE)
        .execute(
            Tuple.of(merchantId, gateway.wire(), externalId, status)
                .addInteger(charges)
                .addInteger(sends))
        .mapEmpty();
  }

  /** Ends the wait for a customer's action; false when no action was demanded. */
  static Future<Boolean> complete(
      SqlClient client, UUID merchantId, UUID invoiceId, String status) {
    return client
        .preparedQuery(COMPLETE)
        .execute(Tuple.of(merchantId, invoiceId, status))
        .map(rows -> rows.size() > 0);
  }

  Future<Void> behave(SqlClient client, SandboxBehaviorView behavior) {
    return client
        .preparedQuery(BEHAVE)
        .execute(
            Tuple.of(
                merchantId,
                gateway.wire(),
                behavior.sync().wire(),
                behavior.collect().wire(),
                behavior.send().wire()))
        .mapEmpty();
  }

  Future<SandboxBehaviorView> behavior(SqlClient client) {
    return client
        .preparedQuery(BEHAVIOR)
        .execute(Tuple.of(merchantId, gateway.wire()))
        .map(
            rows ->
                first(rows)
                    .map(
                        row ->
                            new SandboxBehaviorView(
                                gateway,
                                behavior(row, "sync"),
                                behavior(row, "collect"),
                                behavior(row, "send")))
                    .orElse(
                        new SandboxBehaviorView(
                            gateway,
                            SandboxBehavior.SUCCEED,
                            SandboxBehavior.SUCCEED,
                            SandboxBehavior.SUCCEED)));
  }

  private static SandboxBehavior behavior(Row row, String column) {
    return WireName.parse(SandboxBehavior.class, row.getString(column));
  }

  private static Optional<Row> first(RowSet<Row> rows) {
    return rows.size() == 0 ? Optional.empty() : Optional.of(rows.iterator().next());
  }
}
