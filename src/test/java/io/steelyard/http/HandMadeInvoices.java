package io.steelyard.http;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import java.time.Instant;
import java.util.UUID;

/**
 * Closes periods and writes invoices as the clockwork would, for a merchant whose clock stands
 * still, so that a test decides what happens between two boundaries.
 */
record HandMadeInvoices(TestApp app, UUID subscription) {
  private static final String OPEN =
      """
      INSERT INTO subscription_period (merchant_id, subscription_id, period_index, customer_id,
        plan_id, period_start, period_end, is_trial, opened_at, ready_until)
      SELECT merchant_id, id, %2$d, customer_id, plan_id, '%3$s', '%4$s', false, now(), '%3$s'
      FROM subscription WHERE id = '%1$s';
      UPDATE subscription SET period_index = %2$d, due_at = '%4$s' WHERE id = '%1$s'
      """;

  private static final String INVOICE =
      """
      INSERT INTO invoice (id, merchant_id, customer_id, subscription_id, boundary_index,
        boundary_at, status, vanity_id, currency, total, net_terms, auto_sync_invoice,
        auto_send_invoice, auto_charge_invoice, created_at, updated_at)
      SELECT '%s', merchant_id, customer_id, id, %d, now(), 'pending',
             (SELECT max(vanity_id) + 1 FROM invoice i WHERE i.merchant_id = s.merchant_id), 'USD',
             0, 'net30', false, false, false, now(), now()
      FROM subscription s WHERE id = '%s'
      """;

  // The quantity by the counters, as the invoice run computes it.
  private static final String LINES =
      """
      INSERT INTO invoice_line_item (id, merchant_id, invoice_id, position, price_id, description,
        quantity, unit_price, exact_amount, amount, start_date, end_date, created_at, updated_at,
        kind, period_index)
      SELECT gen_random_uuid(), p.merchant_id, '%s', r.position, r.id, r.name,
             coalesce(CASE v.rules ->> 'calculation'
               WHEN 'sum' THEN c.sum WHEN 'count' THEN c.events WHEN 'max' THEN c.max
               WHEN 'min' THEN c.min WHEN 'average' THEN c.sum / nullif(c.events, 0)
               WHEN 'uniqueCount' THEN c.uniques WHEN 'latest' THEN c.latest END, 0),
             0, 0, 0, p.period_start, p.period_end, now(), now(), '%s', p.period_index
      FROM subscription_period p
      JOIN price r ON r.plan_id = p.plan_id AND NOT r.is_base AND r.billing_mode = 'arrears'
      JOIN billable_rules v
        ON v.billable_id = r.billable_id AND v.active_from <= p.opened_at
       AND (v.active_until IS NULL OR p.opened_at < v.active_until)
      LEFT JOIN usage_counter c
        ON c.subscription_id = p.subscription_id AND c.period_index = p.period_index
       AND c.billable_id = r.billable_id
      WHERE p.subscription_id = '%s' AND p.period_index = %d
      """;

  static HandMadeInvoices of(TestApp app, String subscriptionId) {
    return new HandMadeInvoices(
        app, Id.parse(IdKind.SUBSCRIPTION, subscriptionId).orElseThrow().uuid());
  }

  /** Opens the next period, which closes those before it. */
  void open(int period, Instant start, Instant end) {
    PostgresSupport.execute(app.database(), OPEN.formatted(subscription, period, start, end));
  }

  /** The id of an invoice with the usage lines of a period. */
  String invoice(int boundary, String kind, int period) {
    Id id = new Id(IdKind.INVOICE, UUID.randomUUID());
    PostgresSupport.execute(
        app.database(),
        INVOICE.formatted(id.uuid(), boundary, subscription),
        LINES.formatted(id.uuid(), kind, subscription, period));
    return id.toString();
  }
}
