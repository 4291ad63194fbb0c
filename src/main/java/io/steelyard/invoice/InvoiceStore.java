package io.steelyard.invoice;

import io.steelyard.db.Ids;
import io.steelyard.db.Sql;
import io.steelyard.domain.BillingMode;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.InvoiceLine;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.domain.NetTerms;
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
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** Invoices and their lines. */
public final class InvoiceStore {
  /**
   * Takes the merchant's next numbers. Its row stays locked until the transaction ends, which is
   * what keeps the numbers gapless: take them late.
   */
  private static final String NEXT_NUMBERS =
      "UPDATE invoice_number SET last = last + $2 WHERE merchant_id = $1 RETURNING last";

  private static final String INSERT_INVOICES =
      """
      INSERT INTO invoice (id, merchant_id, customer_id, subscription_id, boundary_index, status,
          vanity_id, currency, total, due_date, issue_date, pending_date, net_terms,
          auto_sync_invoice, auto_send_invoice, auto_charge_invoice, payment_gateway, created_at,
          updated_at)
      SELECT id, $1, customer_id, subscription_id, boundary_index, status, vanity_id, currency,
             total, due_date, issue_date, issue_date, net_terms, auto_sync, auto_send, auto_charge,
             payment_gateway, $15, $15
        FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::int[], $6::text[], $7::bigint[],
                    $8::text[], $9::numeric[], $10::timestamptz[], $11::timestamptz[], $12::text[],
                    $13::boolean[], $14::boolean[], $16::boolean[], $17::text[])
          AS t(id, customer_id, subscription_id, boundary_index, status, vanity_id, currency, total,
               due_date, issue_date, net_terms, auto_sync, auto_send, auto_charge, payment_gateway)
      """;

  private static final String INSERT_LINES =
      """
      INSERT INTO invoice_line_item (id, merchant_id, invoice_id, position, price_id, description,
          quantity, unit_price, exact_amount, amount, start_date, end_date, created_at, updated_at)
      SELECT id, $1, invoice_id, position, price_id, description, quantity, unit_price,
             exact_amount, amount, start_date, end_date, $13, $13
        FROM unnest($2::uuid[], $3::uuid[], $4::int[], $5::uuid[], $6::text[], $7::numeric[],
                    $8::numeric[], $9::numeric[], $10::numeric[], $11::timestamptz[],
                    $12::timestamptz[])
          AS t(id, invoice_id, position, price_id, description, quantity, unit_price, exact_amount,
               amount, start_date, end_date)
      """;

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

  private static final String FILTERED =
      """
       FROM invoice
      WHERE merchant_id = $1
        AND ($2::uuid IS NULL OR customer_id = $2)
        AND ($3::uuid IS NULL OR subscription_id = $3)
        AND ($4::text IS NULL OR status = $4)
      """;

  private static final String COUNT = "SELECT count(*)" + FILTERED;

  private static final Map<String, String> ORDER_COLUMNS =
      Map.of(
          "createdAt", "created_at",
          "dueDate", "due_date",
          "id", "id",
          "issueDate", "issue_date",
          "status", "status",
          "updatedAt", "updated_at",
          "vanityId", "vanity_id");

  /**
   * An invoice to be, without its number.
   *
   * @param boundaryIndex the index of the period whose start it is made at
   */
  public record NewInvoice(
      Id id,
      Id customerId,
      Id subscriptionId,
      int boundaryIndex,
      InvoiceStatus status,
      String currency,
      BigDecimal total,
      Instant dueDate,
      Instant issueDate,
      NetTerms netTerms,
      boolean autoSync,
      boolean autoSend,
      boolean autoCharge,
      PaymentGateway paymentGateway,
      List<InvoiceLine> lines) {
    public NewInvoice {
      lines = List.copyOf(lines);
    }
  }

  /** Numbers and inserts invoices with their lines, in the order given. */
  public Future<Void> insert(
      SqlClient transaction, UUID merchantId, List<NewInvoice> invoices, Instant now) {
    if (invoices.isEmpty()) {
      return Future.succeededFuture();
    }
    return transaction
        .preparedQuery(NEXT_NUMBERS)
        .execute(Tuple.of(merchantId, (long) invoices.size()))
        .compose(
            rows -> {
              long first = rows.iterator().next().getLong("last") - invoices.size() + 1;
              return insertHeads(transaction, merchantId, invoices, first, now);
            })
        .compose(done -> insertLines(transaction, merchantId, invoices, now));
  }

  private static Future<Void> insertHeads(
      SqlClient tx, UUID merchantId, List<NewInvoice> list, long firstNumber, Instant now) {
    Long[] numbers = new Long[list.size()];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = firstNumber + i;
    }
    Tuple parameters = Tuple.tuple();
    parameters
        .addValue(merchantId)
        .addValue(list.stream().map(i -> i.id().uuid()).toArray(UUID[]::new))
        .addValue(list.stream().map(i -> i.customerId().uuid()).toArray(UUID[]::new))
        .addValue(list.stream().map(i -> i.subscriptionId().uuid()).toArray(UUID[]::new))
        .addValue(list.stream().map(NewInvoice::boundaryIndex).toArray(Integer[]::new))
        .addValue(list.stream().map(i -> i.status().wire()).toArray(String[]::new))
        .addValue(numbers)
        .addValue(list.stream().map(NewInvoice::currency).toArray(String[]::new))
        .addValue(list.stream().map(NewInvoice::total).toArray(BigDecimal[]::new))
        .addValue(list.stream().map(i -> Sql.time(i.dueDate())).toArray(OffsetDateTime[]::new))
        .addValue(list.stream().map(i -> Sql.time(i.issueDate())).toArray(OffsetDateTime[]::new))
        .addValue(list.stream().map(i -> i.netTerms().wire()).toArray(String[]::new))
        .addValue(list.stream().map(NewInvoice::autoSync).toArray(Boolean[]::new))
        .addValue(list.stream().map(NewInvoice::autoSend).toArray(Boolean[]::new))
        .addValue(Sql.time(now))
        .addValue(list.stream().map(NewInvoice::autoCharge).toArray(Boolean[]::new))
        .addValue(list.stream().map(i -> wire(i.paymentGateway())).toArray(String[]::new));
    return tx.preparedQuery(INSERT_INVOICES).execute(parameters).mapEmpty();
  }

  private static Future<Void> insertLines(
      SqlClient tx, UUID merchantId, List<NewInvoice> invoices, Instant now) {
    List<UUID> ids = new ArrayList<>();
    List<UUID> invoiceIds = new ArrayList<>();
    List<Integer> positions = new ArrayList<>();
    List<InvoiceLine> lines = new ArrayList<>();
    for (NewInvoice invoice : invoices) {
      int position = 0;
      for (InvoiceLine line : invoice.lines()) {
        ids.add(Ids.nextUuid());
        invoiceIds.add(invoice.id().uuid());
        positions.add(position++);
        lines.add(line);
      }
    }
    if (lines.isEmpty()) {
      return Future.succeededFuture();
    }
    Tuple parameters = Tuple.tuple();
    parameters
        .addValue(merchantId)
        .addValue(ids.toArray(UUID[]::new))
        .addValue(invoiceIds.toArray(UUID[]::new))
        .addValue(positions.toArray(Integer[]::new))
        .addValue(lines.stream().map(l -> l.price().id().uuid()).toArray(UUID[]::new))
        .addValue(lines.stream().map(InvoiceLine::description).toArray(String[]::new))
        .addValue(lines.stream().map(InvoiceLine::quantity).toArray(BigDecimal[]::new))
        .addValue(lines.stream().map(InvoiceLine::unitPrice).toArray(BigDecimal[]::new))
        .addValue(lines.stream().map(InvoiceLine::exactAmount).toArray(BigDecimal[]::new))
        .addValue(lines.stream().map(InvoiceLine::amount).toArray(BigDecimal[]::new))
        .addValue(lines.stream().map(l -> Sql.time(l.start())).toArray(OffsetDateTime[]::new))
        .addValue(lines.stream().map(l -> Sql.time(l.end())).toArray(OffsetDateTime[]::new))
        .addValue(Sql.time(now));
    return tx.preparedQuery(INSERT_LINES).execute(parameters).mapEmpty();
  }

  /** An invoice with its lines, as the external API shows it. */
  public Future<Optional<InvoiceView>> findWithLines(
      SqlClient client, UUID merchantId, UUID invoiceId) {
    Tuple parameters = Tuple.of(merchantId, invoiceId);
    return client
        .preparedQuery(FIND)
        .execute(parameters)
        .compose(
            rows ->
                rows.size() == 0
                    ? Future.succeededFuture(Optional.empty())
                    : client
                        .preparedQuery(LINES)
                        .execute(parameters)
                        .map(
                            lines ->
                                Optional.of(
                                    view(
                                        rows.iterator().next(),
                                        merchantId,
                                        null,
                                        lines(lines, merchantId, invoiceId)))));
  }

  public Future<Long> count(SqlClient client, UUID merchantId, Filter filter) {
    return client
        .preparedQuery(COUNT)
        .execute(
            Tuple.of(merchantId, filter.customerId(), filter.subscriptionId(), filter.status()))
        .map(rows -> rows.iterator().next().getLong(0));
  }

  /** A page of invoices with their totals and without lines. */
  public Future<List<InvoiceView>> page(
      SqlClient client, UUID merchantId, Filter filter, Paging paging) {
    String direction = paging.ascending() ? " ASC" : " DESC";
    String sql =
        "SELECT "
            + COLUMNS
            + FILTERED
            + " ORDER BY "
            + ORDER_COLUMNS.get(paging.orderBy())
            + direction
            + ", id"
            + direction
            + " LIMIT $5 OFFSET $6";
    return client
        .preparedQuery(sql)
        .execute(
            Tuple.of(
                merchantId,
                filter.customerId(),
                filter.subscriptionId(),
                filter.status(),
                paging.pageSize(),
                paging.offset()))
        .map(
            rows -> {
              List<InvoiceView> page = new ArrayList<>(rows.size());
              for (Row row : rows) {
                page.add(view(row, merchantId, row.getBigDecimal("total"), null));
              }
              return page;
            });
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

  private static LinePrice price(Row row, Id priceId) {
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

  private static String wire(WireName value) {
    return value == null ? null : value.wire();
  }
}
