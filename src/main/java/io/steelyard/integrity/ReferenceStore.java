package io.steelyard.integrity;

import io.steelyard.domain.IdKind;
import io.steelyard.integrity.IntegrityMessages.Check;
import io.vertx.core.Future;
import java.util.List;

/**
 * Whether what rows name is there, and of the same merchant and customer as they are. No foreign
 * key says so but the one to the row that each hangs on, and that looks at no merchant.
 */
final class ReferenceStore {
  private static final String COUNT =
      """
      SELECT (SELECT count(*) FROM subscription WHERE merchant_id = $1)
           + (SELECT count(*) FROM invoice WHERE merchant_id = $1)
      """;

  // Subscriptions and invoices are looked for by the merchant they name, all else by the row that
  // it hangs on: so each has an index, and what is of two merchants is found by one of them.
  private static final String SUBSCRIPTIONS =
      """
      SELECT s.id AS subject,
             'names what is not its own: ' || concat_ws(', ',
               CASE WHEN c.id IS NULL THEN 'customer ' || s.customer_id END,
               CASE WHEN p.id IS NULL THEN 'plan ' || s.plan_id END) AS detail,
             count(*) OVER () AS faults
        FROM subscription s
        LEFT JOIN customer c ON c.merchant_id = $1 AND c.id = s.customer_id
        LEFT JOIN plan p ON p.merchant_id = $1 AND p.id = s.plan_id
       WHERE s.merchant_id = $1 AND (c.id IS NULL OR p.id IS NULL)
       ORDER BY s.id LIMIT $2
      """;

  private static final String PERIODS =
      """
      SELECT s.id AS subject,
             format('period %s names what is not its own: ', p.period_index) || concat_ws(', ',
               CASE WHEN p.merchant_id <> $1 THEN 'merchant ' || p.merchant_id END,
               CASE WHEN p.customer_id <> s.customer_id THEN 'customer ' || p.customer_id END,
               CASE WHEN p.plan_id <> s.plan_id THEN 'plan ' || p.plan_id END) AS detail,
             count(*) OVER () AS faults
        FROM subscription s
        JOIN subscription_period p ON p.subscription_id = s.id
       WHERE s.merchant_id = $1
         AND (p.merchant_id <> $1 OR p.customer_id <> s.customer_id OR p.plan_id <> s.plan_id)
       ORDER BY s.id, p.period_index LIMIT $2
      """;

  private static final String ACCESS =
      """
      SELECT a.id AS subject,
             'names what is not its own: ' || concat_ws(', ',
               CASE WHEN a.merchant_id <> $1 THEN 'merchant ' || a.merchant_id END,
               CASE WHEN a.customer_id <> s.customer_id THEN 'customer ' || a.customer_id END,
               CASE WHEN b.id IS NULL THEN 'billable ' || a.billable_id END) AS detail,
             count(*) OVER () AS faults
        FROM subscription s
        JOIN billable_access a ON a.subscription_id = s.id
        LEFT JOIN billable b ON b.merchant_id = $1 AND b.id = a.billable_id
       WHERE s.merchant_id = $1
         AND (a.merchant_id <> $1 OR a.customer_id <> s.customer_id OR b.id IS NULL)
       ORDER BY a.id LIMIT $2
      """;

  private static final String CREDIT_USES =
      """
      SELECT s.id AS subject,
             format('the units used in period %s name what is not their own: ', u.period_index)
               || concat_ws(', ',
                    CASE WHEN u.merchant_id <> $1 THEN 'merchant ' || u.merchant_id END,
                    CASE WHEN p.id IS NULL THEN 'price ' || u.price_id END) AS detail,
             count(*) OVER () AS faults
        FROM subscription s
        JOIN credit_usage u ON u.subscription_id = s.id
        LEFT JOIN price p ON p.merchant_id = $1 AND p.id = u.price_id
       WHERE s.merchant_id = $1 AND (u.merchant_id <> $1 OR p.id IS NULL)
       ORDER BY s.id, u.period_index LIMIT $2
      """;

  private static final String INVOICES =
      """
      SELECT i.id AS subject,
             'names what is not its own: ' || concat_ws(', ',
               CASE WHEN s.id IS NULL THEN 'subscription ' || i.subscription_id
                    ELSE 'customer ' || i.customer_id END) AS detail,
             count(*) OVER () AS faults
        FROM invoice i
        LEFT JOIN subscription s ON s.merchant_id = $1 AND s.id = i.subscription_id
       WHERE i.merchant_id = $1 AND (s.id IS NULL OR i.customer_id <> s.customer_id)
       ORDER BY i.id LIMIT $2
      """;

  private static final String LINES =
      """
      SELECT l.id AS subject,
             'names what is not its own: ' || concat_ws(', ',
               CASE WHEN l.merchant_id <> $1 THEN 'merchant ' || l.merchant_id END,
               CASE WHEN p.id IS NULL THEN 'price ' || l.price_id END) AS detail,
             count(*) OVER () AS faults
        FROM invoice i
        JOIN invoice_line_item l ON l.invoice_id = i.id
        LEFT JOIN price p ON p.merchant_id = $1 AND p.id = l.price_id
       WHERE i.merchant_id = $1 AND (l.merchant_id <> $1 OR p.id IS NULL)
       ORDER BY l.id LIMIT $2
      """;

  private static final String DELIVERIES =
      """
      SELECT i.id AS subject,
             format('to be delivered (%s) by merchant %s', o.action, o.merchant_id) AS detail,
             count(*) OVER () AS faults
        FROM invoice i
        JOIN outbox o ON o.invoice_id = i.id
       WHERE i.merchant_id = $1 AND o.merchant_id <> $1
       ORDER BY i.id, o.action LIMIT $2
      """;

  private static final String BLOCKS =
      """
      SELECT b.id AS subject,
             'names what is not its own: ' || concat_ws(', ',
               CASE WHEN b.merchant_id <> $1 THEN 'merchant ' || b.merchant_id END,
               CASE WHEN u.id IS NULL THEN 'unit ' || b.custom_pricing_unit_id END,
               CASE WHEN s.id IS NULL THEN 'subscription ' || b.subscription_id END,
               CASE WHEN i.id IS NULL THEN 'invoice ' || b.invoice_id END) AS detail,
             count(*) OVER () AS faults
        FROM customer c
        JOIN allocation_block b ON b.customer_id = c.id
        LEFT JOIN custom_pricing_unit u
          ON u.merchant_id = $1 AND u.id = b.custom_pricing_unit_id
        LEFT JOIN subscription s
          ON s.merchant_id = $1 AND s.id = b.subscription_id AND s.customer_id = c.id
        LEFT JOIN invoice i
          ON i.merchant_id = $1 AND i.id = b.invoice_id AND i.customer_id = c.id
       WHERE c.merchant_id = $1
         AND (b.merchant_id <> $1 OR u.id IS NULL
              OR b.subscription_id IS NOT NULL AND s.id IS NULL
              OR b.invoice_id IS NOT NULL AND i.id IS NULL)
       ORDER BY b.id LIMIT $2
      """;

  private static final String TRANSACTIONS =
      """
      SELECT t.id AS subject,
             'names what is not its own: ' || concat_ws(', ',
               CASE WHEN t.merchant_id <> $1 THEN 'merchant ' || t.merchant_id END,
               CASE WHEN t.customer_id <> c.id THEN 'customer ' || t.customer_id END,
               CASE WHEN l.id IS NULL THEN 'billable ' || t.billable_id END) AS detail,
             count(*) OVER () AS faults
        FROM customer c
        JOIN allocation_block b ON b.customer_id = c.id
        JOIN credit_transaction t ON t.allocation_block_id = b.id
        LEFT JOIN billable l ON l.merchant_id = $1 AND l.id = t.billable_id
       WHERE c.merchant_id = $1
         AND (t.merchant_id <> $1 OR t.customer_id <> c.id
              OR t.billable_id IS NOT NULL AND l.id IS NULL)
       ORDER BY t.id LIMIT $2
      """;

  private static final List<Rule> RULES =
      List.of(
          new Rule(Check.REFERENCES, IdKind.SUBSCRIPTION, SUBSCRIPTIONS),
          new Rule(Check.REFERENCES, IdKind.SUBSCRIPTION, PERIODS),
          new Rule(Check.REFERENCES, IdKind.ACCESS, ACCESS),
          new Rule(Check.REFERENCES, IdKind.SUBSCRIPTION, CREDIT_USES),
          new Rule(Check.REFERENCES, IdKind.INVOICE, INVOICES),
          new Rule(Check.REFERENCES, IdKind.LINE_ITEM, LINES),
          new Rule(Check.REFERENCES, IdKind.INVOICE, DELIVERIES),
          new Rule(Check.REFERENCES, IdKind.ALLOCATION_BLOCK, BLOCKS),
          new Rule(Check.REFERENCES, IdKind.TRANSACTION, TRANSACTIONS));

  Future<Void> check(Inspection inspection) {
    return Rule.count(inspection, Check.REFERENCES, COUNT)
        .compose(counted -> Rule.checkAll(inspection, RULES));
  }
}
