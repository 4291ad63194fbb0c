package io.steelyard.billing;

import io.steelyard.support.Tables;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What a billing run has come to, without what differs from run to run: ids, numbers, and the
 * system's time.
 */
record Ledgers(List<String> invoices, List<String> units, List<String> subscriptions) {
  private static final int SHOWN_MAX = 5;

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
       WHERE i.merchant_id = ':merchant'
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
       WHERE b.merchant_id = ':merchant'
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
       WHERE s.merchant_id = ':merchant'
       ORDER BY text
      """;

  /** Of the crowd's merchant. */
  static Ledgers of(Crowd crowd) {
    return new Ledgers(rows(crowd, INVOICES), rows(crowd, UNITS), rows(crowd, SUBSCRIPTIONS));
  }

  private static List<String> rows(Crowd crowd, String sql) {
    return Tables.query(
        crowd.database(), sql.replace(":merchant", crowd.merchantUuid().toString()));
  }

  /** What is in these and not in {@code expected}, and the other way round; no row is twice. */
  List<String> differences(Ledgers expected) {
    return Stream.of(
            differences(subscriptions, expected.subscriptions),
            differences(invoices, expected.invoices),
            differences(units, expected.units))
        .flatMap(each -> each)
        .toList();
  }

  private static Stream<String> differences(List<String> actual, List<String> expected) {
    Set<String> extra = new HashSet<>(actual);
    Set<String> missing = new HashSet<>(expected);
    expected.forEach(extra::remove);
    actual.forEach(missing::remove);
    String counts =
        actual.size() == expected.size() && extra.isEmpty() && missing.isEmpty()
            ? null
            : "%d where %d were expected: %d others, %d missing"
                .formatted(actual.size(), expected.size(), extra.size(), missing.size());
    return Stream.of(Stream.ofNullable(counts), shown(extra, "+ "), shown(missing, "- "))
        .flatMap(each -> each);
  }

  private static Stream<String> shown(Set<String> some, String sign) {
    return some.stream().sorted().limit(SHOWN_MAX).map(sign::concat);
  }
}
