package io.steelyard.billing;

import io.steelyard.billing.BillingMessages.DueWorkDone;
import io.steelyard.billing.BillingMessages.PreviewInvoice;
import io.steelyard.billing.BillingMessages.ResumeSubscription;
import io.steelyard.billing.BillingMessages.RunDueWork;
import io.steelyard.billing.BillingMessages.SubscriptionResumed;
import io.steelyard.billing.DueStore.Turn;
import io.steelyard.bus.Address;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.Reply;
import io.steelyard.config.Config;
import io.steelyard.db.LeftAlone;
import io.steelyard.db.Pools;
import io.steelyard.db.SqlFailures;
import io.steelyard.db.StoreVerticle;
import io.steelyard.db.Transactions;
import io.steelyard.domain.Environment;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.subscription.Boundaries;
import io.vertx.core.Future;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.Pool;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The clockwork: does by itself what the passing of time demands, merchant by merchant. */
public final class BillingVerticle extends StoreVerticle<BillingMessages<?>> {
  private static final Logger LOG = LoggerFactory.getLogger(BillingVerticle.class);
  private static final int MERCHANTS_MAX = 50;
  private static final long ROUND_MS = 60_000;
  private static final UUID FIRST = new UUID(0, 0);

  private final Pools pools;
  private final MerchantClock clock;
  private final Config.Billing config;
  private final Boundaries boundaries;
  private final BillingMetrics metrics;
  private final DueStore due;
  private final Parking parking;
  private final Preview preview;
  private final LeftAlone<UUID> failing = new LeftAlone<>();

  /** For the clockwork, apart from the requests' connections. */
  private Pool own;

  private MerchantRun runs;
  private boolean stopping;
  private boolean waiting;
  private Future<?> round = Future.succeededFuture();

  /** Whose turn was last, of those that something is due for. */
  private UUID turn = FIRST;

  public BillingVerticle(
      Settings settings,
      Pools pools,
      MerchantClock clock,
      Config.Billing config,
      Boundaries boundaries) {
    super(Address.BILLING, settings, pools);
    this.pools = pools;
    this.clock = clock;
    this.config = config;
    this.boundaries = boundaries;
    this.metrics = new BillingMetrics(settings.metrics());
    this.due = new DueStore(config.usageGraceMs());
    this.parking = new Parking(clock);
    this.preview = new Preview(clock);
  }

  @Override
  protected Future<?> open() {
    own = pools.billing(vertx, config.statementTimeoutMs());
    runs = new MerchantRun(vertx, pools, own, clock, config, metrics, boundaries);
    return super.open().onSuccess(opened -> arm());
  }

  @Override
  public Future<?> stop() {
    stopping = true;
    if (runs != null) {
      runs.stop(); // else a clock that is being set would hold up the stop
    }
    return super.stop();
  }

  @Override
  protected Future<?> close() {
    return round.otherwiseEmpty().eventually(own::close).eventually(super::close);
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
    return due.dueMerchants(own, now, new Turn(turn, MERCHANTS_MAX, failing.at(now)))
        .timeout(pools.patienceMs(1, config.statementTimeoutMs()), TimeUnit.MILLISECONDS)
        .compose(this::runEach)
        .onSuccess(done -> waiting = false)
        .recover(this::reportOnce);
  }

  /** Whoever has not had its turn when the database stops answering is the next. */
  private Future<Void> runEach(List<Call.Merchant> merchants) {
    Future<Void> done = Future.succeededFuture();
    for (Call.Merchant merchant : merchants) {
      done =
          done.compose(before -> stopping ? Future.<Void>succeededFuture() : runInRound(merchant))
              .onSuccess(ran -> turn = merchant.id().uuid());
    }
    boolean all = merchants.size() < MERCHANTS_MAX;
    return done.onSuccess(ran -> turn = all ? FIRST : turn);
  }

  private Future<Void> runInRound(Call.Merchant merchant) {
    if (runs.isRunning(merchant.id().uuid())) {
      return Future.succeededFuture(); // somebody who has set the clock waits for it
    }
    return runs.runUnlessWaiting(Call.within("billing", merchant, ROUND_MS))
        .onSuccess(count -> failing.succeeded(List.of(merchant.id().uuid())))
        .<Void>mapEmpty()
        .recover(error -> leave(merchant, error));
  }

  /** The others go on, unless the database does not answer: then all wait for the next round. */
  private Future<Void> leave(Call.Merchant merchant, Throwable error) {
    Failure failure = SqlFailures.of(error);
    if (failure.code().equals(MerchantRun.STILL_WORKING)) {
      return Future.succeededFuture();
    }
    metrics.failed();
    failing.failed(merchant.id().uuid(), clock.systemNow());
    boolean unanswered =
        failure instanceof Failure.Unavailable || failure instanceof Failure.Overloaded;
    if (unanswered && !(error instanceof PgException)) {
      return Future.failedFuture(error);
    }
    LOG.error("the due work of {} failed; it is tried again later", merchant.id(), error);
    return Future.succeededFuture();
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
      case RunDueWork run -> runs.runUntilNothingIsDue(call, 0).map(DueWorkDone::new);
      case ResumeSubscription resume -> resume(resume.id(), call);
      case PreviewInvoice wanted -> preview.of(pool, call, wanted.subscriptionId());
    };
  }

  /** Of a live merchant there is always some that is due, and nobody waits for all of it. */
  private Future<Long> workOf(Call call) {
    return call.merchant().environment() == Environment.TEST
        ? runs.runUntilNothingIsDue(call, 0)
        : runs.run(call);
  }

  private Future<SubscriptionResumed> resume(String text, Call call) {
    Id id = Id.parse(IdKind.SUBSCRIPTION, text).orElse(null);
    if (id == null) {
      return FailureException.failed(Failure.notFound("subscription"));
    }
    return Transactions.run(
            pool,
            tx -> clock.now(tx, call).compose(now -> parking.resume(tx, call, id.uuid(), now)))
        .compose(
            resumed ->
                switch (resumed) {
                  case RESUMED -> workOf(call).compose(done -> parking.find(pool, call, id));
                  case NOT_PARKED ->
                      FailureException.failed(
                          new Failure.Conflict(
                              "subscription_not_parked", "The subscription is not parked."));
                  case UNKNOWN -> FailureException.failed(Failure.notFound("subscription"));
                });
  }
}
