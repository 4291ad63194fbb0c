package io.steelyard.billing;

import io.steelyard.billing.DueJob.Claim;
import io.steelyard.billing.DueJob.Work;
import io.steelyard.bus.Address;
import io.steelyard.bus.Failure;
import io.steelyard.config.Config;
import io.steelyard.db.Pools;
import io.steelyard.db.SqlFailures;
import io.steelyard.db.Transactions;
import io.steelyard.merchant.MerchantClock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
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
  private static final DeliveryOptions LOCALLY = new DeliveryOptions().setLocalOnly(true);

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

  /** Claims work, and does or sets aside each piece of it. */
  Future<Work> run(DueJob job, Attempt attempt, Claim claim) {
    List<UUID> claimed = new ArrayList<>();
    Future<Work> transaction =
        Transactions.run(
            pool,
            tx ->
                job.claim(tx, attempt, claim)
                    .onSuccess(claimed::addAll)
                    .compose(ids -> work(tx, job, attempt, ids)));
    return limited(SLOW_STATEMENTS_MAX, transaction)
        .onSuccess(this::committed)
        .recover(
            error ->
                isOfTheMoment(error) || claimed.isEmpty()
                    ? Future.failedFuture(error)
                    : isolate(job, attempt, claimed, error));
  }

  private static Future<Work> work(
      SqlConnection tx, DueJob job, Attempt attempt, List<UUID> claimed) {
    return claimed.isEmpty() ? Future.succeededFuture(Work.NONE) : job.work(tx, attempt, claimed);
  }

  private void committed(Work work) {
    metrics.did(work);
    if (work.behind() > 0) {
      vertx.eventBus().send(Address.EVENTS_STORED, null, LOCALLY); // the backfill is the fold's
    }
  }

  /** One of them cannot be done: finds which, and does the others. */
  private Future<Work> isolate(DueJob job, Attempt attempt, List<UUID> claimed, Throwable error) {
    if (claimed.size() == 1) {
      return again(job, attempt, claimed.getFirst());
    }
    int half = claimed.size() / 2;
    return run(job, attempt, Claim.of(claimed.subList(0, half)))
        .compose(
            first ->
                run(job, attempt, Claim.of(claimed.subList(half, claimed.size())))
                    .map(first::plus));
  }

  /** A second failure in a row is its own. */
  private Future<Work> again(DueJob job, Attempt attempt, UUID id) {
    Claim claim = Claim.of(List.of(id));
    return limited(
            SLOW_STATEMENTS_MAX,
            Transactions.run(
                pool,
                tx -> job.claim(tx, attempt, claim).compose(ids -> work(tx, job, attempt, ids))))
        .onSuccess(this::committed)
        .recover(
            error ->
                isOfTheMoment(error) || isSlow(error)
                    ? Future.failedFuture(error)
                    : setAside(job, attempt, id, error).map(Work.of(1)));
  }

  private Future<Void> setAside(DueJob job, Attempt attempt, UUID id, Throwable error) {
    String reason = error.getClass().getSimpleName() + ": " + error.getMessage();
    Future<Boolean> parked =
        Transactions.run(
            pool,
            tx ->
                job.claim(tx, attempt, Claim.of(List.of(id)))
                    .compose(
                        ids ->
                            ids.isEmpty() // another has done it meanwhile
                                ? Future.succeededFuture(false)
                                : park(tx, job, attempt, id, reason).map(true)));
    return limited(SLOW_STATEMENTS_MAX, parked)
        .onSuccess(
            done -> {
              if (!done) {
                return;
              }
              metrics.parked();
              LOG.error(
                  "{}: an invoice cannot be made; the subscription is parked. The fault is at {}"
                      + " {}",
                  attempt.call().merchant().id(),
                  job.isOfInvoices() ? "invoice" : "subscription",
                  id,
                  error);
            })
        .mapEmpty();
  }

  private Future<Void> park(SqlConnection tx, DueJob job, Attempt attempt, UUID id, String reason) {
    return job.isOfInvoices()
        ? parking.pause(tx, attempt.call(), attempt.clock(), id, reason)
        : parking.park(tx, attempt.call(), attempt.clock(), id, reason);
  }

  /** Ends the wait for a database that has fallen silent; its answer, if any, comes to nobody. */
  <T> Future<T> limited(int slowStatements, Future<T> answer) {
    return answer.timeout(
        pools.patienceMs(slowStatements, config.statementTimeoutMs()), TimeUnit.MILLISECONDS);
  }

  /** Not a fault of what was claimed; a statement that takes too long may be one of its size. */
  private static boolean isOfTheMoment(Throwable error) {
    if (isSlow(error)) {
      return false;
    }
    Failure failure = SqlFailures.of(error);
    return failure instanceof Failure.Unavailable || failure instanceof Failure.Overloaded;
  }

  private static boolean isSlow(Throwable error) {
    return error instanceof PgException pg && QUERY_CANCELED.equals(pg.getSqlState());
  }
}
