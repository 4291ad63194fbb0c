package io.steelyard.billing;

import io.micrometer.core.instrument.Counter;
import io.steelyard.billing.BillingMessages.DueWorkDone;
import io.steelyard.billing.BillingMessages.RunDueWork;
import io.steelyard.bus.Address;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.Reply;
import io.steelyard.catalog.CatalogStore;
import io.steelyard.config.Config;
import io.steelyard.db.LeftAlone;
import io.steelyard.db.Pools;
import io.steelyard.db.SqlFailures;
import io.steelyard.db.StoreVerticle;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.subscription.DueStore;
import io.steelyard.subscription.PeriodOpening;
import io.steelyard.subscription.Subscription;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.SqlConnection;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts and ends subscriptions when their time has come. */
public final class BillingVerticle extends StoreVerticle<BillingMessages<?>> {
  private static final Logger LOG = LoggerFactory.getLogger(BillingVerticle.class);
  private static final int MERCHANTS_MAX = 50;
  private static final long ROUND_MS = 60_000;
  private static final long CLAIMED_ELSEWHERE_MS = 10;
  private static final String STILL_WORKING = "still_working";
  // So many statements of one transaction may be as slow as a statement can be.
  private static final int SLOW_STATEMENTS_MAX = 3;

  private record Done(long started, long ended) {
    long count() {
      return started + ended;
    }
  }

  private final Pools pools;
  private final MerchantClock clock;
  private final Config.Billing config;
  private final DueStore subscriptions = new DueStore();
  private final CatalogStore catalog = new CatalogStore();
  private final PeriodOpening opening;
  private final Counter started;
  private final Counter ended;
  private final Counter failed;
  private boolean stopping;
  private final LeftAlone<UUID> failing = new LeftAlone<>();
  private boolean waiting;
  private Future<?> round = Future.succeededFuture();

  public BillingVerticle(
      Settings settings, Pools pools, MerchantClock clock, Config.Billing config) {
    super(Address.BILLING, settings, pools);
    this.pools = pools;
    this.clock = clock;
    this.opening = new PeriodOpening(clock);
    this.config = config;
    this.started =
        Counter.builder("steelyard.billing.started")
            .description("Subscriptions that became active at their start date")
            .register(settings.metrics());
    this.ended =
        Counter.builder("steelyard.billing.ended")
            .description("Subscriptions that ended at their end date")
            .register(settings.metrics());
    this.failed =
        Counter.builder("steelyard.billing.failed")
            .description("Times that a merchant's due work failed and was left for later")
            .register(settings.metrics());
  }

  @Override
  protected Future<?> open() {
    return super.open().onSuccess(opened -> arm());
  }

  @Override
  protected Future<?> close() {
    stopping = true;
    return round.otherwiseEmpty().eventually(super::close);
  }

  /** Armed anew after each round, so that rounds never overlap in one instance. */
  private void arm() {
    if (!stopping) {
      vertx.setTimer(
          config.pollMs(),
          timer -> {
            if (!stopping) {
              round = round().onComplete(done -> arm());
            }
          });
    }
  }

  private Future<Void> round() {
    Instant now = clock.systemNow();
    return limited(1, subscriptions.dueMerchants(pool, now, MERCHANTS_MAX, failing.at(now)))
        .compose(this::runEach)
        .onSuccess(done -> waiting = false)
        .recover(this::reportOnce);
  }

  private Future<Void> runEach(List<Call.Merchant> due) {
    Future<Void> done = Future.succeededFuture();
    for (Call.Merchant merchant : due) {
      done = done.compose(before -> runInRound(merchant));
    }
    return done;
  }

  private Future<Void> runInRound(Call.Merchant merchant) {
    return run(Call.within("billing", merchant, ROUND_MS), 0)
        .onSuccess(count -> failing.succeeded(List.of(merchant.id().uuid())))
        .<Void>mapEmpty()
        .recover(error -> leave(merchant, error));
  }

  /** The others go on, unless the database does not answer: then all wait for the next round. */
  private Future<Void> leave(Call.Merchant merchant, Throwable error) {
    Failure failure = SqlFailures.of(error);
    if (failure.code().equals(STILL_WORKING)) {
      return Future.succeededFuture();
    }
    failed.increment();
    failing.failed(merchant.id().uuid(), clock.systemNow());
    boolean unanswered =
        failure instanceof Failure.Unavailable || failure instanceof Failure.Overloaded;
    if (unanswered && !(error instanceof PgException)) {
      return Future.failedFuture(error);
    }
    LOG.error("the due work of {} failed; it is tried again later", merchant.id(), error);
    return Future.succeededFuture();
  }

  /** Ends the wait for a database that has fallen silent; its answer, if any, comes to nobody. */
  private <T> Future<T> limited(int slowStatements, Future<T> answer) {
    return answer.timeout(pools.patienceMs(slowStatements), TimeUnit.MILLISECONDS);
  }

  private Future<Void> reportOnce(Throwable error) {
    if (!waiting) {
      waiting = true;
      LOG.warn("due work waits for the database: {}", error.getMessage());
    }
    return Future.succeededFuture();
  }

  @Override
  protected Future<? extends Reply> handle(BillingMessages<?> message, Call call) {
    return switch (message) {
      case RunDueWork run -> runUntilNothingIsDue(call, 0).map(DueWorkDone::new);
    };
  }

  /** What another instance has claimed is not done yet: waits for that too. */
  private Future<Long> runUntilNothingIsDue(Call call, long before) {
    return run(call, before)
        .compose(
            count ->
                limited(1, clock.now(pool, call))
                    .compose(
                        now -> limited(1, subscriptions.isAnyDue(pool, call.merchantId(), now)))
                    .compose(
                        due ->
                            due
                                ? pause().compose(paused -> runUntilNothingIsDue(call, count))
                                : Future.succeededFuture(count)));
  }

  private Future<Void> pause() {
    Promise<Void> promise = Promise.promise();
    vertx.setTimer(CLAIMED_ELSEWHERE_MS, timer -> promise.complete());
    return promise.future();
  }

  /** Works in transactions of limited size until nothing is due or the time is up. */
  private Future<Long> run(Call call, long before) {
    if (call.expired()) {
      return FailureException.failed(
          new Failure.Unavailable(
              STILL_WORKING, "Due work is still being done. Ask again to wait for it.", 1));
    }
    Future<Done> transaction =
        pool.withTransaction(tx -> clock.now(tx, call).compose(now -> step(tx, call, now)));
    return limited(SLOW_STATEMENTS_MAX, transaction)
        .onSuccess(this::count)
        .compose(
            done ->
                done.count() == 0
                    ? Future.succeededFuture(before)
                    : run(call, before + done.count()));
  }

  /** Only what is committed. */
  private void count(Done done) {
    started.increment(done.started());
    ended.increment(done.ended());
  }

  private Future<Done> step(SqlConnection tx, Call call, Instant now) {
    UUID merchantId = call.merchantId();
    return subscriptions
        .claimStarting(tx, merchantId, now, config.claimMax())
        .compose(claimed -> start(tx, call, claimed, now).map(claimed.size()))
        .compose(
            starting ->
                subscriptions
                    .endDue(tx, merchantId, now, config.claimMax())
                    .map(ending -> new Done(starting, ending)));
  }

  private Future<Void> start(SqlConnection tx, Call call, List<Subscription> claimed, Instant now) {
    if (claimed.isEmpty()) {
      return Future.succeededFuture();
    }
    List<UUID> planIds =
        claimed.stream().map(each -> each.view().planId().uuid()).distinct().toList();
    List<Subscription> active =
        claimed.stream().map(each -> each.with(SubscriptionStatus.ACTIVE, now)).toList();
    return catalog
        .planTerms(tx, call.merchantId(), planIds)
        .compose(plans -> opening.open(tx, call, active, plans, now))
        .compose(done -> subscriptions.activate(tx, call.merchantId(), claimed, now));
  }
}
