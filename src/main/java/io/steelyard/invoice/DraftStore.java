package io.steelyard.invoice;

import io.steelyard.db.Columns;
import io.steelyard.db.Ids;
import io.steelyard.db.Sql;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.InvoiceLine;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.domain.LineKind;
import io.steelyard.domain.NetTerms;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.domain.PeriodKey;
import io.steelyard.domain.WireName;
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

  private static final String RESUME =
      """
      UPDATE invoice i
         SET status = t.status, total = t.total, due_date = t.due_date, issue_date = t.issue_date,
             finalise_at = t.finalise_at, paused_reason = NULL, updated_at = t.at
        FROM unnest($1::uuid[], $2::text[], $3::text[]::numeric[], $4::timestamptz[],
                    $5::timestamptz[], $6::timestamptz[], $7::timestamptz[])
          AS t(id, status, total, due_date, issue_date, finalise_at, at)
       WHERE i.merchant_id = $8 AND i.id = t.id AND i.status = 'paused'
      """;

  private static final String IDS_AT =
      """
      SELECT i.subscription_id, i.boundary_index, i.id
        FROM unnest($2::uuid[], $3::int[]) AS t(subscription_id, boundary_index)
        JOIN invoice i ON i.subscription_id = t.subscription_id
         AND i.boundary_index = t.boundary_index
       WHERE i.merchant_id = $1 AND ($4::text IS NULL OR i.status = $4)
      """;

  private static final String PENDING =
      """
      SELECT id, customer_id, subscription_id, boundary_index, boundary_at, finalise_at, net_terms,
             auto_sync_invoice, auto_send_invoice, auto_charge_invoice, payment_gateway
        FROM invoice
       WHERE merchant_id = $1 AND id = ANY ($2::uuid[])
       ORDER BY finalise_at, boundary_index, id
      """;

  private static final String STORED_LINES =
      """
      SELECT id, invoice_id, kind, period_index, price_id, quantity, amount
        FROM invoice_line_item
       WHERE merchant_id = $1 AND invoice_id = ANY ($2::uuid[])
      """;

  private static final String DELETE_LINES =
      """
      DELETE FROM invoice_line_item
       WHERE merchant_id = $1 AND invoice_id = ANY ($2::uuid[]) AND kind <> 'advance'
      """;

  private static final String FINALISE =
      """
      UPDATE invoice i
         SET status = t.status, total = t.total, due_date = t.due_date, issue_date = t.issue_date,
             finalise_at = NULL, updated_at = t.issue_date
        FROM unnest($1::uuid[], $2::text[], $3::text[]::numeric[], $4::timestamptz[],
                    $5::timestamptz[]) AS t(id, status, total, due_date, issue_date)
       WHERE i.merchant_id = $6 AND i.id = t.id AND i.status = 'pending'
      """;

  /**
   * An invoice that waits to be final.
   *
   * @param boundaryIndex the index of the period whose start it was made at
   */
  public record Pending(
      Id id,
      Id customerId,
      Id subscriptionId,
      int boundaryIndex,
      Instant boundaryAt,
      Instant finaliseAt,
      NetTerms netTerms,
      boolean autoSync,
      boolean autoSend,
      boolean autoCharge,
      PaymentGateway paymentGateway) {}

  /** What a line is for: an invoice has one for each. */
  public record LineKey(LineKind kind, int periodIndex, UUID priceId) {
    public static LineKey of(InvoiceLine line) {
      return new LineKey(line.kind(), line.periodIndex(), line.price().id().uuid());
    }
  }

  public record StoredLine(UUID id, LineKey key, BigDecimal quantity, BigDecimal amount) {}

  /**
   * The lines that an invoice is to have but those in advance, which stay.
   *
   * @param ids of lines that were there before, to be kept
   */
  public record Rewritten(
      Id invoiceId, List<InvoiceLine> lines, Map<LineKey, UUID> ids, int advance, Instant at) {}

  public record Final(
      Id id, InvoiceStatus status, BigDecimal total, Instant dueDate, Instant issueDate) {}

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

  private record PlacedLine(UUID id, UUID invoiceId, int position, InvoiceLine line, Instant at) {}

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
        .compose(done -> insertLines(transaction, merchantId, lines(invoices)));
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

  /** Makes invoices of which so far there was only a paused row with its number. */
  public Future<Void> resume(SqlClient transaction, UUID merchantId, List<NewInvoice> invoices) {
    if (invoices.isEmpty()) {
      return Future.succeededFuture();
    }
    return transaction
        .preparedQuery(RESUME)
        .execute(
            new Columns<>(invoices)
                .uuids(each -> each.id().uuid())
                .texts(each -> each.status().wire())
                .numbers(NewInvoice::total)
                .times(NewInvoice::dueDate)
                .times(NewInvoice::issueDate)
                .times(NewInvoice::finaliseAt)
                .times(NewInvoice::at)
                .and(merchantId))
        .compose(done -> insertLines(transaction, merchantId, lines(invoices)));
  }

  private static List<PlacedLine> lines(List<NewInvoice> invoices) {
    List<PlacedLine> lines = new ArrayList<>();
    for (NewInvoice invoice : invoices) {
      int position = 0;
      for (InvoiceLine line : invoice.lines()) {
        lines.add(
            new PlacedLine(Ids.nextUuid(), invoice.id().uuid(), position++, line, invoice.at()));
      }
    }
    return lines;
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

  /** These invoices, which wait to be final, in the order of their boundaries. */
  public Future<List<Pending>> pending(SqlClient client, UUID merchantId, List<UUID> ids) {
    return client
        .preparedQuery(PENDING)
        .execute(Tuple.of(merchantId).addValue(ids.toArray(UUID[]::new)))
        .map(
            rows -> {
              List<Pending> pending = new ArrayList<>(rows.size());
              rows.forEach(row -> pending.add(pending(row)));
              return pending;
            });
  }

  private static Pending pending(Row row) {
    return new Pending(
        Sql.id(row, "id", IdKind.INVOICE),
        Sql.id(row, "customer_id", IdKind.CUSTOMER),
        Sql.id(row, "subscription_id", IdKind.SUBSCRIPTION),
        row.getInteger("boundary_index"),
        Sql.instant(row, "boundary_at"),
        Sql.instant(row, "finalise_at"),
        WireName.parse(NetTerms.class, row.getString("net_terms")),
        row.getBoolean("auto_sync_invoice"),
        row.getBoolean("auto_send_invoice"),
        row.getBoolean("auto_charge_invoice"),
        WireName.parseNullable(PaymentGateway.class, row.getString("payment_gateway")));
  }

  /** The lines of these invoices so far. */
  public Future<Map<UUID, List<StoredLine>>> storedLines(
      SqlClient client, UUID merchantId, List<UUID> invoices) {
    return client
        .preparedQuery(STORED_LINES)
        .execute(Tuple.of(merchantId).addValue(invoices.toArray(UUID[]::new)))
        .map(
            rows -> {
              Map<UUID, List<StoredLine>> lines = new HashMap<>();
              for (Row row : rows) {
                LineKey key =
                    new LineKey(
                        WireName.parse(LineKind.class, row.getString("kind")),
                        row.getInteger("period_index"),
                        row.getUUID("price_id"));
                lines
                    .computeIfAbsent(row.getUUID("invoice_id"), id -> new ArrayList<>())
                    .add(
                        new StoredLine(
                            row.getUUID("id"),
                            key,
                            row.getBigDecimal("quantity"),
                            row.getBigDecimal("amount")));
              }
              return lines;
            });
  }

  /** Replaces what invoices charge for usage and corrections. */
  public Future<Void> rewrite(SqlClient tx, UUID merchantId, List<Rewritten> invoices) {
    if (invoices.isEmpty()) {
      return Future.succeededFuture();
    }
    List<PlacedLine> lines = new ArrayList<>();
    for (Rewritten invoice : invoices) {
      int position = invoice.advance();
      for (InvoiceLine line : invoice.lines()) {
        UUID kept = invoice.ids().get(LineKey.of(line));
        lines.add(
            new PlacedLine(
                kept == null ? Ids.nextUuid() : kept,
                invoice.invoiceId().uuid(),
                position++,
                line,
                invoice.at()));
      }
    }
    return tx.preparedQuery(DELETE_LINES)
        .execute(
            Tuple.of(merchantId)
                .addValue(
                    invoices.stream().map(each -> each.invoiceId().uuid()).toArray(UUID[]::new)))
        .compose(done -> insertLines(tx, merchantId, lines));
  }

  /**
   * Makes pending invoices, whose rows the caller has locked, final.
   *
   * @throws IllegalStateException when one of them is not pending
   */
  public Future<Void> finalise(SqlClient tx, UUID merchantId, List<Final> invoices) {
    return tx.preparedQuery(FINALISE)
        .execute(
            new Columns<>(invoices)
                .uuids(each -> each.id().uuid())
                .texts(each -> each.status().wire())
                .numbers(Final::total)
                .times(Final::dueDate)
                .times(Final::issueDate)
                .and(merchantId))
        .map(
            rows -> {
              if (rows.rowCount() != invoices.size()) {
                throw new IllegalStateException("an invoice to be made final was not pending");
              }
              return null;
            });
  }

  /** Adds lines to invoices that have none. */
  private static Future<Void> insertLines(SqlClient tx, UUID merchantId, List<PlacedLine> lines) {
    if (lines.isEmpty()) {
      return Future.succeededFuture();
    }
    return tx.preparedQuery(INSERT_LINES)
        .execute(
            new Columns<>(lines)
                .uuids(PlacedLine::id)
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
