package io.steelyard.invoice;

import io.steelyard.db.Columns;
import io.steelyard.db.Ids;
import io.steelyard.domain.Id;
import io.steelyard.domain.InvoiceLine;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.domain.NetTerms;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.domain.WireName;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Writes invoices until they are final: their rows, numbers and lines. */
public final class DraftStore {
  /**
   * Takes the merchant's next numbers. Its row stays locked until the transaction ends, which is
   * what keeps the numbers gapless: take them late.
   */
  private static final String NEXT_NUMBERS =
      "UPDATE invoice_number SET last = last + $2 WHERE merchant_id = $1 RETURNING last";

  private static final String INSERT_INVOICES =
      """
      INSERT INTO invoice (id, customer_id, subscription_id, boundary_index, boundary_at, status,
          currency, total, due_date, issue_date, pending_date, finalise_at, net_terms,
          auto_sync_invoice, auto_send_invoice, auto_charge_invoice, payment_gateway, paused_reason,
          created_at, updated_at, merchant_id, vanity_id)
      SELECT t.id, t.customer_id, t.subscription_id, t.boundary_index, t.boundary_at, t.status,
             t.currency, t.total, t.due_date, t.issue_date, t.boundary_at, t.finalise_at,
             t.net_terms, t.auto_sync, t.auto_send, t.auto_charge, t.payment_gateway,
             t.paused_reason, t.at, t.at, $19, $20 + t.n
        FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::timestamptz[], $6::text[],
                    $7::text[], $8::text[]::numeric[], $9::timestamptz[], $10::timestamptz[],
                    $11::timestamptz[], $12::text[], $13::boolean[], $14::boolean[],
                    $15::boolean[], $16::text[], $17::text[], $18::timestamptz[]) WITH ORDINALITY
          AS t(id, customer_id, subscription_id, boundary_index, boundary_at, status, currency,
               total, due_date, issue_date, finalise_at, net_terms, auto_sync, auto_send,
               auto_charge, payment_gateway, paused_reason, at, n)
      """;

  private static final String INSERT_LINES =
      """
      INSERT INTO invoice_line_item (id, invoice_id, position, kind, period_index, price_id,
          description, quantity, unit_price, exact_amount, amount, start_date, end_date, created_at,
          updated_at, merchant_id)
      SELECT t.id, t.invoice_id, t.position, t.kind, t.period_index, t.price_id, t.description,
             t.quantity, t.unit_price, t.exact_amount, t.amount, t.start_date, t.end_date, t.at,
             t.at, $15
        FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::int[], $6::uuid[],
                    $7::text[], $8::text[]::numeric[], $9::text[]::numeric[],
                    $10::text[]::numeric[], $11::text[]::numeric[], $12::timestamptz[],
                    $13::timestamptz[], $14::timestamptz[])
          AS t(id, invoice_id, position, kind, period_index, price_id, description, quantity,
               unit_price, exact_amount, amount, start_date, end_date, at)
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

  /** The lines that an invoice is to have. */
  public record Lines(Id invoiceId, List<InvoiceLine> lines, Instant at) {}

  private record PlacedLine(UUID invoiceId, int position, InvoiceLine line, Instant at) {}

  /** Numbers and inserts invoices with their lines, in the order given. */
  public Future<Void> insert(SqlClient transaction, UUID merchantId, List<NewInvoice> invoices) {
    if (invoices.isEmpty()) {
      return Future.succeededFuture();
    }
    return transaction
        .preparedQuery(NEXT_NUMBERS)
        .execute(Tuple.of(merchantId, (long) invoices.size()))
        .compose(
            rows -> {
              long before = rows.iterator().next().getLong("last") - invoices.size();
              return insertHeads(transaction, merchantId, invoices, before);
            })
        .compose(
            done ->
                insertLines(
                    transaction,
                    merchantId,
                    invoices.stream()
                        .map(each -> new Lines(each.id(), each.lines(), each.at()))
                        .toList()));
  }

  private static Future<Void> insertHeads(
      SqlClient tx, UUID merchantId, List<NewInvoice> invoices, long numberBefore) {
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
            .and(merchantId, numberBefore);
    return tx.preparedQuery(INSERT_INVOICES).execute(parameters).mapEmpty();
  }

  /** Adds lines to invoices that have none. */
  Future<Void> insertLines(SqlClient tx, UUID merchantId, List<Lines> invoices) {
    List<PlacedLine> lines = new ArrayList<>();
    for (Lines invoice : invoices) {
      int position = 0;
      for (InvoiceLine line : invoice.lines()) {
        lines.add(new PlacedLine(invoice.invoiceId().uuid(), position++, line, invoice.at()));
      }
    }
    if (lines.isEmpty()) {
      return Future.succeededFuture();
    }
    return tx.preparedQuery(INSERT_LINES)
        .execute(
            new Columns<>(lines)
                .uuids(placed -> Ids.nextUuid())
                .uuids(PlacedLine::invoiceId)
                .integers(PlacedLine::position)
                .texts(placed -> placed.line().kind().wire())
                .integers(placed -> placed.line().periodIndex())
                .uuids(placed -> placed.line().price().id().uuid())
                .texts(placed -> placed.line().description())
                .numbers(placed -> placed.line().quantity())
                .numbers(placed -> placed.line().unitPrice())
                .numbers(placed -> placed.line().exactAmount())
                .numbers(placed -> placed.line().amount())
                .times(placed -> placed.line().start())
                .times(placed -> placed.line().end())
                .times(PlacedLine::at)
                .and(merchantId))
        .mapEmpty();
  }

  private static String wire(WireName value) {
    return value == null ? null : value.wire();
  }
}
