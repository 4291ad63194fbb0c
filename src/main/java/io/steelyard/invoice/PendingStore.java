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

/** Invoices that wait to be final, and their becoming so. */
public final class PendingStore {
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

  private final LineStore lines = new LineStore();

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
    List<PlacedLine> placed = new ArrayList<>();
    for (Rewritten invoice : invoices) {
      int position = invoice.advance();
      for (InvoiceLine line : invoice.lines()) {
        UUID kept = invoice.ids().get(LineKey.of(line));
        placed.add(
            new PlacedLine(
                kept == null ? Ids.nextUuid() : kept,
                invoice.invoiceId().uuid(),
                position++,
                line,
                invoice.at()));
      }
    }
    return lines
        .deleteUsage(
            tx, merchantId, invoices.stream().map(each -> each.invoiceId().uuid()).toList())
        .compose(done -> lines.insert(tx, merchantId, placed));
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
}
