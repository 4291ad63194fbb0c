package io.steelyard.delivery;

import io.steelyard.bus.Bus;
import io.steelyard.bus.Call;
import io.steelyard.config.Config;
import io.steelyard.db.Pools;
import io.steelyard.db.Transactions;
import io.steelyard.domain.Actor;
import io.steelyard.invoice.OutboxStore;
import io.steelyard.invoice.OutboxStore.Due;
import io.steelyard.invoice.TransitionStore;
import io.steelyard.invoice.TransitionStore.Cause;
import io.steelyard.invoice.TransitionStore.InvoiceChange;
import io.steelyard.merchant.MerchantClock;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** Claims what is due of one merchant, asks its gateways, and settles. */
final class Deliveries {
  // So many statements of one transaction may be as slow as a statement can be.
  private static final int SLOW_STATEMENTS_MAX = 3;

  private final Pool pool;
  private final Pools pools;
  private final MerchantClock clock;
  private final Config.Delivery config;
  private final DeliveryMetrics metrics;
  private final OutboxStore outbox = new OutboxStore();
  private final TransitionStore transitions = new TransitionStore();
  private final Attempt attempt;
  private final Settlement settlement;

  Deliveries(
      Pool pool,
      Pools pools,
      MerchantClock clock,
      Config.Delivery config,
      Bus bus,
      DeliveryMetrics metrics) {
    this.pool = pool;
    this.pools = pools;
    this.clock = clock;
    this.config = config;
    this.metrics = metrics;
    this.attempt = new Attempt(pool, bus);
    this.settlement = new Settlement(clock, config);
  }

  /** One attempt at each of what is due, as many as may be claimed at once; answers how many. */
  Future<Integer> runOnce(Call.Merchant merchant) {
    Call call = Call.within("delivery", merchant, config.leaseMs());
    return limited(Transactions.run(pool, tx -> claim(tx, call)))
        .compose(
            claimed ->
                Future.join(claimed.stream().map(due -> deliver(due, merchant)).toList())
                    .map(done -> claimed.size()));
  }

  private Future<List<Due>> claim(SqlConnection tx, Call call) {
    Instant systemNow = clock.systemNow();
    UUID merchantId = call.merchantId();
    return outbox
        .claim(tx, merchantId, systemNow, config.claimMax())
        .compose(
            claimed -> {
              List<Due> live = claimed.stream().filter(Deliveries::isWanted).toList();
              List<Due> dead = claimed.stream().filter(due -> !isWanted(due)).toList();
              Instant until = systemNow.plusMillis(config.leaseMs());
              return outbox
                  .drop(tx, merchantId, dead)
                  .compose(done -> begin(tx, call, live, systemNow))
                  .compose(
                      done ->
                          live.isEmpty()
                              ? Future.succeededFuture()
                              : outbox.lease(tx, merchantId, live, until))
                  .map(live);
            });
  }

  /** An invoice that is under way is one whose worker did not come back. */
  private static boolean isWanted(Due due) {
    return due.status() == due.action().ready() || due.status() == due.action().underWay();
  }

  private Future<Void> begin(SqlConnection tx, Call call, List<Due> live, Instant systemNow) {
    List<Due> fresh = live.stream().filter(due -> due.status() == due.action().ready()).toList();
    return fresh.isEmpty()
        ? Future.succeededFuture()
        : clock
            .now(tx, call)
            .compose(
                now ->
                    transitions.moveInvoices(
                        tx,
                        call.merchantId(),
                        fresh.stream()
                            .map(
                                due ->
                                    new InvoiceChange(
                                        due.invoiceId(),
                                        due.status(),
                                        due.action().underWay(),
                                        now))
                            .toList(),
                        new Cause(Actor.GATEWAY, "the gateway is asked", null, systemNow)))
            .mapEmpty();
  }

  /** No transaction is open while the gateway is asked. */
  private Future<Void> deliver(Due due, Call.Merchant merchant) {
    Call call = Call.within(due.idempotencyKey(), merchant, config.leaseMs() / 2L);
    return attempt
        .at(due, call)
        .compose(
            outcome ->
                settle(call, due, outcome)
                    .compose(
                        done ->
                            outcome.repeated()
                                ? settle(call, due, outcome)
                                : Future.succeededFuture()));
  }

  private Future<Void> settle(Call call, Due due, Outcome outcome) {
    return limited(Transactions.run(pool, tx -> settlement.settle(tx, call, due, outcome)))
        .onSuccess(
            present -> metrics.attempt(due.action(), present ? outcome.name() : "withoutEffect"))
        .mapEmpty();
  }

  /** Ends the wait for a database that has fallen silent; its answer, if any, comes to nobody. */
  private <T> Future<T> limited(Future<T> answer) {
    return answer.timeout(pools.patienceMs(SLOW_STATEMENTS_MAX), TimeUnit.MILLISECONDS);
  }
}
