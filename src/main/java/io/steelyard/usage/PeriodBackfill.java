package io.steelyard.usage;

import io.steelyard.config.Config;
import io.steelyard.db.CustomerLocks;
import io.steelyard.db.Transactions;
import io.steelyard.usage.ClaimPace.Demand;
import io.steelyard.usage.EventPage.Place;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Brings periods that were opened after events of theirs had been folded, to nobody then, up to
 * date, and counts those anew that were cut short after events ahead of the cut had been counted:
 * all in one transaction, at whose end the normal fold may count in them.
 */
final class PeriodBackfill implements AggregationJob {
  private final int pageEventsMax;
  private final UsageStore store;
  private final Folding folding;
  private final AggregationMetrics metrics;
  private final Supplier<Instant> systemNow;
  private final ClaimPace<UsagePeriod.Ref> pace;

  /** What the pages so far have come to. */
  private record Progress(StoredEvent last, int events, Map<String, Integer> unratable) {
    static final Progress NONE = new Progress(null, 0, Map.of());

    Progress plus(StoredEvent newLast, int more, Map<String, Integer> moreUnratable) {
      Map<String, Integer> sum = new HashMap<>(unratable);
      moreUnratable.forEach((reason, count) -> sum.merge(reason, count, Integer::sum));
      return new Progress(newLast, events + more, sum);
    }
  }

  /**
   * @param eventBytesMax of one event: a page holds no more of them than fit a claim's bytes
   */
  PeriodBackfill(
      Config.Aggregation config,
      int eventBytesMax,
      UsageStore store,
      Folding folding,
      AggregationMetrics metrics,
      Supplier<Instant> systemNow) {
    this.pageEventsMax =
        Math.clamp(config.claimBytesMax() / eventBytesMax, 1, config.claimEventsMax());
    this.store = store;
    this.folding = folding;
    this.metrics = metrics;
    this.systemNow = systemNow;
    this.pace = new ClaimPace<>(config.backfillPeriodsMax(), config.backfillPeriodsMax());
  }

  @Override
  public ClaimPace<?> pace() {
    return pace;
  }

  @Override
  public Future<Boolean> runOnce(Pool pool) {
    pace.begin();
    return Transactions.run(pool, this::claimAndFill)
        .map(
            progress -> {
              if (pace.claimed().isEmpty()) {
                return false;
              }
              pace.succeeded(Demand.MORE);
              metrics.backfilled(pace.claimed().size(), progress.events(), progress.unratable());
              return true;
            });
  }

  private Future<Progress> claimAndFill(SqlConnection transaction) {
    return store
        .claimPeriods(transaction, pace.limit(), pace.passedBy(systemNow.get()))
        .compose(
            periods -> {
              pace.claimed(periods.stream().map(UsagePeriod::ref).toList());
              return periods.isEmpty()
                  ? Future.succeededFuture(Progress.NONE)
                  : fill(transaction, periods);
            });
  }

  private Future<Progress> fill(SqlConnection transaction, List<UsagePeriod> periods) {
    List<UsagePeriod> recounted = periods.stream().filter(UsagePeriod::recounting).toList();
    return CustomerLocks.lock(
            transaction, periods.stream().map(UsagePeriod::customerId).distinct().toList())
        .compose(locked -> folding.beginRecount(transaction, recounted))
        .compose(begun -> nextPage(transaction, periods, Place.START, Progress.NONE))
        .compose(
            progress ->
                folding
                    .endRecount(transaction, recounted)
                    .compose(done -> store.markReady(transaction, periods))
                    .compose(done -> folding.showAccess(transaction, periods))
                    .map(progress));
  }

  private Future<Progress> nextPage(
      SqlConnection transaction, List<UsagePeriod> periods, Place after, Progress before) {
    return store
        .events(transaction, periods, after, pageEventsMax)
        .compose(
            page ->
                foldPage(transaction, periods, page.events(), before)
                    .compose(
                        progress ->
                            page.next() == null
                                ? Future.succeededFuture(progress)
                                : nextPage(transaction, periods, page.next(), progress)));
  }

  private Future<Progress> foldPage(
      SqlConnection transaction,
      List<UsagePeriod> periods,
      List<StoredEvent> page,
      Progress before) {
    if (page.isEmpty()) {
      return Future.succeededFuture(before);
    }
    List<StoredEvent> events = withoutRepetition(page, before.last());
    return folding
        .fold(transaction, events, periods)
        .map(unratable -> before.plus(page.getLast(), events.size(), unratable));
  }

  /** An event that falls in two periods comes once for each. */
  private static List<StoredEvent> withoutRepetition(List<StoredEvent> page, StoredEvent last) {
    List<StoredEvent> events = new ArrayList<>(page.size());
    StoredEvent previous = last;
    for (StoredEvent event : page) {
      if (previous == null || !event.isSameAs(previous)) {
        events.add(event);
      }
      previous = event;
    }
    return events;
  }
}
