package io.steelyard.delivery;

import io.steelyard.bus.Address;
import io.steelyard.bus.Bus;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.Reply;
import io.steelyard.config.Config;
import io.steelyard.db.LeftAlone;
import io.steelyard.db.Pools;
import io.steelyard.db.StoreVerticle;
import io.steelyard.db.Transactions;
import io.steelyard.delivery.DeliveryMessages.DeliveriesDone;
import io.steelyard.delivery.DeliveryMessages.ReportPayment;
import io.steelyard.delivery.DeliveryMessages.RunDueDeliveries;
import io.steelyard.invoice.OutboxStore;
import io.steelyard.merchant.MerchantClock;
import io.vertx.core.Future;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has invoices synced, collected and sent. Merchants do not wait for each other: one whose gateway
 * is slow is passed by while others are served.
 */
public final class DeliveryVerticle extends StoreVerticle<DeliveryMessages<?>> {
  private static final Logger LOG = LoggerFactory.getLogger(DeliveryVerticle.class);
  private static final int MERCHANTS_AT_ONCE = 8;
  private static final long DONE_ELSEWHERE_MS = 20;
  private static final long STOP_MS = 2000;
  private static final long NO_TIMER = -1;

  private final Settings settings;
  private final Pools pools;
  private final MerchantClock clock;
  private final Bus bus;
  private final Config.Delivery config;
  private final OutboxStore outbox = new OutboxStore();
  private final Map<UUID, Future<?>> busy = new HashMap<>();
  private final LeftAlone<UUID> failing = new LeftAlone<>();
  private DeliveryMetrics metrics;
  private Deliveries deliveries;
  private Reports reports;
  private boolean stopping;
  private boolean looking;
  private boolean waiting;
  private long timer = NO_TIMER;

  public DeliveryVerticle(
      Settings settings, Pools pools, MerchantClock clock, Bus bus, Config.Delivery config) {
    super(Address.DELIVERY, settings, pools);
    this.settings = settings;
    this.pools = pools;
    this.clock = clock;
    this.bus = bus;
    this.config = config;
  }

  @Override
  protected Future<?> open() {
    return super.open()
        .onSuccess(
            opened -> {
              metrics = new DeliveryMetrics(settings.metrics());
              deliveries = new Deliveries(pool, pools, clock, config, bus, metrics);
              reports = new Reports(clock);
              vertx.eventBus().consumer(Address.DELIVERIES_WAITING, message -> look());
              arm();
            });
  }

  /** What a gateway is still asked then is settled by whoever comes after the lease. */
  @Override
  protected Future<?> close() {
    stopping = true;
    vertx.cancelTimer(timer);
    return Future.join(List.copyOf(busy.values()))
        .timeout(STOP_MS, TimeUnit.MILLISECONDS)
        .transform(ended -> super.close());
  }

  private void arm() {
    if (!stopping) {
      timer = vertx.setTimer(config.pollMs(), fired -> look());
    }
  }

  /** Armed anew after each look, so that looks never overlap in one instance. */
  private void look() {
    if (stopping || looking) {
      return;
    }
    looking = true;
    vertx.cancelTimer(timer);
    Instant now = clock.systemNow();
    Set<UUID> passBy = new HashSet<>(failing.at(now));
    passBy.addAll(busy.keySet());
    limited(outbox.oldestDueAge(pool, now))
        .onSuccess(metrics::oldestDue)
        .compose(
            age ->
                busy.size() >= MERCHANTS_AT_ONCE
                    ? Future.succeededFuture(List.<Call.Merchant>of())
                    : limited(
                        outbox.dueMerchants(pool, now, MERCHANTS_AT_ONCE - busy.size(), passBy)))
        .onSuccess(
            due -> {
              waiting = false;
              due.forEach(this::serve);
            })
        .onFailure(this::reportOnce)
        .onComplete(
            done -> {
              looking = false;
              arm();
            });
  }

  private void serve(Call.Merchant merchant) {
    UUID id = merchant.id().uuid();
    Future<?> served =
        runWhileDue(merchant)
            .onSuccess(done -> failing.succeeded(List.of(id)))
            .onFailure(
                error -> {
                  metrics.failed();
                  failing.failed(id, clock.systemNow());
                  LOG.error("deliveries of {} failed; they go on later", merchant.id(), error);
                });
    busy.put(id, served);
    served.onComplete(done -> busy.remove(id));
  }

  private Future<Void> runWhileDue(Call.Merchant merchant) {
    return deliveries
        .runOnce(merchant)
        .compose(
            attempts ->
                attempts == 0 || stopping ? Future.succeededFuture() : runWhileDue(merchant));
  }

  private void reportOnce(Throwable error) {
    if (!waiting) {
      waiting = true;
      LOG.warn("deliveries wait for the database: {}", error.getMessage());
    }
  }

  private <T> Future<T> limited(Future<T> answer) {
    return answer.timeout(pools.patienceMs(1), TimeUnit.MILLISECONDS);
  }

  @Override
  protected Future<? extends Reply> handle(DeliveryMessages<?> message, Call call) {
    return switch (message) {
      case RunDueDeliveries run -> runUntilNothingIsDue(call, 0).map(DeliveriesDone::new);
      case ReportPayment report -> Transactions.run(pool, tx -> reports.take(tx, call, report));
    };
  }

  /** What another instance is on is not done yet: waits for that too. */
  private Future<Long> runUntilNothingIsDue(Call call, long before) {
    if (call.expired()) {
      return FailureException.failed(
          new Failure.Unavailable(
              "still_working", "Gateways are still being asked. Ask again to wait for it.", 1));
    }
    return deliveries
        .runOnce(call.merchant())
        .compose(
            attempts -> {
              long sum = before + attempts;
              if (attempts > 0) {
                return runUntilNothingIsDue(call, sum);
              }
              return limited(outbox.isAnyDue(pool, call.merchantId(), clock.systemNow()))
                  .compose(
                      due ->
                          due
                              ? vertx
                                  .timer(DONE_ELSEWHERE_MS)
                                  .compose(waited -> runUntilNothingIsDue(call, sum))
                              : Future.succeededFuture(sum));
            });
  }
}
