package io.steelyard.integrity;

import io.steelyard.domain.IdKind;
import io.steelyard.integrity.IntegrityMessages.Check;
import io.vertx.core.Future;
import java.util.List;

/** What blocks hold, what their ledger says, and what usage has drawn from them. */
final class LedgerStore {
  private static final String COUNT =
      """
      SELECT count(*) FROM customer c
        JOIN allocation_block b ON b.merchant_id = $1 AND b.customer_id = c.id
       WHERE c.merchant_id = $1
      """;

  private static final String REMAINDERS =
      """
      SELECT b.id AS subject,
             format('remaining is %s, its ledger adds up to %s',
                    trim_scale(b.remaining), trim_scale(l.sum)) AS detail,
             count(*) OVER () AS faults
        FROM customer c
        JOIN allocation_block b ON b.merchant_id = $1 AND b.customer_id = c.id
       CROSS JOIN LATERAL (
         SELECT coalesce(sum(t.amount), 0) AS sum FROM credit_transaction t
          WHERE t.merchant_id = $1 AND t.allocation_block_id = b.id) l
       WHERE c.merchant_id = $1 AND b.remaining <> l.sum
       ORDER BY b.id LIMIT $2
      """;

  private static final String USES =
      """
      SELECT u.subscription_id AS subject,
             format('period %s, price "%s": drawn is %s, its draws add up to %s',
                    u.period_index, p.name, trim_scale(u.drawn), trim_scale(d.sum)) AS detail,
             count(*) OVER () AS faults
        FROM subscription s
        JOIN credit_usage u ON u.merchant_id = $1 AND u.subscription_id = s.id
        JOIN price p ON p.merchant_id = $1 AND p.id = u.price_id
       CROSS JOIN LATERAL (
         SELECT coalesce(sum(d.drawn), 0) AS sum FROM credit_draw d
          WHERE d.merchant_id = $1 AND d.subscription_id = u.subscription_id
            AND d.period_index = u.period_index AND d.price_id = u.price_id) d
       WHERE s.merchant_id = $1 AND u.drawn <> d.sum
       ORDER BY u.subscription_id, u.period_index LIMIT $2
      """;

  // A void invoice gives nothing back to a block that has expired: its ledger keeps the use then.
  private static final String DRAWS =
      """
      WITH drawn AS (
        SELECT d.allocation_block_id, sum(d.drawn) AS sum
          FROM subscription s
          JOIN credit_draw d ON d.merchant_id = $1 AND d.subscription_id = s.id
         WHERE s.merchant_id = $1
         GROUP BY d.allocation_block_id
      )
      SELECT b.id AS subject,
             format('its ledger shows %s of usage, draws add up to %s',
                    trim_scale(l.sum), trim_scale(coalesce(d.sum, 0))) AS detail,
             count(*) OVER () AS faults
        FROM customer c
        JOIN allocation_block b ON b.merchant_id = $1 AND b.customer_id = c.id
        JOIN merchant m ON m.id = $1
        LEFT JOIN drawn d ON d.allocation_block_id = b.id
       CROSS JOIN LATERAL (
         SELECT coalesce(-sum(t.amount), 0) AS sum FROM credit_transaction t
          WHERE t.merchant_id = $1 AND t.allocation_block_id = b.id
            AND t.type IN ('usage', 'reversal')) l
       WHERE c.merchant_id = $1 AND l.sum <> coalesce(d.sum, 0)
         AND NOT (b.expires_at <= coalesce(m.clock_now, now()) AND l.sum > coalesce(d.sum, 0))
       ORDER BY b.id LIMIT $2
      """;

  private static final List<Rule> RULES =
      List.of(
          new Rule(Check.LEDGER, IdKind.ALLOCATION_BLOCK, REMAINDERS),
          new Rule(Check.LEDGER, IdKind.SUBSCRIPTION, USES),
          new Rule(Check.LEDGER, IdKind.ALLOCATION_BLOCK, DRAWS));

  Future<Void> check(Inspection inspection) {
    return Rule.count(inspection, Check.LEDGER, COUNT)
        .compose(counted -> Rule.checkAll(inspection, RULES));
  }
}
