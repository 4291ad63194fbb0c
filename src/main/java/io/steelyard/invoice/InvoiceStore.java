package io.steelyard.invoice;

import io.steelyard.db.Sql;
import io.steelyard.domain.BillingMode;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.domain.Paging;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.domain.PriceType;
import io.steelyard.domain.WireName;
import io.steelyard.invoice.InvoiceMessages.InvoiceView;
import io.steelyard.invoice.InvoiceMessages.LineBillable;
import io.steelyard.invoice.InvoiceMessages.LineDetails;
import io.steelyard.invoice.InvoiceMessages.LineItemView;
import io.steelyard.invoice.InvoiceMessages.LinePrice;
import io.steelyard.json.Json;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** Invoices and their lines, as they are read. */
public final class InvoiceStore {
  private static final String COLUMNS =
      """
      id, external_id, status, created_at, updated_at, due_date, issue_date, pending_date,
      vanity_id, customer_id, subscription_id, auto_sync_invoice, auto_send_invoice,
      auto_charge_invoice, payment_gateway, total
      """;

  private static final String FIND =
      "SELECT " + COLUMNS + " FROM invoice WHERE merchant_id = $1 AND id = $2";

  private static final String LINES =
      """
      SELECT l.id, l.price_id, l.amount, l.description, l.quantity, l.unit_price, l.start_date,
             l.end_date, l.created_at, l.updated_at, p.entity_type, p.billing_mode,
             p.rules::text AS rules, p.price_type, b.id AS billable_id, b.show_on_invoice,
             b.hidden, b.single_unit_label, b.multiple_unit_label
        FROM invoice_line_item l
        JOIN price p ON p.merchant_id = l.merchant_id AND p.id = l.price_id
        LEFT JOIN billable b ON b.merchant_id = p.merchant_id AND b.id = p.billable_id
       WHERE l.merchant_id = $1 AND l.invoice_id = $2
       ORDER BY l.position
      """;

  // The page's ids are found in an index alone; sorted or passed over as whole rows, those before
  // it would take several times as long. As an array they are looked up whatever else is planned.
  private static final String PAGE =
      "SELECT "
          + COLUMNS
          + " FROM invoice WHERE merchant_id = $1 AND id = ANY (ARRAY("
          + "SELECT id FROM invoice%1$s%2$s LIMIT $%3$d OFFSET $%4$d))%2$s";

  private static final Map<String, String> ORDER_COLUMNS =
      Map.of(
          "createdAt", "created_at",
          "dueDate", "due_date",
          "id", "id",
          "issueDate", "issue_date",
          "status", "status",
          "updatedAt", "updated_at",
          "vanityId", "vanity_id");

  /** An invoice with its lines, as the external API shows it. */
  public Future<Optional<InvoiceView>> findWithLines(
      SqlClient client, UUID merchantId, UUID invoiceId) {
    return find(client, merchantId, invoiceId, false);
  }

  /** An invoice with its total and its lines. */
  public Future<Optional<InvoiceView>> findWhole(
      SqlClient client, UUID merchantId, UUID invoiceId) {
    return find(client, merchantId, invoiceId, true);
  }

  private static Future<Optional<InvoiceView>> find(
      SqlClient client, UUID merchantId, UUID invoiceId, boolean withTotal) {
    return head(client, merchantId, invoiceId)
        .compose(
            head ->
                head.isEmpty()
                    ? Future.succeededFuture(Optional.empty())
                    : client
                        .preparedQuery(LINES)
                        .execute(Tuple.of(merchantId, invoiceId))
                        .map(
                            lines ->
                                head.map(
                                    row ->
                                        view(
                                            row,
                                            merchantId,
                                            withTotal ? row.getBigDecimal("total") : null,
                                            lines(lines, merchantId, invoiceId)))));
  }

  /** An invoice without its lines. */
  Future<Optional<InvoiceView>> findHead(SqlClient client, UUID merchantId, UUID invoiceId) {
    return head(client, merchantId, invoiceId)
        .map(head -> head.map(row -> view(row, merchantId, row.getBigDecimal("total"), null)));
  }

  private static Future<Optional<Row>> head(SqlClient client, UUID merchantId, UUID invoiceId) {
    return client
        .preparedQuery(FIND)
        .execute(Tuple.of(merchantId, invoiceId))
        .map(rows -> rows.size() == 0 ? Optional.empty() : Optional.of(rows.iterator().next()));
  }

  public Future<Long> count(SqlClient client, UUID merchantId, Filter filter) {
    Tuple parameters = Tuple.of(merchantId);
    return client
        .preparedQuery("SELECT count(*) FROM invoice" + where(filter, parameters))
        .execute(parameters)
        .map(rows -> rows.iterator().next().getLong(0));
  }

  /** A page of invoices with their totals and without lines. */
  public Future<List<InvoiceView>> page(
      SqlClient client, UUID merchantId, Filter filter, Paging paging) {
    String direction = paging.ascending() ? " ASC" : " DESC";
    String order =
        " ORDER BY " + ORDER_COLUMNS.get(paging.orderBy()) + direction + ", id" + direction;
    Tuple parameters = Tuple.of(merchantId);
    String where = where(filter, parameters);
    String sql = PAGE.formatted(where, order, parameters.size() + 1, parameters.size() + 2);
    parameters.addValue(paging.pageSize()).addValue(paging.offset());
    return client
        .preparedQuery(sql)
        .execute(parameters)
        .map(
            rows -> {
              List<InvoiceView> page = new ArrayList<>(rows.size());
              for (Row row : rows) {
                page.add(view(row, merchantId, row.getBigDecimal("total"), null));
              }
              return page;
            });
  }

  /** A plan that is kept must not have to fit those who ask for all and those who filter. */
  private static String where(Filter filter, Tuple parameters) {
    StringBuilder where = new StringBuilder(" WHERE merchant_id = $1");
    Sql.and("customer_id", filter.customerId(), where, parameters);
    Sql.and("subscription_id", filter.subscriptionId(), where, parameters);
    Sql.and("status", filter.status(), where, parameters);
    return where.toString();
  }

  /** Null means any. */
  public record Filter(UUID customerId, UUID subscriptionId, String status) {}

  private static InvoiceView view(
      Row row, UUID merchantId, BigDecimal total, List<LineItemView> lines) {
    long vanityId = row.getLong("vanity_id");
    return new InvoiceView(
        Sql.id(row, "id", IdKind.INVOICE),
        row.getString("external_id"),
        WireName.parse(InvoiceStatus.class, row.getString("status")),
        Sql.instant(row, "created_at"),
        Sql.instant(row, "updated_at"),
        Sql.instant(row, "due_date"),
        Sql.instant(row, "issue_date"),
        Sql.instant(row, "pending_date"),
        vanityId,
        Long.toString(vanityId),
        Sql.id(row, "customer_id", IdKind.CUSTOMER),
        new Id(IdKind.MERCHANT, merchantId),
        Sql.id(row, "subscription_id", IdKind.SUBSCRIPTION),
        row.getBoolean("auto_sync_invoice"),
        row.getBoolean("auto_send_invoice"),
        row.getBoolean("auto_charge_invoice"),
        WireName.parseNullable(PaymentGateway.class, row.getString("payment_gateway")),
        total,
        lines);
  }

  private static List<LineItemView> lines(RowSet<Row> rows, UUID merchantId, UUID invoiceId) {
    List<LineItemView> lines = new ArrayList<>(rows.size());
    for (Row row : rows) {
      Id priceId = Sql.id(row, "price_id", IdKind.PRICE);
      lines.add(
          new LineItemView(
              Sql.id(row, "id", IdKind.LINE_ITEM),
              new Id(IdKind.INVOICE, invoiceId),
              new Id(IdKind.MERCHANT, merchantId),
              priceId,
              row.getBigDecimal("amount"),
              row.getString("description"),
              new LineDetails(row.getBigDecimal("quantity"), row.getBigDecimal("unit_price")),
              Sql.instant(row, "start_date"),
              Sql.instant(row, "end_date"),
              Sql.instant(row, "created_at"),
              Sql.instant(row, "updated_at"),
              price(row, priceId)));
    }
    return lines;
  }

  static LinePrice price(Row row, Id priceId) {
    Id billableId = Sql.id(row, "billable_id", IdKind.BILLABLE);
    LineBillable billable =
        billableId == null
            ? new LineBillable(null, true, false, "", "") // a base price meters nothing
            : new LineBillable(
                billableId,
                row.getBoolean("show_on_invoice"),
                row.getBoolean("hidden"),
                row.getString("single_unit_label"),
                row.getString("multiple_unit_label"));
    return new LinePrice(
        priceId,
        row.getString("entity_type"),
        WireName.parse(BillingMode.class, row.getString("billing_mode")),
        Json.readMap(row.getString("rules")),
        WireName.parse(PriceType.class, row.getString("price_type")),
        billable);
  }
}
