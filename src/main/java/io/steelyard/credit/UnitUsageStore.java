package io.steelyard.credit;

import io.steelyard.credit.CreditMessages.NextExpiring;
import io.steelyard.db.Sql;
import io.steelyard.domain.Id;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.UUID;

/** What a customer's units of one kind come to in the current billing period. */
public final class UnitUsageStore {
  /**
   * The blocks that could be drawn from at some time of the current period, with what counts as
   * used of them in it: of a block that came in the period all draws, of an older one those for
   * usage of periods that had not ended when it began. With several subscriptions the current
   * period is the one that ends first; with none, the blocks valid now and all their draws count.
   */
  private static final String UNIT_USAGE =
      """
      WITH current_period AS (
        SELECT p.period_start
          FROM subscription_period p
          JOIN subscription s ON s.merchant_id = p.merchant_id AND s.id = p.subscription_id
         WHERE p.merchant_id = $1 AND p.customer_id = $2
           AND p.period_start <= $4 AND p.period_end > $4 AND s.status = 'active'
         ORDER BY p.period_end LIMIT 1
      ), since AS (
        SELECT coalesce(min(period_start), $4) AS usable,
               coalesce(min(period_start), '-infinity') AS used
          FROM current_period
      )
      SELECT b.expires_at,
             CASE WHEN b.expires_at <= $4 THEN 0 ELSE b.remaining END AS remaining,
             (SELECT coalesce(sum(d.drawn), 0)
                FROM credit_draw d
                JOIN subscription_period p
                  ON p.merchant_id = $1 AND p.subscription_id = d.subscription_id
                 AND p.period_index = d.period_index
               WHERE d.merchant_id = $1 AND d.allocation_block_id = b.id
                 AND (b.effective_at >= since.used OR p.period_end > since.used)) AS used
        FROM allocation_block b, since
       WHERE b.merchant_id = $1 AND b.customer_id = $2 AND b.custom_pricing_unit_id = $3
         AND b.effective_at <= $4 AND (b.expires_at IS NULL OR b.expires_at > since.usable)
       ORDER BY b.expires_at NULLS LAST
      """;

  /**
   * @param used in the current period
   * @param remaining of the blocks valid now
   * @param nextExpiring null when nothing that remains expires
   */
  public record UnitUsage(BigDecimal used, BigDecimal remaining, NextExpiring nextExpiring) {
    /** All that could be used in the period, but what has lapsed unused. */
    public BigDecimal allocated() {
      return remaining.add(used);
    }
  }

  public Future<UnitUsage> unitUsage(
      SqlClient client, UUID merchantId, Id customerId, Id unitId, Instant now) {
    return client
        .preparedQuery(UNIT_USAGE)
        .execute(Tuple.of(merchantId, customerId.uuid(), unitId.uuid(), Sql.time(now)))
        .map(UnitUsageStore::sum);
  }

  private static UnitUsage sum(RowSet<Row> blocks) {
    BigDecimal used = BigDecimal.ZERO;
    BigDecimal remaining = BigDecimal.ZERO;
    NextExpiring next = null;
    for (Row block : blocks) {
      BigDecimal left = block.getBigDecimal("remaining");
      used = used.add(block.getBigDecimal("used"));
      remaining = remaining.add(left);
      next = earlier(next, left, Sql.instant(block, "expires_at"));
    }
    return new UnitUsage(used, remaining, next);
  }

  /** Rows come by expiry: the first that holds anything is next, with those of the same instant. */
  private static NextExpiring earlier(NextExpiring next, BigDecimal left, Instant expiresAt) {
    if (expiresAt == null || left.signum() == 0) {
      return next;
    }
    if (next == null) {
      return new NextExpiring(left, expiresAt);
    }
    return next.expiration().equals(expiresAt)
        ? new NextExpiring(next.amountRemaining().add(left), expiresAt)
        : next;
  }
}
