package io.steelyard.subscription;

import io.steelyard.db.Columns;
import io.steelyard.db.Sql;
import io.steelyard.domain.BillingPeriod;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.PeriodKey;
import io.steelyard.merchant.MerchantClock;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** The rows of periods. */
public final class PeriodStore {
  // A period of whose time no event is stored yet is ready at once: whoever folds one later finds
  // it. That holds only while the customer's lock is taken, or for a customer that nobody else
  // knows of.
  private static final String INSERT =
      """
      INSERT INTO subscription_period (merchant_id, subscription_id, period_index, customer_id,
          plan_id, period_start, period_end, is_trial, opened_at, ready_until)
      SELECT $9, t.subscription_id, t.period_index, t.customer_id, t.plan_id, t.period_start,
             t.period_end, t.is_trial, t.opened_at, %s
        FROM unnest($1::uuid[], $2::int[], $3::uuid[], $4::uuid[], $5::timestamptz[],
                    $6::timestamptz[], $7::boolean[], $8::timestamptz[])
          AS t(subscription_id, period_index, customer_id, plan_id, period_start, period_end,
               is_trial, opened_at)
      RETURNING ready_until < period_end AS behind
      """;

  /** A statement each, so that those that need not look into the events are not planned to. */
  private static final Map<EventsBefore, String> INSERTS =
      Map.of(
          EventsBefore.NONE, INSERT.formatted("t.period_end"),
          EventsBefore.UNKNOWN, INSERT.formatted("t.period_start"),
          EventsBefore.LOCKED,
              INSERT.formatted(
                  """
                  CASE WHEN EXISTS (
                             SELECT FROM event_chunk e
                              WHERE e.merchant_id = $9 AND e.customer_id = t.customer_id
                                AND e.first_at > t.period_start - interval '1 day'
                                AND e.first_at < t.period_end AND e.last_at >= t.period_start)
                       THEN t.period_start ELSE t.period_end END"""));

  private static final String LOCK_OVERLONG =
      """
      SELECT period_index FROM subscription_period
       WHERE merchant_id = $1 AND subscription_id = $2 AND period_start < $3 AND period_end > $3
         FOR NO KEY UPDATE
      """;

  // Events ahead of the cut may have been counted before it; then all that remain are counted anew.
  // Not where some may have been dropped: what they had come to would be lost with them. The drop
  // and the period's opening may have been timed by two clocks.
  private static final String CUT =
      """
      WITH cut AS (
        SELECT p.subscription_id, p.period_index,
               EXISTS (
                 SELECT FROM counted_event e
                  WHERE e.merchant_id = $1 AND e.customer_id = p.customer_id
                    AND e.chunk_first_at > $4::timestamptz - interval '1 day'
                    AND e.chunk_first_at < p.ready_until AND e.chunk_last_at >= $4
                    AND e.generated_at >= $4 AND e.generated_at < p.ready_until)
               AND NOT EXISTS (
                 SELECT FROM event_month_dropped d
                  WHERE d.dropped_at >= p.opened_at - interval '%d seconds'
                    AND d.month::timestamp AT TIME ZONE 'UTC' < p.ready_until
                    AND (d.month + interval '1 month') AT TIME ZONE 'UTC' > p.period_start
                 ) AS recount
          FROM subscription_period p
         WHERE p.merchant_id = $1 AND p.subscription_id = $2 AND p.period_index = $3
      )
      UPDATE subscription_period p
         SET period_end = $4,
             ready_until =
               CASE WHEN cut.recount THEN p.period_start ELSE least(p.ready_until, $4) END,
             recounts = p.recounts + cut.recount::integer
        FROM cut
       WHERE p.merchant_id = $1 AND p.subscription_id = cut.subscription_id
         AND p.period_index = cut.period_index
      RETURNING cut.recount
      """
          .formatted(MerchantClock.SKEW_MAX.toSeconds());

  // ready_until stays: events of the part that comes back may have been folded already
  private static final String EXTEND =
      """
      UPDATE subscription_period SET period_end = $4
       WHERE merchant_id = $1 AND subscription_id = $2 AND period_end = $3
      """;

  private static final String OPENED_AT =
      """
      SELECT opened_at FROM subscription_period
       WHERE merchant_id = $1 AND subscription_id = $2 AND period_index = $3
      """;

  private static final String FIND =
      """
      SELECT p.subscription_id, p.period_index, p.period_start, p.period_end, p.is_trial, p.opened_at,
             p.ready_until
        FROM unnest($2::uuid[], $3::int[]) AS t(subscription_id, period_index)
        JOIN subscription_period p
          ON p.subscription_id = t.subscription_id AND p.period_index = t.period_index
       WHERE p.merchant_id = $1
      """;

  /**
   * A period that was opened.
   *
   * @param pricedAt when, by the system's time: the prices active then rate it
   * @param readyUntil up to when events are counted in it
   */
  public record StoredPeriod(
      Id subscriptionId, BillingPeriod period, Instant pricedAt, Instant readyUntil) {}

  /** What is known of events of the time that a new period covers. */
  public enum EventsBefore {
    /** The customer was made in this transaction: there can be none. */
    NONE,
    /** The customer's lock is held: it can be looked up. */
    LOCKED,
    /** Nothing: a backfill will see. */
    UNKNOWN
  }

  /**
   * A period to be opened.
   *
   * @param openedAt by the system's time: the prices active then rate it
   */
  public record NewPeriod(Subscription subscription, BillingPeriod period, Instant openedAt) {}

  /**
   * Opens periods.
   *
   * @return how many of them a backfill must bring up to date
   */
  public Future<Integer> insert(
      SqlClient transaction, UUID merchantId, List<NewPeriod> periods, EventsBefore events) {
    if (periods.isEmpty()) {
      return Future.succeededFuture(0);
    }
    return transaction
        .preparedQuery(INSERTS.get(events))
        .execute(
            new Columns<>(periods)
                .uuids(each -> each.subscription().id().uuid())
                .integers(each -> each.period().index())
                .uuids(each -> each.subscription().view().customerId().uuid())
                .uuids(each -> each.subscription().view().planId().uuid())
                .times(each -> each.period().start())
                .times(each -> each.period().end())
                .booleans(each -> each.period().trial())
                .times(NewPeriod::openedAt)
                .and(merchantId))
        .map(
            rows -> {
              int behind = 0;
              for (Row row : rows) {
                behind += row.getBoolean("behind") ? 1 : 0;
              }
              return behind;
            });
  }

  /** Periods by their subscription; of each subscription at most one may be asked. */
  public Future<Map<Id, StoredPeriod>> find(
      SqlClient client, UUID merchantId, Map<Id, Integer> indexBySubscription) {
    if (indexBySubscription.isEmpty()) {
      return Future.succeededFuture(Map.of());
    }
    List<Id> ids = List.copyOf(indexBySubscription.keySet());
    return client
        .preparedQuery(FIND)
        .execute(
            Tuple.of(
                merchantId,
                ids.stream().map(Id::uuid).toArray(UUID[]::new),
                ids.stream().map(indexBySubscription::get).toArray(Integer[]::new)))
        .map(
            rows -> {
              Map<Id, StoredPeriod> found = new HashMap<>();
              rows.forEach(
                  row -> {
                    StoredPeriod period = stored(row);
                    found.put(period.subscriptionId(), period);
                  });
              return found;
            });
  }

  private static StoredPeriod stored(Row row) {
    return new StoredPeriod(
        Sql.id(row, "subscription_id", IdKind.SUBSCRIPTION),
        new BillingPeriod(
            row.getInteger("period_index"),
            Sql.instant(row, "period_start"),
            Sql.instant(row, "period_end"),
            row.getBoolean("is_trial")),
        Sql.instant(row, "opened_at"),
        Sql.instant(row, "ready_until"));
  }

  /** When a period was opened, by the system's time. */
  public Future<Instant> openedAt(
      SqlClient client, UUID merchantId, Id subscription, int periodIndex) {
    return client
        .preparedQuery(OPENED_AT)
        .execute(Tuple.of(merchantId, subscription.uuid(), periodIndex))
        .map(rows -> Sql.instant(rows.iterator().next(), "opened_at"));
  }

  /** The period that goes on beyond {@code end}, if one does; locked. */
  public Future<Optional<PeriodKey>> lockOverlong(
      SqlClient transaction, UUID merchantId, Id subscription, Instant end) {
    return transaction
        .preparedQuery(LOCK_OVERLONG)
        .execute(Tuple.of(merchantId, subscription.uuid(), Sql.time(end)))
        .map(
            rows -> {
              Row row = rows.size() == 0 ? null : rows.iterator().next();
              return Optional.ofNullable(row)
                  .map(found -> new PeriodKey(subscription, found.getInteger("period_index")));
            });
  }

  /**
   * Ends a period early. The caller holds the customer's lock.
   *
   * @return whether usage that lies behind the new end may have been counted in it: a backfill
   *     counts anew what remains, as soon as the caller has thrown the counters away
   */
  public Future<Boolean> cut(
      SqlClient transaction, UUID merchantId, PeriodKey period, Instant end) {
    return transaction
        .preparedQuery(CUT)
        .execute(
            Tuple.of(merchantId, period.subscriptionId().uuid(), period.index(), Sql.time(end)))
        .map(rows -> rows.iterator().next().getBoolean("recount"));
  }

  /** Lets the period that was cut at {@code cut} last until {@code end}. */
  public Future<Void> extend(
      SqlClient transaction, UUID merchantId, Id subscription, Instant cut, Instant end) {
    return transaction
        .preparedQuery(EXTEND)
        .execute(Tuple.of(merchantId, subscription.uuid(), Sql.time(cut), Sql.time(end)))
        .mapEmpty();
  }
}
