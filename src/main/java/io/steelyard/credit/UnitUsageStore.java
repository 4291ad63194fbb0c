package io.steelyard.credit;

import io.steelyard.catalog.UnitTerms;
import io.steelyard.credit.CreditMessages.NextExpiring;
import io.steelyard.db.Columns;
import io.steelyard.db.Sql;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** What a customer's units of one kind come to in the current billing period. */
public final class UnitUsageStore {
  /**
   * The blocks that could be drawn from at some time of the current period, with what counts as
   * used of them in it: of a block that came in the period all draws, of an older one those for
   * usage of periods that had not ended when it began. With several subscriptions the current
   * period is the one that ends first; with none, the blocks valid now and all their draws count.
   */
  private static final String UNIT_USAGES =
      """
      SELECT w.at, c.id AS customer_id, u.id AS unit_id,
             u.display_name, u.display_name_singular, u.short_name,
             b.expires_at,
             CASE WHEN b.expires_at <= clock.now THEN 0 ELSE b.remaining END AS remaining,
             (SELECT coalesce(sum(d.drawn), 0)
                FROM credit_draw d
                JOIN subscription_period p
                  ON p.merchant_id = w.merchant_id AND p.subscription_id = d.subscription_id
                 AND p.period_index = d.period_index
               WHERE d.merchant_id = w.merchant_id AND d.allocation_block_id = b.id
                 AND (period.period_start IS NULL OR b.effective_at >= period.period_start
                      OR p.period_end > period.period_start)) AS used
        FROM unnest($1::uuid[], $2::text[], $3::uuid[])
             WITH ORDINALITY AS w(merchant_id, external_id, unit_id, at)
        JOIN merchant m ON m.id = w.merchant_id
       CROSS JOIN LATERAL (SELECT coalesce(m.clock_now, $4)) AS clock(now)
        LEFT JOIN customer c
               ON c.merchant_id = w.merchant_id AND c.external_id = w.external_id
        LEFT JOIN custom_pricing_unit u ON u.merchant_id = w.merchant_id AND u.id = w.unit_id
        LEFT JOIN LATERAL (
               SELECT p.period_start
                 FROM subscription_period p
                 JOIN subscription s
                   ON s.merchant_id = p.merchant_id AND s.id = p.subscription_id
                WHERE p.merchant_id = w.merchant_id AND p.customer_id = c.id
                  AND p.period_start <= clock.now AND p.period_end > clock.now
                  AND s.status = 'active'
                ORDER BY p.period_end LIMIT 1) period ON true
        LEFT JOIN allocation_block b
               ON b.merchant_id = w.merchant_id AND b.customer_id = c.id
              AND b.custom_pricing_unit_id = u.id AND b.effective_at <= clock.now
              AND (b.expires_at IS NULL
                   OR b.expires_at > coalesce(period.period_start, clock.now))
       ORDER BY w.at, b.expires_at NULLS LAST
      """;

  /**
   * @param externalCustomerId of the merchant's customer
   * @param unitId null for one that nobody has
   */
  public record Wanted(UUID merchantId, String externalCustomerId, UUID unitId) {}

  /**
   * @param customer whether there is one
   * @param unit null if there is none
   * @param usage zero without either
   */
  public record Found(boolean customer, UnitTerms unit, UnitUsage usage) {}

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

  /**
   * Of any merchants, each of its own only, in the order given.
   *
   * @param systemNow for merchants whose clock was not set
   */
  public Future<List<Found>> read(SqlClient client, List<Wanted> wanted, Instant systemNow) {
    return client
        .preparedQuery(UNIT_USAGES)
        .execute(
            Columns.planned(wanted)
                .uuids(Wanted::merchantId)
                .texts(Wanted::externalCustomerId)
                .uuids(Wanted::unitId)
                .and(Sql.time(systemNow)))
        .map(rows -> found(rows, wanted.size()));
  }

  private static List<Found> found(RowSet<Row> rows, int count) {
    List<List<Row>> byOne = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      byOne.add(new ArrayList<>(1));
    }
    rows.forEach(row -> byOne.get(Math.toIntExact(row.getLong("at")) - 1).add(row));
    return byOne.stream().map(UnitUsageStore::found).toList();
  }

  /** One row at least, whose block is null if there is none. */
  private static Found found(List<Row> rows) {
    Row first = rows.getFirst();
    Id unit = Sql.id(first, "unit_id", IdKind.CUSTOM_PRICING_UNIT);
    return new Found(
        first.getUUID("customer_id") != null,
        unit == null
            ? null
            : new UnitTerms(
                unit,
                first.getString("display_name"),
                first.getString("display_name_singular"),
                first.getString("short_name")),
        sum(rows));
  }

  private static UnitUsage sum(List<Row> blocks) {
    BigDecimal used = BigDecimal.ZERO;
    BigDecimal remaining = BigDecimal.ZERO;
    NextExpiring next = null;
    for (Row block : blocks) {
      BigDecimal left = block.getBigDecimal("remaining");
      if (left == null) {
        continue; // there is no block
      }
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
