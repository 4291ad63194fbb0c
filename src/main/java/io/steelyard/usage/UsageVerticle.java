package io.steelyard.usage;

import io.micrometer.core.instrument.MeterRegistry;
import io.steelyard.bus.Address;
import io.steelyard.bus.Call;
import io.steelyard.bus.Reply;
import io.steelyard.bus.ServiceVerticle;
import io.steelyard.bus.SharedGauge;
import io.steelyard.config.Config;
import io.steelyard.db.Pools;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.usage.Flush.Entry;
import io.vertx.core.Future;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.tracing.TracingPolicy;
import io.vertx.sqlclient.Pool;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** Stores events and answers when they are safe. */
public final class UsageVerticle extends ServiceVerticle<UsageMessages<?>> {
  private static final DeliveryOptions LOCALLY =
      new DeliveryOptions().setLocalOnly(true).setTracingPolicy(TracingPolicy.IGNORE);

  // Where counting stands still, nobody tells when to go on.
  private static final long LOOK_AGAIN_MS = 100;

  private final Settings settings;
  private final Pools pools;
  private final MerchantClock clock;
  private final Config.Ingest config;
  private EventStore store;
  private Pool pool;
  private IngestBuffer buffer;
  private MerchantNumbers numbers;
  private FoldBacklog backlog;
  private boolean stopping;

  public UsageVerticle(Settings settings, Pools pools, MerchantClock clock, Config.Ingest config) {
    super(Address.USAGE, settings);
    this.settings = settings;
    this.pools = pools;
    this.clock = clock;
    this.config = config;
  }

  @Override
  protected Future<?> open() {
    MeterRegistry metrics = settings.metrics();
    pool = pools.ingest(vertx);
    backlog = FoldBacklog.of(vertx);
    HeldEvents held = HeldEvents.of(vertx);
    store = new EventStore(held, () -> held.keepsUp() ? backlog.holder() : null);
    Database database = new Database();
    vertx.eventBus().localConsumer(Address.EVENTS_COUNTED, message -> buffer.goOn());
    vertx.setPeriodic(LOOK_AGAIN_MS, timer -> buffer.goOn());
    numbers = new MerchantNumbers(database::merchantNumber);
    buffer =
        new IngestBuffer(
            config,
            database,
            settings.failures(),
            new IngestMetrics(metrics),
            SharedGauge.of(
                vertx,
                metrics,
                "steelyard.ingest.buffered",
                "Events received and not yet answered"),
            SharedGauge.of(
                vertx, metrics, "steelyard.ingest.buffered.bytes", "Their bytes, roughly"));
    return Future.succeededFuture();
  }

  /** What counts may stop before it has caught up, and nobody would then tell when to go on. */
  @Override
  protected void stopping() {
    stopping = true;
    buffer.goOn();
  }

  @Override
  protected Future<?> close() {
    return buffer.drain().compose(drained -> pool.close());
  }

  @Override
  protected Future<? extends Reply> handle(UsageMessages<?> request, Call call) {
    return switch (request) {
      case UsageMessages.Ingest ingest -> ingest(ingest, call);
    };
  }

  private Future<UsageMessages.Ingested> ingest(UsageMessages.Ingest ingest, Call call) {
    if (ingest.events().count() == 0) {
      return Future.succeededFuture(new UsageMessages.Ingested(0, 0));
    }
    UUID merchantId = call.merchantId();
    Integer number = numbers.known(merchantId);
    return number == null
        ? numbers.read(merchantId).compose(read -> buffer.add(merchantId, read, ingest.events()))
        : buffer.add(merchantId, number, ingest.events());
  }

  /**
   * With a limit of its own, so that a database that has fallen silent cannot keep the places of
   * flushes: the requests fail as not known to be stored, and their clients repeat them. What still
   * hangs in connections is bounded by the size of the pool.
   */
  private final class Database implements IngestBuffer.Surroundings {
    @Override
    public Future<List<Entry>> store(Flush flush) {
      return limited(store.store(pool, flush, clock.systemNow()), 2); // plain, then careful
    }

    private Future<Integer> merchantNumber(UUID merchantId) {
      return limited(store.merchantNumber(pool, merchantId));
    }

    @Override
    public Future<Long> countConflicts(List<Entry> duplicates) {
      return limited(store.countConflicts(pool, duplicates));
    }

    private <T> Future<T> limited(Future<T> statement) {
      return limited(statement, 1);
    }

    private <T> Future<T> limited(Future<T> statements, int count) {
      return statements.timeout(pools.patienceMs(count), TimeUnit.MILLISECONDS);
    }

    @Override
    public boolean holdsBack(int backlogEventsMax) {
      return !stopping && backlog.holdsBack(backlogEventsMax);
    }

    @Override
    public void stored(int events) {
      backlog.stored(events);
      vertx.eventBus().send(Address.EVENTS_STORED, null, LOCALLY);
    }
  }
}
