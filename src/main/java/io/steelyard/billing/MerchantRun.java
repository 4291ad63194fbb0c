package io.steelyard.billing;

import io.steelyard.billing.DueJob.Claim;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.config.Config;
import io.steelyard.credit.ExpiryStore;
import io.steelyard.db.Pools;
import io.steelyard.db.Transactions;
import io.steelyard.invoice.OverdueStore;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.subscription.Boundaries;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** Does the due work of one merchant, several transactions at once, until nothing is left to do. */
final class MerchantRun {
  static final String STILL_WORKING = "still_working";
  private static final long ELSEWHERE_MS = 10;
  private static final int MERCHANTS_REMEMBERED_MAX = 10_000;

  private final Vertx vertx;
  private final Pool pool;
  private final MerchantClock clock;
  private final Config.Billing config;
  private final BillingMetrics metrics;
  private final DueStore due;
  private final DueTransactions transactions;
  private final ExpiryStore expiry = new ExpiryStore();
  private final OverdueStore overdue = new OverdueStore();
  private final Map<UUID, Future<Long>> running = new HashMap<>();
  private final Map<UUID, Instant> acceptedBefore = new HashMap<>();
  private boolean stopping;
  private final DueJob boundaryJob;
  private final DueJob finalisationJob;
  private final DueJob correctionJob;

  MerchantRun(
      Vertx vertx,
      Pools pools,
      Pool pool,
      MerchantClock clock,
      Config.Billing config,
      BillingMetrics metrics,
      Boundaries boundaries) {
    this.vertx = vertx;
    this.pool = pool;
    this.clock = clock;
    this.config = config;
    this.metrics = metrics;
    this.due = new DueStore(config.usageGraceMs());
    this.transactions = new DueTransactions(vertx, pools, pool, clock, config, metrics);
    this.boundaryJob = new BoundaryJob(boundaries);
    this.finalisationJob = new FinalisationJob(clock);
    this.correctionJob = new CorrectionJob(due, boundaries);
  }

  /**
   * Works until nothing can be done; how much was. Fails when the call's time is up. Of one
   * merchant an instance does one run after the other, since two would only wait for each other.
   */
  Future<Long> run(Call call) {
    return run(call, true);
  }

  /**
   * As {@link #run}, but does nothing while a set clock waits for the fold: in a round, others
   * would wait with it.
   */
  Future<Long> runUnlessWaiting(Call call) {
    return run(call, false);
  }

  private Future<Long> run(Call call, boolean waits) {
    UUID merchantId = call.merchantId();
    Future<Long> before = running.get(merchantId);
    Future<Long> run =
        before == null
            ? start(call, waits)
            : before.otherwiseEmpty().compose(ended -> start(call, waits));
    running.put(merchantId, run);
    return run.onComplete(ended -> running.remove(merchantId, run));
  }

  boolean isRunning(UUID merchantId) {
    return running.containsKey(merchantId);
  }

  private Future<Long> start(Call call, boolean waits) {
    Instant now = clock.systemNow();
    return transactions
        .limited(1, clock.read(pool, call))
        .compose(
            reading ->
                reading.frozen()
                    ? folded(call, reading, now, waits)
                    : foldedSoFar(call, reading).map(Optional::of))
        .compose(
            attempt -> attempt.map(ready -> rounds(ready, 0)).orElse(Future.succeededFuture(0L)));
  }

  /**
   * A clock that was set means that time passed at once: what was accepted before comes first.
   * Empty when it is not to be waited for.
   */
  private Future<Optional<Attempt>> folded(
      Call call, MerchantClock.Reading reading, Instant acceptedBefore, boolean waits) {
    return transactions
        .limited(1, due.isSettled(pool, call.merchantId(), acceptedBefore))
        .compose(
            folded -> {
              if (folded) {
                return Future.succeededFuture(
                    Optional.of(new Attempt(call, reading, reading.now())));
              }
              if (!waits) {
                return Future.succeededFuture(Optional.empty());
              }
              return mustStop(call)
                  ? stillWorking()
                  : pause().compose(paused -> folded(call, reading, acceptedBefore, true));
            });
  }

  /**
   * While events come all the time there is always one that waits to be counted: what matters is
   * that those before a certain instant do no more, which is asked again in every run until it is
   * so.
   */
  private Future<Attempt> foldedSoFar(Call call, MerchantClock.Reading reading) {
    UUID merchantId = call.merchantId();
    if (acceptedBefore.size() >= MERCHANTS_REMEMBERED_MAX) {
      acceptedBefore.clear();
    }
    Instant asked = acceptedBefore.computeIfAbsent(merchantId, id -> reading.now());
    return transactions
        .limited(1, due.isFolded(pool, merchantId, asked))
        .map(
            folded -> {
              if (folded) {
                acceptedBefore.remove(merchantId);
              }
              return new Attempt(call, reading, folded ? asked : null);
            });
  }

  /** Ends what is being done after the present transactions. */
  void stop() {
    stopping = true;
  }

  private boolean mustStop(Call call) {
    return stopping || call.expired();
  }

  private Future<Long> rounds(Attempt attempt, long before) {
    return lanes(attempt)
        .compose(
            done -> done == 0 ? Future.succeededFuture(before) : rounds(attempt, before + done));
  }

  private Future<Long> lanes(Attempt attempt) {
    List<Future<Long>> lanes = new ArrayList<>();
    for (int i = 0; i < config.lanes(); i++) {
      lanes.add(lane(attempt, i));
    }
    return Future.join(lanes).map(done -> lanes.stream().mapToLong(lane -> lane.result()).sum());
  }

  private Future<Long> lane(Attempt attempt, int number) {
    Claim claim = new Claim(config.claimMax(), null, number, config.lanes());
    return repeat(boundaryJob, attempt, claim, 0)
        .compose(done -> repeat(finalisationJob, attempt, claim, done))
        .compose(done -> repeat(correctionJob, attempt, claim, done))
        .compose(done -> number == 0 ? finish(attempt, done) : Future.succeededFuture(done));
  }

  private Future<Long> finish(Attempt attempt, long before) {
    return expire(attempt, before).compose(done -> markOverdue(attempt, done));
  }

  private Future<Long> repeat(DueJob job, Attempt attempt, Claim claim, long before) {
    if (mustStop(attempt.call())) {
      return stillWorking();
    }
    return transactions
        .run(job, attempt, claim)
        .compose(
            work ->
                work.done() == 0
                    ? Future.succeededFuture(before)
                    : repeat(job, attempt, claim, before + work.done()));
  }

  /**
   * Late events that still wait to be counted may draw from what has ended, so that grace is over
   * when no such event was accepted within it.
   */
  private Future<Long> expire(Attempt attempt, long before) {
    if (attempt.countedBy() == null) {
      return Future.succeededFuture(before);
    }
    Future<Integer> transaction =
        Transactions.run(
            pool,
            tx ->
                expiry.expire(
                    tx,
                    attempt.call().merchantId(),
                    due.graceOver(attempt.countedBy()),
                    attempt.clock().now(),
                    config.claimMax()));
    return transactions
        .limited(DueTransactions.SLOW_STATEMENTS_MAX, transaction)
        .onSuccess(metrics::expired)
        .compose(
            count -> count == 0 ? Future.succeededFuture(before) : expire(attempt, before + count));
  }

  private Future<Long> markOverdue(Attempt attempt, long before) {
    Future<Integer> transaction =
        Transactions.run(
            pool,
            tx ->
                overdue.markOverdue(
                    tx,
                    attempt.call().merchantId(),
                    attempt.clock().now(),
                    config.claimMax(),
                    clock.systemNow()));
    return transactions
        .limited(DueTransactions.SLOW_STATEMENTS_MAX, transaction)
        .onSuccess(metrics::overdue)
        .compose(
            count ->
                count == 0 ? Future.succeededFuture(before) : markOverdue(attempt, before + count));
  }

  /** As {@link #run}, and then waits for what others work on, or what waits for the fold. */
  Future<Long> runUntilNothingIsDue(Call call, long before) {
    return run(call)
        .compose(
            count ->
                transactions
                    .limited(1, clock.now(pool, call))
                    .compose(
                        now -> transactions.limited(1, due.isAnyDue(pool, call.merchantId(), now)))
                    .compose(
                        left ->
                            left
                                ? pause()
                                    .compose(paused -> runUntilNothingIsDue(call, before + count))
                                : Future.succeededFuture(before + count)));
  }

  private <T> Future<T> stillWorking() {
    return FailureException.failed(
        new Failure.Unavailable(
            STILL_WORKING, "Due work is still being done. Ask again to wait for it.", 1));
  }

  private Future<Void> pause() {
    Promise<Void> promise = Promise.promise();
    vertx.setTimer(ELSEWHERE_MS, timer -> promise.complete());
    return promise.future();
  }
}
