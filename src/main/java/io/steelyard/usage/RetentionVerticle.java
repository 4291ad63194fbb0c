package io.steelyard.usage;

import io.steelyard.bus.Address;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.Reply;
import io.steelyard.bus.ServiceVerticle;
import io.steelyard.config.Config;
import io.steelyard.db.IdempotencyStore;
import io.steelyard.db.Pools;
import io.steelyard.db.Transactions;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.usage.RetentionMessages.DropEventMonth;
import io.steelyard.usage.RetentionMessages.EventMonth;
import io.steelyard.usage.RetentionMessages.EventMonthDropped;
import io.steelyard.usage.RetentionMessages.EventMonthList;
import io.steelyard.usage.RetentionMessages.ListEventMonths;
import io.steelyard.usage.RetentionMessages.Need;
import io.vertx.core.Future;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.Pool;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the months that have events and drops them, when asked and, if that is set, by itself. By
 * itself it also deletes the idempotency keys that have expired.
 */
public final class RetentionVerticle extends ServiceVerticle<RetentionMessages<?>> {
  private static final Logger LOG = LoggerFactory.getLogger(RetentionVerticle.class);
  // the others wait for a connection; each takes a moment, but for a drop
  private static final int IN_FLIGHT_MAX = 8 * Pools.RETENTION_SIZE;
  private static final int ATTEMPTS_MAX = 4;
  private static final long PAUSE_MS = 700;
  private static final int RETRY_AFTER_S = 10;
  private static final long FIRST_LOOK_MS = 60_000;
  private static final int KEYS_AT_ONCE = 1000;
  // A lock that was not to be had, a deadlock that others were spared.
  private static final Set<String> IN_THE_WAY = Set.of("55P03", "40P01");

  private final Pools pools;
  private final MerchantClock clock;
  private final Config.Events config;
  private final RetentionMetrics metrics;
  private final RetentionStore store = new RetentionStore();
  private final IdempotencyStore keys = new IdempotencyStore();
  private Pool pool;
  private Future<?> round = Future.succeededFuture();
  private volatile boolean stopping;

  public RetentionVerticle(
      Settings settings,
      Pools pools,
      MerchantClock clock,
      Config.Events config,
      RetentionMetrics metrics) {
    super(Address.RETENTION, new Settings(IN_FLIGHT_MAX, settings.metrics(), settings.failures()));
    this.pools = pools;
    this.clock = clock;
    this.config = config;
    this.metrics = metrics;
  }

  @Override
  protected Future<?> open() {
    pool = pools.retention(vertx, config.timeoutMs());
    // not on all nodes at once, where they start together
    long firstLookMs = ThreadLocalRandom.current().nextLong(FIRST_LOOK_MS, 2 * FIRST_LOOK_MS);
    arm(Math.min(firstLookMs, config.lookEveryMs()));
    return Future.succeededFuture();
  }

  @Override
  public Future<?> stop() {
    stopping = true;
    return super.stop();
  }

  @Override
  protected Future<?> close() {
    return round.otherwiseEmpty().eventually(pool::close);
  }

  @Override
  protected Future<? extends Reply> handle(RetentionMessages<?> message, Call call) {
    return switch (message) {
      case ListEventMonths list -> store.months(pool, clock.systemNow()).map(EventMonthList::new);
      case DropEventMonth drop ->
          drop(YearMonth.parse(drop.month()), call)
              .map(done -> new EventMonthDropped(drop.month()));
    };
  }

  private Future<Void> drop(YearMonth month, Call call) {
    return store
        .hasEvents(pool, month)
        .compose(
            found ->
                found
                    ? store.needs(pool, List.of(month), clock.systemNow())
                    : FailureException.failed(
                        new Failure.NotFound("month_not_found", "There are no events of " + month)))
        .compose(
            needs ->
                needs.isEmpty()
                    ? attempt(month, call, 1)
                    : FailureException.failed(needed(month, needs.get(month.toString()))))
        .onSuccess(
            done -> {
              metrics.dropped();
              LOG.info("the events of {} were dropped", month);
            });
  }

  private Future<Void> attempt(YearMonth month, Call call, int number) {
    return Transactions.run(
            pool,
            tx ->
                inTime(call)
                    .compose(waits -> store.drop(tx, month, clock::systemNow))
                    .<Void>compose(
                        needs ->
                            needs.isEmpty()
                                ? Future.succeededFuture()
                                : FailureException.failed(needed(month, needs))))
        .recover(
            error -> {
              if (!(error instanceof PgException pg && IN_THE_WAY.contains(pg.getSqlState()))) {
                return Future.failedFuture(error);
              }
              if (number == ATTEMPTS_MAX || stopping || call.expired()) {
                return FailureException.failed(
                    new Failure.Unavailable(
                        "contention",
                        "The events were in use all the time. Nothing was dropped.",
                        RETRY_AFTER_S));
              }
              return vertx.timer(PAUSE_MS).compose(passed -> attempt(month, call, number + 1));
            });
  }

  /** Nothing is dropped for somebody who was told that it was not. */
  private static Future<Void> inTime(Call call) {
    return call.expired()
        ? FailureException.failed(new Failure.TimedOut("Nothing was dropped."))
        : Future.succeededFuture();
  }

  private static Failure needed(YearMonth month, List<Need> needs) {
    return new Failure.Conflict(
        "month_needed",
        needs.stream()
            .map(Need::toString)
            .collect(
                Collectors.joining("; ", "The events of " + month + " are still needed: ", ".")));
  }

  /** Armed anew after each round, so that rounds never overlap in one instance. */
  private void arm(long delayMs) {
    if (!stopping) {
      vertx.setTimer(
          delayMs,
          timer -> {
            if (!stopping) {
              round = round().onComplete(done -> arm(config.lookEveryMs()));
            }
          });
    }
  }

  private Future<Void> round() {
    Instant now = clock.systemNow();
    return deleteKeys(now)
        .onFailure(error -> failed("expired idempotency keys", error))
        .otherwiseEmpty()
        .compose(done -> store.months(pool, now))
        .onSuccess(metrics::months)
        .onFailure(error -> failed("months of events", error))
        .compose(months -> dropOld(months, YearMonth.from(now.atOffset(ZoneOffset.UTC))));
  }

  /** Many at once, but no more than a short transaction takes. */
  private Future<Void> deleteKeys(Instant now) {
    return keys.deleteExpired(pool, now, KEYS_AT_ONCE)
        .compose(
            deleted ->
                deleted == KEYS_AT_ONCE && !stopping ? deleteKeys(now) : Future.succeededFuture());
  }

  private void failed(String what, Throwable error) {
    if (!stopping) {
      metrics.failed();
      LOG.warn("{}: not dropped, the next turn tries again", what, error);
    }
  }

  private Future<Void> dropOld(List<EventMonth> months, YearMonth thisMonth) {
    Future<Void> dropped = Future.succeededFuture();
    if (config.keepMonths() == 0) {
      return dropped;
    }
    YearMonth oldestKept = thisMonth.minusMonths(config.keepMonths());
    for (EventMonth month : months) {
      if (YearMonth.parse(month.month()).isBefore(oldestKept)) {
        dropped = dropped.compose(before -> dropOld(month));
      }
    }
    return dropped;
  }

  /** One that fails holds up no other. */
  private Future<Void> dropOld(EventMonth month) {
    if (stopping) {
      return Future.succeededFuture();
    }
    if (!month.droppable()) {
      LOG.warn("the events of {} are still needed: {}", month.month(), month.heldBy());
      return Future.succeededFuture();
    }
    return drop(YearMonth.parse(month.month()), Call.within("retention", null, config.timeoutMs()))
        .onFailure(
            error -> {
              if (!isGone(error)) {
                failed("the events of " + month.month(), error);
              }
            })
        .otherwiseEmpty();
  }

  /** Another process was faster. */
  private static boolean isGone(Throwable error) {
    return error instanceof FailureException known && known.failure() instanceof Failure.NotFound;
  }
}
