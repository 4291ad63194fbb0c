package io.steelyard;

import io.steelyard.billing.BillingVerticle;
import io.steelyard.bus.Bus;
import io.steelyard.bus.ServiceVerticle;
import io.steelyard.catalog.CatalogVerticle;
import io.steelyard.config.Config;
import io.steelyard.credit.CreditVerticle;
import io.steelyard.customer.CustomerVerticle;
import io.steelyard.db.Idempotency;
import io.steelyard.db.Pools;
import io.steelyard.db.SecretBox;
import io.steelyard.delivery.DeliveryVerticle;
import io.steelyard.gateway.GatewayVerticle;
import io.steelyard.http.HttpVerticle;
import io.steelyard.http.RateLimits;
import io.steelyard.integrity.IntegrityMetrics;
import io.steelyard.integrity.IntegrityVerticle;
import io.steelyard.invoice.InvoiceVerticle;
import io.steelyard.json.Schemas;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.merchant.MerchantVerticle;
import io.steelyard.operator.ManagementVerticle;
import io.steelyard.subscription.Boundaries;
import io.steelyard.subscription.SubscriptionVerticle;
import io.steelyard.usage.AggregationVerticle;
import io.steelyard.usage.ExplainVerticle;
import io.steelyard.usage.RetentionMetrics;
import io.steelyard.usage.RetentionVerticle;
import io.steelyard.usage.UsageVerticle;
import io.vertx.core.Deployable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The verticles. Management starts first, so that it answers for the process while the rest starts
 * and stops; then the features, side by side; then HTTP, when everything it asks is there; last
 * what begins to work by itself, which would take the processors from the start. They stop one
 * after the other, in the reverse of their order here.
 */
final class Deployment {
  /** The entry whose stop waits for the requests in flight. */
  static final String HTTP = "http";

  static final String MANAGEMENT = "management";

  private static final Set<String> CLOCKWORK = Set.of("aggregation", "billing", "delivery");
  private static final Logger LOG = LoggerFactory.getLogger(Deployment.class);
  private static final Duration START_LIMIT = Duration.ofSeconds(30);

  /**
   * @param instances 0 leaves it out of this process
   * @param verticle a new one at every call
   */
  record Entry(
      String name,
      int instances,
      ThreadingModel threadingModel,
      Supplier<? extends Deployable> verticle) {

    static Entry eventLoop(String name, int instances, Supplier<? extends Deployable> verticle) {
      return new Entry(name, instances, ThreadingModel.EVENT_LOOP, verticle);
    }

    static Entry worker(String name, int instances, Supplier<? extends Deployable> verticle) {
      return new Entry(name, instances, ThreadingModel.WORKER, verticle);
    }

    private boolean isAsked() {
      return !name.equals(MANAGEMENT) && !name.equals(HTTP) && !CLOCKWORK.contains(name);
    }
  }

  /** Why one entry did not start. */
  static final class Failed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Entry entry;

    private Failed(Entry entry, Throwable cause) {
      super("the verticle \"" + entry.name() + "\" did not start", cause);
      this.entry = entry;
    }

    Entry entry() {
      return entry;
    }
  }

  private record Running(Entry entry, String deploymentId) {}

  private final List<Entry> entries;
  private final List<Running> running = new ArrayList<>();

  Deployment(List<Entry> entries) {
    this.entries = List.copyOf(entries);
  }

  /** The whole service. */
  static Deployment of(Wiring wiring) {
    Config config = wiring.config();
    Config.Verticles count = config.verticles();
    Bus bus = wiring.bus();
    Pools pools = wiring.pools();
    ServiceVerticle.Settings settings = wiring.settings();
    MerchantClock clock = new MerchantClock(Clock.systemUTC());
    Boundaries boundaries = new Boundaries(clock, config.billing().usageGraceMs());
    Schemas document = Schemas.external();
    RateLimits limits = new RateLimits(config.limits(), wiring.metrics());
    IntegrityMetrics integrityMetrics = new IntegrityMetrics(wiring.metrics());
    RetentionMetrics retentionMetrics = new RetentionMetrics(wiring.metrics());
    SecretBox secrets = new SecretBox(config.security().encryptionKey());
    Idempotency idempotency = new Idempotency(clock::systemNow, secrets, wiring.metrics());
    return new Deployment(
        List.of(
            Entry.eventLoop(
                MANAGEMENT,
                1,
                () ->
                    new ManagementVerticle(
                        config,
                        bus,
                        pools,
                        wiring.metrics(),
                        wiring.readiness(),
                        port -> wiring.listening().accept(MANAGEMENT, port))),
            Entry.eventLoop(
                "gateway",
                count.gateway().instances(),
                () ->
                    new GatewayVerticle(
                        settings,
                        config,
                        pools,
                        clock,
                        bus,
                        secrets,
                        wiring.publicUrl(),
                        idempotency)),
            Entry.eventLoop(
                "merchant",
                count.merchant().instances(),
                () ->
                    new MerchantVerticle(
                        settings, pools, clock, idempotency, config.keys().lastUseMs())),
            Entry.eventLoop(
                "catalog",
                count.catalog().instances(),
                () -> new CatalogVerticle(settings, pools, clock)),
            Entry.eventLoop(
                "credit",
                count.credit().instances(),
                () -> new CreditVerticle(settings, pools, clock, idempotency)),
            Entry.eventLoop(
                "invoice",
                count.invoice().instances(),
                () -> new InvoiceVerticle(settings, pools, clock, idempotency)),
            Entry.eventLoop(
                "subscription",
                count.subscription().instances(),
                () -> new SubscriptionVerticle(settings, pools, clock, boundaries, idempotency)),
            Entry.eventLoop(
                "customer",
                count.customer().instances(),
                CustomerVerticle.instances(settings, pools, clock, boundaries, idempotency)),
            Entry.worker(
                "aggregation",
                count.aggregation().instances(),
                () ->
                    new AggregationVerticle(
                        pools,
                        clock,
                        config.aggregation(),
                        config.limits().eventDataBytes(),
                        config.database().distributed(),
                        wiring.metrics())),
            Entry.eventLoop(
                "billing",
                count.billing().instances(),
                () -> new BillingVerticle(settings, pools, clock, config.billing(), boundaries)),
            Entry.worker(
                "explain",
                count.explain().instances(),
                () -> new ExplainVerticle(settings, pools, clock, config.explain())),
            Entry.eventLoop(
                "retention",
                count.retention().instances(),
                () ->
                    new RetentionVerticle(
                        settings, pools, clock, config.events(), retentionMetrics)),
            Entry.worker(
                "integrity",
                count.integrity().instances(),
                () ->
                    new IntegrityVerticle(
                        settings,
                        pools,
                        clock,
                        config.integrity(),
                        config.limits().eventDataBytes(),
                        config.database().distributed(),
                        integrityMetrics)),
            Entry.eventLoop(
                "delivery",
                count.delivery().instances(),
                () -> new DeliveryVerticle(settings, pools, clock, bus, config.delivery())),
            Entry.eventLoop(
                "usage",
                count.usage().instances(),
                () -> new UsageVerticle(settings, pools, clock, config.ingest())),
            Entry.eventLoop(
                HTTP,
                count.http().instances(),
                () ->
                    new HttpVerticle(
                        config,
                        bus,
                        wiring.metrics(),
                        document,
                        limits,
                        wiring.readiness().draining(),
                        port -> wiring.listening().accept(HTTP, port)))));
  }

  /** A failure leaves those running that have started. */
  Future<Void> start(Vertx vertx) {
    return start(vertx, entry -> entry.name().equals(MANAGEMENT))
        .compose(answers -> start(vertx, Entry::isAsked))
        .compose(served -> start(vertx, entry -> entry.name().equals(HTTP)))
        .compose(listening -> start(vertx, entry -> CLOCKWORK.contains(entry.name())));
  }

  private Future<Void> start(Vertx vertx, Predicate<Entry> which) {
    List<Future<Running>> starting =
        entries.stream()
            .filter(entry -> entry.instances() > 0)
            .filter(which)
            .map(entry -> start(vertx, entry))
            .toList();
    return Future.join(starting)
        .<Void>mapEmpty()
        .onComplete(
            ended ->
                starting.stream()
                    .filter(Future::succeeded)
                    .forEach(started -> running.add(started.result())));
  }

  private static Future<Running> start(Vertx vertx, Entry entry) {
    DeploymentOptions options =
        new DeploymentOptions()
            .setInstances(entry.instances())
            .setThreadingModel(entry.threadingModel());
    if (entry.threadingModel() == ThreadingModel.WORKER) {
      options.setWorkerPoolName("steelyard-" + entry.name()).setWorkerPoolSize(entry.instances());
    }
    return vertx
        .deployVerticle(entry.verticle(), options)
        .timeout(START_LIMIT.toMillis(), TimeUnit.MILLISECONDS)
        .recover(error -> Future.failedFuture(new Failed(entry, error)))
        .map(
            deploymentId -> {
              LOG.debug("started {} x{}", entry.name(), entry.instances());
              return new Running(entry, deploymentId);
            });
  }

  /**
   * Adds the stop of every entry that runs, from the last to the first: HTTP with its own limit,
   * and one limit for all that no request needs any more.
   */
  void addStopSteps(Vertx vertx, Shutdown shutdown, Duration httpLimit, Duration othersLimit) {
    Shutdown others = new Shutdown();
    running.sort(Comparator.comparing(each -> entries.indexOf(each.entry())));
    while (!running.isEmpty()) {
      Running last = running.removeLast();
      boolean http = last.entry().name().equals(HTTP);
      (http ? shutdown : others)
          .step(
              last.entry().name(),
              http ? httpLimit : othersLimit,
              () -> vertx.undeploy(last.deploymentId()));
    }
    shutdown.step("the verticles", othersLimit, others::run);
  }
}
