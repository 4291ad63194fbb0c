package io.steelyard.invoice;

import io.steelyard.db.Sql;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.InvoiceLine;
import io.steelyard.invoice.InvoiceMessages.LineDetails;
import io.steelyard.invoice.InvoiceMessages.LineItemView;
import io.steelyard.invoice.InvoiceMessages.LinePrice;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Shows drafted lines as the external API shows stored ones. */
public final class DraftLines {
  private static final String PRICES =
      """
      SELECT p.id AS price_id, p.entity_type, p.billing_mode, p.rules::text AS rules, p.price_type,
             b.id AS billable_id, b.show_on_invoice, b.hidden, b.single_unit_label,
             b.multiple_unit_label
        FROM price p
        LEFT JOIN billable b ON b.merchant_id = p.merchant_id AND b.id = p.billable_id
       WHERE p.merchant_id = $1 AND p.id = ANY ($2::uuid[])
      """;

  /** The lines in their order, without what only stored ones have. */
  public Future<List<LineItemView>> views(
      SqlClient client, UUID merchantId, List<InvoiceLine> lines) {
    UUID[] prices =
        lines.stream().map(line -> line.price().id().uuid()).distinct().toArray(UUID[]::new);
    return client
        .preparedQuery(PRICES)
        .execute(Tuple.of(merchantId).addValue(prices))
        .map(
            rows -> {
              Map<Id, LinePrice> views = new HashMap<>();
              rows.forEach(
                  row -> {
                    Id id = Sql.id(row, "price_id", IdKind.PRICE);
                    views.put(id, InvoiceStore.price(row, id));
                  });
              return lines.stream().map(line -> view(merchantId, line, views)).toList();
            });
  }

  private static LineItemView view(UUID merchantId, InvoiceLine line, Map<Id, LinePrice> prices) {
    return new LineItemView(
        null,
        null,
        new Id(IdKind.MERCHANT, merchantId),
        line.price().id(),
        line.amount(),
        line.description(),
        new LineDetails(line.quantity(), line.unitPrice()),
        line.start(),
        line.end(),
        null,
        null,
        prices.get(line.price().id()));
  }
}
