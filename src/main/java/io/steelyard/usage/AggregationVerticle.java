package io.steelyard.usage;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.steelyard.bus.Address;
import io.steelyard.bus.Failure;
import io.steelyard.catalog.CatalogStore;
import io.steelyard.config.Config;
import io.steelyard.db.Pools;
import io.steelyard.db.SqlFailures;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.merchant.MerchantClock;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.Pool;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns stored events into usage, in the background: when it is told of new ones, and every now and
 * then anyway. One round at a time; any number of instances and nodes share the work.
 */
public final class AggregationVerticle extends VerticleBase {
  private static final Logger LOG = LoggerFactory.getLogger(AggregationVerticle.class);
  private static final long BACKLOG_EVERY_MS = 2000;
  private static final long AFTER_FAILED_CLAIM_MS = 100;
  private static final long BACKOFF_FIRST_MS = 100;
  private static final long BACKOFF_MAX_MS = 5000;
  private static final long NO_TIMER = -1;

  /** So many in a round, and more will come at once. */
  private static final int MANY_EVENTS = 500;

  private static final DeliveryOptions LOCALLY = new DeliveryOptions().setLocalOnly(true);
  // A claim that takes so many statement timeouts is taken for lost: an answer that the database's
  // client never gave must not end the fold for good. Should it live on, its locks protect it.
  private static final long STATEMENTS_MAX = 10;
  private static final String QUERY_CANCELED = "57014";

  private final Pools pools;
  private final MerchantClock clock;
  private final Config.Aggregation config;
  private final int eventBytesMax;
  private final MeterRegistry registry;
  private final BatchStore batches = new BatchStore();
  private Pool pool;
  private AggregationMetrics metrics;
  private HeldEvents held;
  private List<AggregationJob> jobs = List.of();
  private long timer = NO_TIMER;
  private boolean running;
  private boolean woken;
  private boolean stopping;
  private Promise<Void> stopped;
  private final boolean distributed;
  private long backlogDueMs;
  private int failuresInARow;
  private int countedInRound;
  private long roundStartedAtNanos;
  private boolean outage;
  private boolean claimFailed;

  /**
   * @param distributed whether the events are on several nodes
   */
  public AggregationVerticle(
      Pools pools,
      MerchantClock clock,
      Config.Aggregation config,
      int eventBytesMax,
      boolean distributed,
      MeterRegistry registry) {
    this.distributed = distributed;
    this.pools = pools;
    this.clock = clock;
    this.config = config;
    this.eventBytesMax = eventBytesMax;
    this.registry = registry;
  }

  @Override
  public Future<?> start() {
    pool = pools.aggregation(vertx, config.statementTimeoutMs());
    UsageStore store = new UsageStore(clock, distributed);
    metrics = new AggregationMetrics(registry, vertx);
    PlanCache plans = new PlanCache(new CatalogStore(), clock::systemNow);
    Folding folding = new Folding(plans);
    held = HeldEvents.of(vertx);
    held.upTo(config.heldBytesMax(), config.claimEventsMax());
    // Periods first, so that the events that wait are counted in them at once.
    jobs =
        List.of(
            new PeriodBackfill(config, eventBytesMax, store, folding, metrics, clock::systemNow),
            new BatchFold(
                config,
                store,
                folding,
                held,
                FoldBacklog.of(vertx),
                metrics,
                clock::systemNow,
                this::counted));
    vertx.eventBus().localConsumer(Address.EVENTS_STORED, message -> wake());
    run();
    return vertx
        .eventBus()
        .<String>consumer(
            Address.CATALOG_CHANGED,
            message ->
                Id.parse(IdKind.MERCHANT, message.body()).map(Id::uuid).ifPresent(plans::forget))
        .completion();
  }

  @Override
  public Future<?> stop() {
    stopping = true;
    vertx.cancelTimer(timer);
    stopped = Promise.promise();
    if (!running) {
      stopped.complete();
    }
    return stopped.future().compose(idle -> pool.close());
  }

  private void counted(int events) {
    countedInRound += events;
    FoldBacklog.of(vertx).counted(events);
    vertx.eventBus().publish(Address.EVENTS_COUNTED, null, LOCALLY);
  }

  private void wake() {
    woken = true;
    // After a failure the timer decides; new events must not turn the wait into a hot loop.
    if (!running && failuresInARow == 0 && !claimFailed && spacingMs() == 0) {
      run();
    }
  }

  /**
   * How long the next claim should wait. A customer's counters cost the same for one event as for
   * many: while events come in fast, some are let gather, but not so many that a claim is full.
   */
  private long spacingMs() {
    if (countedInRound < MANY_EVENTS || waiting() > config.claimEventsMax() / 2) {
      return 0;
    }
    long sinceMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - roundStartedAtNanos);
    return Math.max(0, config.spacingMs() - sinceMs);
  }

  /** What is there to be claimed: of what others hold, nothing. */
  private long waiting() {
    FoldBacklog backlog = FoldBacklog.of(vertx);
    return backlog.othersCounting().isEmpty() ? backlog.events() : held.events();
  }

  private void run() {
    if (stopping) {
      return;
    }
    vertx.cancelTimer(timer);
    running = true;
    woken = false;
    claimFailed = false;
    countedInRound = 0;
    roundStartedAtNanos = System.nanoTime();
    round().onComplete(outcome -> ended(outcome.succeeded() && outcome.result()));
  }

  private void ended(boolean worked) {
    running = false;
    if (stopping) {
      stopped.complete();
    } else if (failuresInARow > 0) {
      rearm(Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS << Math.min(failuresInARow, 10)));
    } else if (claimFailed) {
      rearm(AFTER_FAILED_CLAIM_MS);
    } else if (worked || woken) {
      long waitMs = spacingMs();
      if (waitMs == 0) {
        run();
      } else {
        rearm(waitMs);
      }
    } else {
      rearm(config.pollMs());
    }
  }

  private void rearm(long delayMs) {
    timer = vertx.setTimer(delayMs, fired -> run());
  }

  /** One claim of each job; whether there was any work. */
  private Future<Boolean> round() {
    Future<Boolean> worked = reportBacklog().map(false);
    for (AggregationJob job : jobs) {
      worked = worked.compose(before -> attempt(job).map(did -> before || did));
    }
    return worked.onSuccess(done -> recovered()).onFailure(this::unavailable);
  }

  private Future<Void> reportBacklog() {
    long nowMs = clock.systemNow().toEpochMilli();
    if (nowMs < backlogDueMs) {
      return Future.succeededFuture();
    }
    backlogDueMs = nowMs + BACKLOG_EVERY_MS;
    return batches
        .backlog(pool)
        .onSuccess(backlog -> metrics.backlog(backlog, clock.systemNow()))
        .mapEmpty();
  }

  /**
   * Fails when nothing can be done now; a claim that cannot be folded is halved or set aside, and
   * one that met a locked period is left for the next round.
   */
  private Future<Boolean> attempt(AggregationJob job) {
    Timer.Sample sample = metrics.roundStarted();
    return job.runOnce(pool)
        .timeout(STATEMENTS_MAX * config.statementTimeoutMs(), TimeUnit.MILLISECONDS)
        .onComplete(done -> metrics.roundEnded(sample))
        .recover(
            error -> {
              if (error instanceof PeriodHeldException) {
                claimFailed = true;
                LOG.debug("a claim meets a locked period", error);
                return Future.succeededFuture(false);
              }
              if (isOfTheMoment(error) || job.pace().claimed().isEmpty()) {
                return Future.failedFuture(error);
              }
              claimFailed = true;
              LOG.error("cannot fold {}", job.pace().claimed(), error);
              if (job.pace().failed(clock.systemNow())) {
                metrics.leftAlone();
              }
              return Future.succeededFuture(true);
            });
  }

  /** A statement that takes too long is a fault of the claim, whatever its class says. */
  private static boolean isOfTheMoment(Throwable error) {
    if (error instanceof PgException pg && QUERY_CANCELED.equals(pg.getSqlState())) {
      return false;
    }
    Failure failure = SqlFailures.of(error);
    return failure instanceof Failure.Unavailable || failure instanceof Failure.Overloaded;
  }

  private void recovered() {
    if (outage) {
      LOG.info("the fold goes on");
    }
    outage = false;
    failuresInARow = 0;
  }

  private void unavailable(Throwable error) {
    failuresInARow++;
    if (!outage) {
      LOG.warn("the fold waits for the database: {}", SqlFailures.of(error).code(), error);
    }
    outage = true;
  }
}
