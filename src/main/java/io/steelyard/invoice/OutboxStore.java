package io.steelyard.invoice;

import io.steelyard.bus.Call;
import io.steelyard.db.Columns;
import io.steelyard.db.Ids;
import io.steelyard.db.Sql;
import io.steelyard.domain.DeliveryAction;
import io.steelyard.domain.Environment;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.domain.WireName;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** What is to be done with invoices at their gateways. Its times are the system's. */
public final class OutboxStore {
  // An action that was given up goes on under its old key, since its outcome may be unknown.
  private static final String ENQUEUE =
      """
      INSERT INTO outbox AS o (id, merchant_id, invoice_id, action, idempotency_key, attempts,
          next_attempt_at, created_at)
      SELECT t.id, $4, t.invoice_id, t.action, t.action || ':' || t.id, 0, $5, $5
        FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS t(id, invoice_id, action)
      ON CONFLICT (invoice_id, action) DO UPDATE
         SET attempts = 0, next_attempt_at = excluded.next_attempt_at
       WHERE o.next_attempt_at IS NULL
      """;

  private static final String CANCEL =
      "DELETE FROM outbox WHERE merchant_id = $1 AND invoice_id = $2";

  private static final String ANY_DUE =
      """
      SELECT EXISTS (SELECT FROM outbox WHERE merchant_id = $1 AND next_attempt_at <= $2) AS due
      """;

  private static final String OLDEST_DUE =
      """
      SELECT min(next_attempt_at) AS oldest FROM outbox WHERE next_attempt_at <= $1
      """;

  private static final String DUE_MERCHANTS =
      """
      SELECT m.id, m.environment, m.timezone
        FROM merchant m
       CROSS JOIN LATERAL (
         SELECT next_attempt_at AS since FROM outbox
          WHERE merchant_id = m.id AND next_attempt_at <= $1
            AND (leased_until IS NULL OR leased_until <= $1)
          ORDER BY next_attempt_at LIMIT 1) due
       WHERE m.id <> ALL ($3::uuid[])
       ORDER BY due.since, m.id
       LIMIT $2
      """;

  // Both rows are locked without waiting: who changes an invoice locks it first and then this one.
  private static final String CLAIM =
      """
      SELECT o.id, o.invoice_id, o.action, o.idempotency_key, o.attempts, i.status,
             i.payment_gateway, i.external_id, i.auto_send_invoice, i.auto_charge_invoice
        FROM outbox o
        JOIN invoice i ON i.merchant_id = o.merchant_id AND i.id = o.invoice_id
       WHERE o.merchant_id = $1 AND o.next_attempt_at <= $2
         AND (o.leased_until IS NULL OR o.leased_until <= $2)
       ORDER BY o.next_attempt_at, o.id LIMIT $3
         FOR NO KEY UPDATE OF o, i SKIP LOCKED
      """;

  private static final String LEASE =
      """
      UPDATE outbox SET leased_until = $3, attempts = attempts + 1
       WHERE merchant_id = $1 AND id = ANY ($2::uuid[])
      """;

  private static final String DROP =
      "DELETE FROM outbox WHERE merchant_id = $1 AND id = ANY ($2::uuid[])";

  private static final String LOCK_INVOICE =
      """
      SELECT status FROM invoice WHERE merchant_id = $1 AND id = $2 FOR NO KEY UPDATE
      """;

  private static final String DONE =
      "DELETE FROM outbox WHERE merchant_id = $1 AND id = $2 AND attempts = $3";

  private static final String LATER =
      """
      UPDATE outbox SET leased_until = NULL, next_attempt_at = $4, last_error = $5
       WHERE merchant_id = $1 AND id = $2 AND attempts = $3
      """;

  private static final String SET_EXTERNAL_ID =
      "UPDATE invoice SET external_id = $3 WHERE merchant_id = $1 AND id = $2";

  /** Something to be done with an invoice, as soon as may be. */
  public record Entry(UUID invoiceId, DeliveryAction action) {}

  /**
   * One action that is due, with what is known of its invoice.
   *
   * @param attempts with this one
   * @param externalId the gateway's id of the invoice; null before its sync
   */
  public record Due(
      UUID id,
      UUID invoiceId,
      DeliveryAction action,
      String idempotencyKey,
      int attempts,
      InvoiceStatus status,
      PaymentGateway gateway,
      String externalId,
      boolean autoSend,
      boolean autoCharge) {}

  /**
   * Writes down what is to be done, in the transaction that made it necessary. What is written down
   * already stays as it is.
   */
  public Future<Void> enqueue(
      SqlClient tx, UUID merchantId, List<Entry> entries, Instant systemNow) {
    if (entries.isEmpty()) {
      return Future.succeededFuture();
    }
    return tx.preparedQuery(ENQUEUE)
        .execute(
            new Columns<>(entries)
                .uuids(entry -> Ids.nextUuid())
                .uuids(Entry::invoiceId)
                .texts(entry -> entry.action().wire())
                .and(merchantId, Sql.time(systemNow)))
        .mapEmpty();
  }

  /** Forgets what was to be done with an invoice that the caller has locked. */
  public Future<Void> cancel(SqlClient tx, UUID merchantId, UUID invoiceId) {
    return tx.preparedQuery(CANCEL).execute(Tuple.of(merchantId, invoiceId)).mapEmpty();
  }

  /** Whether anything of the merchant's is to be done now, or being done. */
  public Future<Boolean> isAnyDue(SqlClient client, UUID merchantId, Instant systemNow) {
    return client
        .preparedQuery(ANY_DUE)
        .execute(Tuple.of(merchantId, Sql.time(systemNow)))
        .map(rows -> rows.iterator().next().getBoolean("due"));
  }

  /** How long the action waits that waits longest, of all merchants. */
  public Future<Duration> oldestDueAge(SqlClient client, Instant systemNow) {
    return client
        .preparedQuery(OLDEST_DUE)
        .execute(Tuple.of(Sql.time(systemNow)))
        .map(
            rows -> {
              Instant oldest = Sql.instant(rows.iterator().next(), "oldest");
              return oldest == null ? Duration.ZERO : Duration.between(oldest, systemNow);
            });
  }

  /** Merchants with something to be done that nobody is on, but {@code passBy}. */
  public Future<List<Call.Merchant>> dueMerchants(
      SqlClient client, Instant systemNow, int max, Set<UUID> passBy) {
    return client
        .preparedQuery(DUE_MERCHANTS)
        .execute(Tuple.of(Sql.time(systemNow), max).addValue(passBy.toArray(UUID[]::new)))
        .map(
            rows -> {
              List<Call.Merchant> due = new ArrayList<>();
              rows.forEach(
                  row ->
                      due.add(
                          new Call.Merchant(
                              Sql.id(row, "id", IdKind.MERCHANT),
                              WireName.parse(Environment.class, row.getString("environment")),
                              ZoneId.of(row.getString("timezone")))));
              return due;
            });
  }

  /** Locks actions that are due and that nobody is on, the oldest first. */
  public Future<List<Due>> claim(SqlClient tx, UUID merchantId, Instant systemNow, int max) {
    return tx.preparedQuery(CLAIM)
        .execute(Tuple.of(merchantId, Sql.time(systemNow), max))
        .map(
            rows -> {
              List<Due> claimed = new ArrayList<>(rows.size());
              rows.forEach(row -> claimed.add(due(row)));
              return claimed;
            });
  }

  public Future<Void> lease(SqlClient tx, UUID merchantId, List<Due> claimed, Instant until) {
    return tx.preparedQuery(LEASE)
        .execute(Tuple.of(merchantId).addValue(ids(claimed)).addValue(Sql.time(until)))
        .mapEmpty();
  }

  /** Forgets claimed actions. */
  public Future<Void> drop(SqlClient tx, UUID merchantId, List<Due> claimed) {
    return claimed.isEmpty()
        ? Future.succeededFuture()
        : tx.preparedQuery(DROP).execute(Tuple.of(merchantId).addValue(ids(claimed))).mapEmpty();
  }

  /** The state of an invoice, which stays until the transaction ends. */
  public Future<Optional<InvoiceStatus>> lockInvoice(
      SqlClient tx, UUID merchantId, UUID invoiceId) {
    return tx.preparedQuery(LOCK_INVOICE)
        .execute(Tuple.of(merchantId, invoiceId))
        .map(
            rows ->
                rows.size() == 0
                    ? Optional.empty()
                    : Optional.of(
                        WireName.parse(
                            InvoiceStatus.class, rows.iterator().next().getString("status"))));
  }

  /** Ends an action by the gateway's verdict; false when this attempt is not the present one. */
  public Future<Boolean> done(SqlClient tx, UUID merchantId, Due attempt) {
    return tx.preparedQuery(DONE)
        .execute(Tuple.of(merchantId, attempt.id(), attempt.attempts()))
        .map(rows -> rows.rowCount() == 1);
  }

  /**
   * Lets an action wait for another attempt.
   *
   * @param nextAttemptAt null when only an operator may have it tried again
   * @return false when this attempt is not the present one
   */
  public Future<Boolean> later(
      SqlClient tx, UUID merchantId, Due attempt, Instant nextAttemptAt, String error) {
    return tx.preparedQuery(LATER)
        .execute(
            Tuple.of(merchantId, attempt.id(), attempt.attempts())
                .addOffsetDateTime(Sql.time(nextAttemptAt))
                .addString(error))
        .map(rows -> rows.rowCount() == 1);
  }

  /**
   * @param externalId null when the gateway knows the invoice no more
   */
  public Future<Void> setExternalId(
      SqlClient tx, UUID merchantId, UUID invoiceId, String externalId) {
    return tx.preparedQuery(SET_EXTERNAL_ID)
        .execute(Tuple.of(merchantId, invoiceId, externalId))
        .mapEmpty();
  }

  private static UUID[] ids(List<Due> claimed) {
    return claimed.stream().map(Due::id).toArray(UUID[]::new);
  }

  private static Due due(Row row) {
    return new Due(
        row.getUUID("id"),
        row.getUUID("invoice_id"),
        WireName.parse(DeliveryAction.class, row.getString("action")),
        row.getString("idempotency_key"),
        row.getInteger("attempts") + 1,
        WireName.parse(InvoiceStatus.class, row.getString("status")),
        WireName.parseNullable(PaymentGateway.class, row.getString("payment_gateway")),
        row.getString("external_id"),
        row.getBoolean("auto_send_invoice"),
        row.getBoolean("auto_charge_invoice"));
  }
}
