package io.steelyard.usage;

import io.steelyard.db.Columns;
import io.steelyard.db.Transactions;
import io.vertx.core.Future;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.SqlConnection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Usage that is counted before the units of its time have been allocated within its period. It
 * waits for them as if the rest of the period had not been opened: the period is ready up to their
 * allocation only, after which a backfill counts what has waited.
 */
final class EarlyUsageStore {
  // Of one merchant, since Citus does not ask several nodes with a limit for each period.
  private static final String KEPT_AHEAD =
      """
      SELECT p.subscription_id, p.period_index
      FROM unnest($1::uuid[], $2::integer[], $3::uuid[], $4::timestamptz[], $5::timestamptz[])
           AS p (subscription_id, period_index, customer_id, since, until)
      CROSS JOIN LATERAL (
        SELECT c.first_at
        FROM event_chunk c
        WHERE c.customer_id = p.customer_id AND c.merchant_id = $6
          AND c.first_at > p.since - interval '1 day' AND c.first_at < p.until
          AND c.last_at >= p.since
        LIMIT 1) kept
      """;

  // Not to wait: a cancel locks the period before the customer, whose lock the caller holds.
  private static final String HOLD_BACK =
      """
      WITH held AS MATERIALIZED (
        SELECT p.merchant_id, p.subscription_id, p.period_index, h.until
          FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::timestamptz[])
               AS h (merchant_id, subscription_id, period_index, until)
          JOIN subscription_period p
            ON p.subscription_id = h.subscription_id AND p.period_index = h.period_index
           AND p.merchant_id = h.merchant_id
         ORDER BY p.subscription_id, p.period_index
           FOR NO KEY UPDATE OF p NOWAIT
      )
      UPDATE subscription_period p SET ready_until = held.until
        FROM held
       WHERE p.merchant_id = held.merchant_id AND p.subscription_id = held.subscription_id
         AND p.period_index = held.period_index
      """;

  private static final String LOCK_NOT_AVAILABLE = "55P03";

  /**
   * Holds back those of these events that come before their units: what each of these periods takes
   * of them. The caller holds the customers' locks, and has kept none of the events yet.
   *
   * <p>Who counts may be an older build, which holds nothing back: a period in which events that
   * are ahead of their units have been counted goes on like that, or they would be counted twice.
   *
   * @throws PeriodHeldException (in the Future) when another transaction has locked one of them
   */
  Future<List<UsagePeriod>> holdBack(
      SqlConnection transaction, List<CustomerEvents> groups, List<UsagePeriod> periods) {
    List<UsagePeriod> early = early(groups, periods);
    if (early.isEmpty()) {
      return Future.succeededFuture(periods);
    }
    return keptAhead(transaction, early, UsagePeriod::countsUntil)
        .compose(
            countedAhead -> {
              List<UsagePeriod> held =
                  early.stream().filter(each -> !countedAhead.contains(each.ref())).toList();
              return holdBack(transaction, held).map(done -> without(held, periods));
            });
  }

  private static List<UsagePeriod> early(List<CustomerEvents> groups, List<UsagePeriod> periods) {
    List<UsagePeriod> unfinished =
        periods.stream()
            .filter(each -> each.allocatedUntil().isBefore(each.countsUntil()))
            .toList();
    if (unfinished.isEmpty()) {
      return List.of();
    }
    Map<UUID, List<CustomerEvents>> byCustomer =
        groups.stream().collect(Collectors.groupingBy(CustomerEvents::customerId));
    return unfinished.stream()
        .filter(
            period ->
                byCustomer.getOrDefault(period.customerId(), List.of()).stream()
                    .anyMatch(group -> isEarly(group, period)))
        .toList();
  }

  private static boolean isEarly(CustomerEvents group, UsagePeriod period) {
    Instant from = period.allocatedUntil();
    return group.merchantId().equals(period.merchantId())
        && !group.last().generatedAt().isBefore(from)
        && group.events().stream()
            .anyMatch(
                event ->
                    !event.generatedAt().isBefore(from)
                        && event.generatedAt().isBefore(period.countsUntil()));
  }

  private static Future<Void> holdBack(SqlConnection transaction, List<UsagePeriod> held) {
    return held.isEmpty()
        ? Future.succeededFuture()
        : transaction
            .preparedQuery(HOLD_BACK)
            .execute(
                new Columns<>(held)
                    .also(PeriodColumns.of(UsagePeriod::ref))
                    .times(UsagePeriod::allocatedUntil)
                    .and())
            .<Void>mapEmpty()
            .recover(
                error ->
                    Future.failedFuture(isLocked(error) ? new PeriodHeldException(error) : error));
  }

  private static boolean isLocked(Throwable error) {
    return error instanceof PgException pg && LOCK_NOT_AVAILABLE.equals(pg.getSqlState());
  }

  private static List<UsagePeriod> without(List<UsagePeriod> held, List<UsagePeriod> periods) {
    Set<UsagePeriod.Ref> refs = held.stream().map(UsagePeriod::ref).collect(Collectors.toSet());
    return periods.stream()
        .map(each -> refs.contains(each.ref()) ? each.countingUntil(each.allocatedUntil()) : each)
        .toList();
  }

  /** Those of these periods of which events are kept that wait for units. */
  Future<Set<UsagePeriod.Ref>> waiting(SqlConnection transaction, List<UsagePeriod> periods) {
    return keptAhead(transaction, periods, UsagePeriod::end);
  }

  /** Those with events that are kept, from their next units on and before {@code until}. */
  private static Future<Set<UsagePeriod.Ref>> keptAhead(
      SqlConnection transaction, List<UsagePeriod> periods, Function<UsagePeriod, Instant> until) {
    Set<UsagePeriod.Ref> ahead = new HashSet<>();
    Map<UUID, List<UsagePeriod>> byMerchant =
        periods.stream()
            .filter(each -> each.allocatedUntil().isBefore(until.apply(each)))
            .collect(Collectors.groupingBy(UsagePeriod::merchantId));
    List<Supplier<Future<?>>> ofMerchants = new ArrayList<>();
    byMerchant.forEach(
        (merchantId, theirs) ->
            ofMerchants.add(
                () -> keptAhead(transaction, merchantId, theirs, until).map(ahead::addAll)));
    return Transactions.pipelined(ofMerchants).map(ahead);
  }

  private static Future<Set<UsagePeriod.Ref>> keptAhead(
      SqlConnection transaction,
      UUID merchantId,
      List<UsagePeriod> periods,
      Function<UsagePeriod, Instant> until) {
    return transaction
        .preparedQuery(KEPT_AHEAD)
        .execute(
            new Columns<>(periods)
                .uuids(UsagePeriod::subscriptionId)
                .integers(UsagePeriod::index)
                .uuids(UsagePeriod::customerId)
                .times(UsagePeriod::allocatedUntil)
                .times(until)
                .and(merchantId))
        .map(
            rows -> {
              Set<UsagePeriod.Ref> found = new HashSet<>();
              rows.forEach(
                  row ->
                      found.add(
                          new UsagePeriod.Ref(
                              merchantId,
                              row.getUUID("subscription_id"),
                              row.getInteger("period_index"))));
              return found;
            });
  }
}
