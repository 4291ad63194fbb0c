package io.steelyard.bench;

import io.steelyard.db.Ids;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Inserts the rows that the service would, in sets, without the service: to prepare many customers
 * in little time, and to know what PostgreSQL alone takes for them.
 */
final class Rows {
  private static final String CUSTOMERS =
      """
      INSERT INTO customer (id, merchant_id, external_id, name, had_trial, created_at, updated_at)
      SELECT t.id, ?, 'bare-' || t.id, 'Customer', false, ?, ? FROM unnest(?::uuid[]) AS t(id)
      """;

  private static final String SUBSCRIPTIONS =
      """
      INSERT INTO subscription (id, merchant_id, customer_id, plan_id, status, start_date,
          billing_cadence, currency, net_terms, allow_customer_changes, auto_charge_invoice,
          auto_sync_invoice, auto_send_invoice, is_trial, created_at, updated_at, due_at,
          period_index)
      SELECT t.id, ?, t.customer_id, ?, 'active', ?, 'monthly', 'USD', 'net30', true, false, false,
             false, false, ?, ?, ?, 0
        FROM unnest(?::uuid[], ?::uuid[]) AS t(id, customer_id)
      """;

  private static final String PERIODS =
      """
      INSERT INTO subscription_period (merchant_id, subscription_id, period_index, customer_id,
          plan_id, period_start, period_end, is_trial, opened_at, ready_until)
      SELECT ?, t.subscription_id, ?, t.customer_id, ?, ?, ?, false, now(), ?
        FROM unnest(?::uuid[], ?::uuid[]) AS t(subscription_id, customer_id)
      """;

  private static final String ACCESS =
      """
      INSERT INTO billable_access (id, merchant_id, customer_id, subscription_id, billable_id,
          access, invalidated, start_date, created_at, updated_at)
      SELECT uuidv7(), ?, t.customer_id, t.subscription_id, b.id, true, false, ?, ?, ?
        FROM unnest(?::uuid[], ?::uuid[]) AS t(subscription_id, customer_id)
       CROSS JOIN unnest(?::uuid[]) AS b(id)
      """;

  /** 500 requests and 3,000 tokens. */
  private static final String COUNTERS =
      """
      INSERT INTO usage_counter (merchant_id, subscription_id, period_index, billable_id, events,
          sum, min, max, latest, latest_at, latest_key, uniques, updated_at)
      SELECT ?, t.subscription_id, 0, b.id, 10, b.sum, 1, b.sum, 1, ?, uuidv7(), 0, ?
        FROM unnest(?::uuid[]) AS t(subscription_id)
       CROSS JOIN unnest(?::uuid[], ARRAY[500, 3000]) AS b(id, sum)
      """;

  private static final String NUMBERS =
      "UPDATE invoice_number SET last = last + ? WHERE merchant_id = ? RETURNING last";

  private static final String INVOICES =
      """
      INSERT INTO invoice (id, merchant_id, customer_id, subscription_id, boundary_index,
          boundary_at, status, vanity_id, currency, total, due_date, issue_date, pending_date,
          net_terms, auto_sync_invoice, auto_send_invoice, auto_charge_invoice, created_at,
          updated_at)
      SELECT t.id, ?, t.customer_id, t.subscription_id, ?, ?, 'test', ? + t.n, 'USD', 29, ?, ?, ?,
             'net30', false, false, false, ?, ?
        FROM unnest(?::uuid[], ?::uuid[], ?::uuid[]) WITH ORDINALITY
          AS t(id, subscription_id, customer_id, n)
      """;

  private static final String LINES =
      """
      INSERT INTO invoice_line_item (id, merchant_id, invoice_id, position, kind, period_index,
          price_id, description, quantity, unit_price, exact_amount, amount, start_date, end_date,
          created_at, updated_at)
      SELECT uuidv7(), ?, t.id, p.n, 'arrears', ?, p.id, 'A description of a line', 3000, 0.002,
             4.000, 4.00, ?, ?, ?, ?
        FROM unnest(?::uuid[]) AS t(id)
       CROSS JOIN unnest(?::uuid[]) WITH ORDINALITY AS p(id, n)
      """;

  private static final String BLOCKS =
      """
      INSERT INTO allocation_block (id, merchant_id, customer_id, custom_pricing_unit_id,
          subscription_id, period_index, invoice_id, amount, remaining, effective_at, expires_at,
          created_at, origin)
      SELECT t.id, ?, t.customer_id, ?, t.subscription_id, 0, t.invoice_id, 1000, 1000, ?, ?, ?,
             'plan'
        FROM unnest(?::uuid[], ?::uuid[], ?::uuid[], ?::uuid[])
          AS t(id, subscription_id, customer_id, invoice_id)
      """;

  private static final String LEDGER =
      """
      INSERT INTO credit_transaction (id, merchant_id, customer_id, allocation_block_id, type,
          amount, operation_id, created_at)
      SELECT uuidv7(), ?, t.customer_id, t.id, 'planAllocation', 1000, gen_random_uuid(), ?
        FROM unnest(?::uuid[], ?::uuid[]) AS t(id, customer_id)
      """;

  private static final String PROGRESS =
      """
      UPDATE subscription SET period_index = 1, due_at = ?, updated_at = ?
       WHERE merchant_id = ? AND id = ANY (?::uuid[])
      """;

  private final Connection connection;
  private final Seller seller;

  /** A merchant, what it sells, and the first two months of all its subscriptions. */
  record Seller(
      UUID merchant,
      UUID plan,
      List<UUID> prices,
      List<UUID> billables,
      UUID unit,
      OffsetDateTime start,
      OffsetDateTime end,
      OffsetDateTime nextEnd) {

    static Seller of(Connection connection, UUID merchant, OffsetDateTime start)
        throws SQLException {
      String unit =
          Sql.text(
              connection, "SELECT id FROM custom_pricing_unit WHERE merchant_id = ?", merchant);
      return new Seller(
          merchant,
          ids(connection, "SELECT id FROM plan WHERE merchant_id = ?", merchant).getFirst(),
          ids(
              connection,
              "SELECT id FROM price WHERE merchant_id = ? ORDER BY is_base DESC, position",
              merchant),
          ids(connection, "SELECT id FROM billable WHERE merchant_id = ? ORDER BY slug", merchant),
          unit == null ? null : UUID.fromString(unit),
          start,
          start.plusMonths(1),
          start.plusMonths(2));
    }

    private static List<UUID> ids(Connection connection, String sql, UUID merchant)
        throws SQLException {
      List<UUID> ids = new ArrayList<>();
      String all =
          Sql.text(connection, "SELECT string_agg(id::text, ',') FROM (" + sql + ") t", merchant);
      for (String id : all.split(",")) {
        ids.add(UUID.fromString(id));
      }
      return ids;
    }
  }

  /** The same number of each. */
  record Made(List<UUID> customers, List<UUID> subscriptions) {}

  Rows(Connection connection, Seller seller) {
    this.connection = connection;
    this.seller = seller;
  }

  /** Customers with an active subscription and its open first period. */
  Made subscribe(int count) throws SQLException {
    return subscriptions(customers(count));
  }

  List<UUID> customers(int count) throws SQLException {
    List<UUID> ids = ids(count);
    update(CUSTOMERS, seller.merchant(), seller.start(), seller.start(), array(ids));
    return ids;
  }

  /** An active subscription of each customer, with its open first period. */
  Made subscriptions(List<UUID> of) throws SQLException {
    Made made = new Made(of, ids(of.size()));
    OffsetDateTime at = seller.start();
    UUID merchant = seller.merchant();
    Array customers = array(made.customers());
    Array subscriptions = array(made.subscriptions());
    update(
        SUBSCRIPTIONS, merchant, seller.plan(), at, at, at, seller.end(), subscriptions, customers);
    period(made, 0, at, seller.end());
    update(ACCESS, merchant, at, at, at, subscriptions, customers, array(seller.billables()));
    return made;
  }

  void count(Made made) throws SQLException {
    OffsetDateTime at = seller.start();
    update(
        COUNTERS,
        seller.merchant(),
        at,
        at,
        array(made.subscriptions()),
        array(seller.billables()));
  }

  /** The first invoice with one line, and the units, of new subscriptions. */
  void begin(Made made) throws SQLException {
    OffsetDateTime at = seller.start();
    List<UUID> invoices = firstInvoices(made);
    List<UUID> blocks = ids(invoices.size());
    update(
        BLOCKS,
        seller.merchant(),
        seller.unit(),
        at,
        seller.end(),
        at,
        array(blocks),
        array(made.subscriptions()),
        array(made.customers()),
        array(invoices));
    update(LEDGER, seller.merchant(), at, array(blocks), array(made.customers()));
  }

  /** The first invoice, with one line. */
  List<UUID> firstInvoices(Made made) throws SQLException {
    return invoices(made, 0, seller.start(), seller.prices().subList(0, 1));
  }

  /** What passing the first boundary writes. */
  void pass(Made made) throws SQLException {
    period(made, 1, seller.end(), seller.nextEnd());
    invoices(made, 1, seller.end(), seller.prices());
    update(
        PROGRESS, seller.nextEnd(), seller.end(), seller.merchant(), array(made.subscriptions()));
  }

  private void period(Made made, int index, OffsetDateTime start, OffsetDateTime end)
      throws SQLException {
    update(
        PERIODS,
        seller.merchant(),
        index,
        seller.plan(),
        start,
        end,
        end,
        array(made.subscriptions()),
        array(made.customers()));
  }

  private List<UUID> invoices(Made made, int index, OffsetDateTime at, List<UUID> prices)
      throws SQLException {
    int count = made.customers().size();
    UUID merchant = seller.merchant();
    List<UUID> ids = ids(count);
    long before = Sql.number(connection, NUMBERS, (long) count, merchant) - count;
    update(
        INVOICES,
        merchant,
        index,
        at,
        before,
        at,
        at,
        at,
        at,
        at,
        array(ids),
        array(made.subscriptions()),
        array(made.customers()));
    update(LINES, merchant, index, at, seller.nextEnd(), at, at, array(ids), array(prices));
    return ids;
  }

  private static List<UUID> ids(int count) {
    List<UUID> ids = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      ids.add(Ids.nextUuid());
    }
    return ids;
  }

  private Array array(List<UUID> ids) throws SQLException {
    return connection.createArrayOf("uuid", ids.toArray());
  }

  private void update(String sql, Object... parameters) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < parameters.length; i++) {
        statement.setObject(i + 1, parameters[i]);
      }
      statement.executeUpdate();
    }
  }
}
