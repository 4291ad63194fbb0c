package io.steelyard.integrity;

import io.steelyard.db.Sql;
import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.BillingPeriod;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.UsageTotal;
import io.steelyard.domain.WireName;
import io.steelyard.integrity.IntegrityMessages.Check;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Closed periods that should be billed for good, their counters, and what was billed. */
final class BilledStore {
  private static final String SUBSCRIPTIONS =
      "SELECT id FROM subscription WHERE merchant_id = $1 AND id > $2 ORDER BY id LIMIT $3";

  private static final String PERIODS =
      """
      SELECT p.subscription_id, p.period_index, p.plan_id, p.period_start, p.period_end, p.is_trial,
             p.opened_at, s.billing_cadence, s.invoice_generation_start_date,
             coalesce(s.charge_usage_during_trial, false) AS charge_usage
        FROM subscription s
        JOIN subscription_period p ON p.merchant_id = $1 AND p.subscription_id = s.id
       WHERE s.merchant_id = $1 AND s.id = ANY ($2::uuid[])
         AND (p.period_index < s.period_index
              OR p.period_index = s.period_index AND s.status IN ('ended', 'deleted'))
         AND NOT EXISTS (
           SELECT FROM invoice i
            WHERE i.merchant_id = $1 AND i.subscription_id = s.id
              AND i.boundary_index = p.period_index + 1
              AND i.status IN ('draft', 'pending', 'paused')
              AND i.issue_date IS NULL)
         AND NOT EXISTS (
           SELECT FROM rebill r
            WHERE r.merchant_id = $1 AND r.subscription_id = s.id
              AND r.period_index = p.period_index AND r.usage)
       ORDER BY p.subscription_id, p.period_index
      """;

  private static final String COUNTERS =
      """
      SELECT subscription_id, period_index, billable_id, events, sum, min, max, latest, latest_at,
             latest_key, uniques
        FROM usage_counter
       WHERE merchant_id = $1 AND subscription_id = ANY ($2::uuid[])
      """;

  private static final String BILLED =
      """
      SELECT i.subscription_id, l.period_index, l.price_id, sum(l.amount) AS amount
        FROM invoice i
        JOIN invoice_line_item l ON l.merchant_id = $1 AND l.invoice_id = i.id
        JOIN price p ON p.merchant_id = $1 AND p.id = l.price_id
       WHERE i.merchant_id = $1 AND i.subscription_id = ANY ($2::uuid[])
         AND i.status <> 'void'
         AND (i.status NOT IN ('draft', 'pending', 'paused') OR i.issue_date IS NOT NULL)
         AND l.kind IN ('arrears', 'adjustment') AND p.billing_mode = 'arrears' AND NOT p.is_base
       GROUP BY i.subscription_id, l.period_index, l.price_id
      """;

  private static final String TWICE =
      """
      SELECT i.subscription_id AS subject,
             format('period %s: %s lines charge the usage of "%s"',
                    l.period_index, count(*), min(l.description)) AS detail,
             count(*) OVER () AS faults
        FROM invoice i
        JOIN invoice_line_item l ON l.merchant_id = $1 AND l.invoice_id = i.id
       WHERE i.merchant_id = $1 AND i.status <> 'void' AND l.kind = 'arrears'
       GROUP BY i.subscription_id, l.period_index, l.price_id HAVING count(*) > 1
       ORDER BY i.subscription_id, l.period_index LIMIT $2
      """;

  private static final String WAITING =
      """
      SELECT s.id AS subject,
             format('period %s is to be corrected as if the subscription %s', r.period_index,
                    CASE WHEN r.ended THEN 'had ended' ELSE 'went on' END) AS detail,
             count(*) OVER () AS faults
        FROM subscription s
        JOIN rebill r ON r.merchant_id = $1 AND r.subscription_id = s.id
       WHERE s.merchant_id = $1 AND r.ended <> (s.status IN ('ended', 'deleted'))
       ORDER BY s.id, r.period_index LIMIT $2
      """;

  /** Corrections that wait for an invoice that will never be, or have one that is not for them. */
  static final Rule WRONG_WAIT = new Rule(Check.USAGE, IdKind.SUBSCRIPTION, WAITING);

  /** Prices that have two arrears lines for one period. */
  static final Rule TWO_LINES = new Rule(Check.USAGE, IdKind.SUBSCRIPTION, TWICE);

  /** What a counter or a bill belongs to: with a billable or with a price. */
  record Key(UUID subscriptionId, int periodIndex, UUID of) {}

  /**
   * A closed period.
   *
   * @param invoicesFrom a period that ends at or before it is not charged; null for none
   * @param chargeUsage whether its usage is charged if it is a trial
   */
  record Closed(
      UUID subscriptionId,
      UUID planId,
      BillingPeriod period,
      Instant openedAt,
      BillingCadence cadence,
      Instant invoicesFrom,
      boolean chargeUsage) {
    Key key(UUID of) {
      return new Key(subscriptionId, period.index(), of);
    }

    boolean isCharged() {
      return invoicesFrom == null || period.end().isAfter(invoicesFrom);
    }
  }

  /** The next subscriptions by id. */
  Future<List<UUID>> subscriptions(SqlClient client, UUID merchantId, UUID after, int max) {
    return client
        .preparedQuery(SUBSCRIPTIONS)
        .execute(Tuple.of(merchantId, after, max))
        .map(
            rows -> {
              List<UUID> ids = new ArrayList<>(rows.size());
              rows.forEach(row -> ids.add(row.getUUID("id")));
              return ids;
            });
  }

  /** Their closed periods, but those that an invoice to come may still charge. */
  Future<List<Closed>> periods(SqlClient client, UUID merchantId, List<UUID> subscriptions) {
    return client
        .preparedQuery(PERIODS)
        .execute(of(merchantId, subscriptions))
        .map(
            rows -> {
              List<Closed> periods = new ArrayList<>(rows.size());
              rows.forEach(row -> periods.add(closed(row)));
              return periods;
            });
  }

  /** What their events amount to, by billable. */
  Future<Map<Key, UsageTotal>> counters(
      SqlClient client, UUID merchantId, List<UUID> subscriptions) {
    return client
        .preparedQuery(COUNTERS)
        .execute(of(merchantId, subscriptions))
        .map(
            rows -> {
              Map<Key, UsageTotal> totals = new HashMap<>();
              rows.forEach(row -> totals.put(key(row, "billable_id"), total(row)));
              return totals;
            });
  }

  /** What final invoices that are not void charge for their usage, by price. */
  Future<Map<Key, BigDecimal>> billed(SqlClient client, UUID merchantId, List<UUID> subscriptions) {
    return client
        .preparedQuery(BILLED)
        .execute(of(merchantId, subscriptions))
        .map(
            rows -> {
              Map<Key, BigDecimal> amounts = new HashMap<>();
              rows.forEach(row -> amounts.put(key(row, "price_id"), row.getBigDecimal("amount")));
              return amounts;
            });
  }

  private static Tuple of(UUID merchantId, List<UUID> subscriptions) {
    return Tuple.of(merchantId).addValue(subscriptions.toArray(UUID[]::new));
  }

  private static Key key(Row row, String of) {
    return new Key(row.getUUID("subscription_id"), row.getInteger("period_index"), row.getUUID(of));
  }

  private static Closed closed(Row row) {
    return new Closed(
        row.getUUID("subscription_id"),
        row.getUUID("plan_id"),
        new BillingPeriod(
            row.getInteger("period_index"),
            Sql.instant(row, "period_start"),
            Sql.instant(row, "period_end"),
            row.getBoolean("is_trial")),
        Sql.instant(row, "opened_at"),
        WireName.parse(BillingCadence.class, row.getString("billing_cadence")),
        Sql.instant(row, "invoice_generation_start_date"),
        row.getBoolean("charge_usage"));
  }

  private static UsageTotal total(Row row) {
    return new UsageTotal(
        row.getLong("events"),
        row.getBigDecimal("sum"),
        row.getBigDecimal("min"),
        row.getBigDecimal("max"),
        row.getBigDecimal("latest"),
        Sql.instant(row, "latest_at"),
        row.getUUID("latest_key"),
        row.getLong("uniques"));
  }
}
