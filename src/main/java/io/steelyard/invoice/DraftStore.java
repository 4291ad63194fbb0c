package io.steelyard.invoice;

import io.steelyard.db.Columns;
import io.steelyard.db.Ids;
import io.steelyard.db.Sql;
import io.steelyard.db.Transactions;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.InvoiceLine;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.domain.NetTerms;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.domain.PeriodKey;
import io.steelyard.domain.WireName;
import io.steelyard.invoice.LineStore.PlacedLine;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Makes invoices: their rows, numbers and first lines. */
public final class DraftStore {
  /**
   * Takes the merchant's next numbers. Its row stays locked until the transaction ends, which is
   * what keeps the numbers gapless: take them late.
   */
  private static final String INSERT_INVOICES =
      """
      WITH number AS (
        UPDATE invoice_number SET last = last + $20::bigint WHERE merchant_id = $19 RETURNING last
      )
      INSERT INTO invoice (id, customer_id, subscription_id, boundary_index, boundary_at, status,
          currency, total, due_date, issue_date, pending_date, finalise_at, net_terms,
          auto_sync_invoice, auto_send_invoice, auto_charge_invoice, payment_gateway, paused_reason,
          created_at, updated_at, merchant_id, vanity_id)
      SELECT t.id, t.customer_id, t.subscription_id, t.boundary_index, t.boundary_at, t.status,
             t.currency, t.total, t.due_date, t.issue_date, t.boundary_at, t.finalise_at,
             t.net_terms, t.auto_sync, t.auto_send, t.auto_charge, t.payment_gateway,
             t.paused_reason, t.at, t.at, $19, number.last - $20::bigint + t.n
        FROM number, unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::timestamptz[], $6::text[],
                    $7::text[], $8::text[]::numeric[], $9::timestamptz[], $10::timestamptz[],
                    $11::timestamptz[], $12::text[], $13::boolean[], $14::boolean[],
                    $15::boolean[], $16::text[], $17::text[], $18::timestamptz[]) WITH ORDINALITY
          AS t(id, customer_id, subscription_id, boundary_index, boundary_at, status, currency,
               total, due_date, issue_date, finalise_at, net_terms, auto_sync, auto_send,
               auto_charge, payment_gateway, paused_reason, at, n)
      """;

  private static final String RESUME =
      """
      UPDATE invoice i
         SET boundary_at = t.boundary_at, pending_date = t.boundary_at, status = t.status,
             total = t.total, due_date = t.due_date, issue_date = t.issue_date,
             finalise_at = t.finalise_at, net_terms = t.net_terms, paused_reason = NULL,
             updated_at = t.at
        FROM unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[]::numeric[],
                    $5::timestamptz[], $6::timestamptz[], $7::timestamptz[], $8::text[],
                    $9::timestamptz[])
          AS t(id, boundary_at, status, total, due_date, issue_date, finalise_at, net_terms, at)
       WHERE i.merchant_id = $10 AND i.id = t.id AND i.status = 'paused'
      """;

  // One by one: a plan made while there were few invoices would read all of the merchant's.
  private static final String IDS_AT =
      """
      SELECT t.subscription_id, t.boundary_index, i.id
        FROM unnest($2::uuid[], $3::int[]) AS t(subscription_id, boundary_index)
       CROSS JOIN LATERAL (
         SELECT i.id FROM invoice i
          WHERE i.merchant_id = $1 AND i.subscription_id = t.subscription_id
            AND i.boundary_index = t.boundary_index AND ($4::text IS NULL OR i.status = $4)
          LIMIT 1) i
      """;

  /**
   * An invoice to be, without its number.
   *
   * @param boundaryIndex the index of the period whose start it is made at
   * @param boundaryAt that start
   * @param finaliseAt when it becomes final by the merchant's clock; null when it is
   * @param dueDate null, like {@code issueDate}, until it is final
   * @param pausedReason why it could not be made; null otherwise
   * @param at when it is made, by the merchant's clock
   */
  public record NewInvoice(
      Id id,
      Id customerId,
      Id subscriptionId,
      int boundaryIndex,
      Instant boundaryAt,
      InvoiceStatus status,
      String currency,
      BigDecimal total,
      Instant dueDate,
      Instant issueDate,
      Instant finaliseAt,
      NetTerms netTerms,
      boolean autoSync,
      boolean autoSend,
      boolean autoCharge,
      PaymentGateway paymentGateway,
      String pausedReason,
      List<InvoiceLine> lines,
      Instant at) {
    public NewInvoice {
      lines = List.copyOf(lines);
    }
  }

  private final LineStore lines = new LineStore();

  /** Numbers and inserts invoices with their lines, in the order given. */
  public Future<Void> insert(SqlClient transaction, UUID merchantId, List<NewInvoice> invoices) {
    if (invoices.isEmpty()) {
      return Future.succeededFuture();
    }
    return Transactions.pipelined(
        () -> insertHeads(transaction, merchantId, invoices),
        () -> lines.insert(transaction, merchantId, placed(invoices)));
  }

  private static Future<Void> insertHeads(
      SqlClient tx, UUID merchantId, List<NewInvoice> invoices) {
    Tuple parameters =
        new Columns<>(invoices)
            .uuids(each -> each.id().uuid())
            .uuids(each -> each.customerId().uuid())
            .uuids(each -> each.subscriptionId().uuid())
            .integers(NewInvoice::boundaryIndex)
            .times(NewInvoice::boundaryAt)
            .texts(each -> each.status().wire())
            .texts(NewInvoice::currency)
            .numbers(NewInvoice::total)
            .times(NewInvoice::dueDate)
            .times(NewInvoice::issueDate)
            .times(NewInvoice::finaliseAt)
            .texts(each -> each.netTerms().wire())
            .booleans(NewInvoice::autoSync)
            .booleans(NewInvoice::autoSend)
            .booleans(NewInvoice::autoCharge)
            .texts(each -> wire(each.paymentGateway()))
            .texts(NewInvoice::pausedReason)
            .times(NewInvoice::at)
            .and(merchantId, (long) invoices.size());
    return tx.preparedQuery(INSERT_INVOICES)
        .execute(parameters)
        .compose(
            rows ->
                rows.rowCount() == invoices.size()
                    ? Future.succeededFuture()
                    : Future.failedFuture(
                        new IllegalStateException("merchant " + merchantId + " has no numbers")));
  }

  /**
   * Makes invoices of which so far there was only a paused row with its number, as it was known
   * when they could not be made. Fails when one of them is not paused any more.
   */
  public Future<Void> resume(SqlClient transaction, UUID merchantId, List<NewInvoice> invoices) {
    if (invoices.isEmpty()) {
      return Future.succeededFuture();
    }
    return transaction
        .preparedQuery(RESUME)
        .execute(
            new Columns<>(invoices)
                .uuids(each -> each.id().uuid())
                .times(NewInvoice::boundaryAt)
                .texts(each -> each.status().wire())
                .numbers(NewInvoice::total)
                .times(NewInvoice::dueDate)
                .times(NewInvoice::issueDate)
                .times(NewInvoice::finaliseAt)
                .texts(each -> each.netTerms().wire())
                .times(NewInvoice::at)
                .and(merchantId))
        .compose(
            rows ->
                rows.rowCount() == invoices.size()
                    ? Future.succeededFuture()
                    : Future.failedFuture(
                        new IllegalStateException("a paused invoice is not paused any more")))
        .compose(done -> lines.insert(transaction, merchantId, placed(invoices)));
  }

  private static List<PlacedLine> placed(List<NewInvoice> invoices) {
    List<PlacedLine> placed = new ArrayList<>();
    for (NewInvoice invoice : invoices) {
      int position = 0;
      for (InvoiceLine line : invoice.lines()) {
        placed.add(
            new PlacedLine(Ids.nextUuid(), invoice.id().uuid(), position++, line, invoice.at()));
      }
    }
    return placed;
  }

  /** The ids of invoices by their boundaries, in one status or, for null, in any. */
  public Future<Map<PeriodKey, Id>> idsAt(
      SqlClient client, UUID merchantId, List<PeriodKey> boundaries, InvoiceStatus status) {
    return client
        .preparedQuery(IDS_AT)
        .execute(
            Tuple.of(
                merchantId,
                boundaries.stream().map(each -> each.subscriptionId().uuid()).toArray(UUID[]::new),
                boundaries.stream().map(PeriodKey::index).toArray(Integer[]::new),
                wire(status)))
        .map(
            rows -> {
              Map<PeriodKey, Id> ids = new HashMap<>();
              for (Row row : rows) {
                ids.put(
                    new PeriodKey(
                        Sql.id(row, "subscription_id", IdKind.SUBSCRIPTION),
                        row.getInteger("boundary_index")),
                    Sql.id(row, "id", IdKind.INVOICE));
              }
              return ids;
            });
  }

  private static String wire(WireName value) {
    return value == null ? null : value.wire();
  }
}
