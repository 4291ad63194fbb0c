package io.steelyard.invoice;

import io.steelyard.db.Columns;
import io.steelyard.domain.InvoiceLine;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/** Writes the lines of invoices that are not final yet. */
final class LineStore {
  private static final String INSERT =
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

  private static final String DELETE =
      """
      DELETE FROM invoice_line_item
       WHERE merchant_id = $1 AND invoice_id = ANY ($2::uuid[]) AND kind <> 'advance'
      """;

  /**
   * A line of an invoice.
   *
   * @param position among the invoice's lines, from 0
   */
  record PlacedLine(UUID id, UUID invoiceId, int position, InvoiceLine line, Instant at) {}

  Future<Void> insert(SqlClient tx, UUID merchantId, List<PlacedLine> lines) {
    if (lines.isEmpty()) {
      return Future.succeededFuture();
    }
    return tx.preparedQuery(INSERT)
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

  /** Deletes all lines of these invoices but those in advance. */
  Future<Void> deleteUsage(SqlClient tx, UUID merchantId, List<UUID> invoices) {
    return tx.preparedQuery(DELETE)
        .execute(Tuple.of(merchantId).addValue(invoices.toArray(UUID[]::new)))
        .mapEmpty();
  }
}
