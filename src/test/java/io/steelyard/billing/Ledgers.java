package io.steelyard.billing;

import io.steelyard.db.Endpoint;
import io.steelyard.support.Tables;
import java.util.List;

/**
 * What a billing run has come to, without what differs from run to run: ids, numbers, and the
 * system's time.
 */
record Ledgers(List<String> invoices, List<String> units, List<String> subscriptions) {
  private static final String INVOICES =
      """
      SELECT format('%s/%s %s %s at %s issued %s due %s created %s: %s', i.subscription_id,
                    i.boundary_index, i.status, i.total, i.boundary_at, i.issue_date, i.due_date,
                    i.created_at,
                    (SELECT string_agg(format('%s %s %s %s x %s = %s ~ %s %s..%s', l.kind,
                                              l.period_index, l.price_id, l.quantity, l.unit_price,
                                              l.exact_amount, l.amount, l.start_date, l.end_date),
                                       ', ' ORDER BY l.position)
                       FROM invoice_line_item l WHERE l.invoice_id = i.id)) AS text
        FROM invoice i
       ORDER BY text
      """;

  private static final String UNITS =
      """
      SELECT format('%s %s %s %s..%s %s of %s: %s', b.customer_id, b.subscription_id, b.origin,
                    b.effective_at, b.expires_at, b.remaining, b.amount,
                    (SELECT string_agg(format('%s %s', t.type, t.amount), ', '
                                       ORDER BY t.type, t.amount, t.event_key)
                       FROM credit_transaction t WHERE t.allocation_block_id = b.id)) AS text
        FROM allocation_block b
       ORDER BY text
      """;

  private static final String SUBSCRIPTIONS =
      """
      SELECT format('%s %s %s due %s parked %s: %s', s.id, s.status, s.period_index, s.due_at,
                    s.parked_at,
                    (SELECT string_agg(format('%s %s..%s', p.period_index, p.period_start,
                                              p.period_end), ', ' ORDER BY p.period_index)
                       FROM subscription_period p WHERE p.subscription_id = s.id)) AS text
        FROM subscription s
       ORDER BY text
      """;

  static Ledgers of(Endpoint database) {
    return new Ledgers(
        Tables.query(database, INVOICES),
        Tables.query(database, UNITS),
        Tables.query(database, SUBSCRIPTIONS));
  }
}
