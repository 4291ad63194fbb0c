package io.steelyard.billing;

import io.steelyard.billing.DueJob.Claim;
import io.steelyard.billing.DueJob.Work;
import io.steelyard.bus.Address;
import io.steelyard.bus.Failure;
import io.steelyard.config.Config;
import io.steelyard.db.Pools;
import io.steelyard.db.SqlFailures;
import io.steelyard.merchant.MerchantClock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.Pool;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Does due work in transactions of limited size and time, and sets aside what cannot be done. */
final class DueTransactions {
  // So many statements of one transaction may be as slow as a statement can be.
  static final int SLOW_STATEMENTS_MAX = 3;
  private static final Logger LOG = LoggerFactory.getLogger(DueTransactions.class);
  private static final String QUERY_CANCELED = "57014";

  private final Vertx vertx;
  private final Pools pools;
  private final Pool pool;
  private final Config.Billing config;
  private final BillingMetrics metrics;
  private final Parking parking;

  DueTransactions(
      Vertx vertx,
      Pools pools,
      Pool pool,
      MerchantClock clock,
      Config.Billing config,
      BillingMetrics metrics) {
    this.vertx = vertx;
    this.pools = pools;
    this.pool = pool;
    this.config = config;
    this.metrics = metrics;
    this.parking = new Parking(clock);
  }

  /** Claims up to {@code max} pieces of work, and does or sets aside each. */
  Future<Work> run(DueJob job, Attempt attempt, int max) {
    return claimed(job, attempt, new Claim(max, null));
  }

  private Future<Work> claimed(DueJob job, Attempt attempt, Claim claim) {
    List<UUID> claimed = new ArrayList<>();
    Future<Work> transaction =
        pool.withTransaction(
            tx ->
                job.claim(tx, attempt, claim)
                    .compose(
                        ids -> {
                          claimed.addAll(ids);
                          return ids.isEmpty()
                              ? Future.succeededFuture(Work.NONE)
                              : job.work(tx, attempt, ids);
                        }));
    return limited(SLOW_STATEMENTS_MAX, transaction)
        .onSuccess(this::committed)
        .recover(
            error ->
                isOfTheMoment(error) || claimed.isEmpty()
                    ? Future.failedFuture(error)
                    : isolate(job, attempt, claimed, error));
  }

  private void committed(Work work) {
    metrics.did(work);
    if (work.behind() > 0) {
      vertx.eventBus().send(Address.EVENTS_STORED, ""); // the backfill is the fold's
    }
  }

  /** One of them cannot be done: finds which, and does the others. */
  private Future<Work> isolate(DueJob job, Attempt attempt, List<UUID> claimed, Throwable error) {
    if (claimed.size() == 1) {
      return setAside(job, attempt, claimed.getFirst(), error).map(Work.of(1));
    }
    int half = claimed.size() / 2;
    return claimed(job, attempt, new Claim(half, List.copyOf(claimed.subList(0, half))))
        .compose(
            first ->
                claimed(
                        job,
                        attempt,
                        new Claim(
                            claimed.size() - half,
                            List.copyOf(claimed.subList(half, claimed.size()))))
                    .map(first::plus));
  }

  private Future<Void> setAside(DueJob job, Attempt attempt, UUID id, Throwable error) {
    String reason = error.getClass().getSimpleName() + ": " + error.getMessage();
    Future<Void> parked =
        pool.withTransaction(
            tx ->
                job.isOfInvoices()
                    ? parking.pause(tx, attempt.call(), attempt.clock(), id, reason)
                    : parking.park(tx, attempt.call(), attempt.clock(), id, reason));
    return limited(SLOW_STATEMENTS_MAX, parked)
        .onSuccess(
            done -> {
              metrics.parked();
              LOG.error(
                  "{}: an invoice cannot be made; the subscription is parked. The fault is at {} {}",
                  attempt.call().merchant().id(),
                  job.isOfInvoices() ? "invoice" : "subscription",
                  id,
                  error);
            });
  }

  /** Ends the wait for a database that has fallen silent; its answer, if any, comes to nobody. */
  <T> Future<T> limited(int slowStatements, Future<T> answer) {
    return answer.timeout(
        pools.patienceMs(slowStatements, config.statementTimeoutMs()), TimeUnit.MILLISECONDS);
  }

  /** Not a fault of what was claimed; a statement that takes too long is one. */
  private static boolean isOfTheMoment(Throwable error) {
    if (error instanceof PgException pg && QUERY_CANCELED.equals(pg.getSqlState())) {
      return false;
    }
    Failure failure = SqlFailures.of(error);
    return failure instanceof Failure.Unavailable || failure instanceof Failure.Overloaded;
  }
}
