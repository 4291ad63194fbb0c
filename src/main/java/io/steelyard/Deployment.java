package io.steelyard;

import io.steelyard.Entry.Kind;
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
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The verticles. Those of a {@link Kind} start side by side, kind after kind. They stop one after
 * the other, in the order of their kinds then, and within it in the reverse of their order here.
 */
final class Deployment {
  static final String HTTP = "http";

  static final String MANAGEMENT = "management";

  private static final Logger LOG = LoggerFactory.getLogger(Deployment.class);
  private static final Duration START_LIMIT = Duration.ofSeconds(30);

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
                Kind.MANAGEMENT,
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
                Kind.FEATURE,
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
                Kind.FEATURE,
                "merchant",
                count.merchant().instances(),
                () ->
                    new MerchantVerticle(
                        settings, pools, clock, idempotency, config.keys().lastUseMs())),
            Entry.eventLoop(
                Kind.FEATURE,
                "catalog",
                count.catalog().instances(),
                () -> new CatalogVerticle(settings, pools, clock)),
            Entry.eventLoop(
                Kind.FEATURE,
                "credit",
                count.credit().instances(),
                () -> new CreditVerticle(settings, pools, clock, idempotency)),
            Entry.eventLoop(
                Kind.FEATURE,
                "invoice",
                count.invoice().instances(),
                () -> new InvoiceVerticle(settings, pools, clock, idempotency)),
            Entry.eventLoop(
                Kind.FEATURE,
                "subscription",
                count.subscription().instances(),
                () -> new SubscriptionVerticle(settings, pools, clock, boundaries, idempotency)),
            Entry.eventLoop(
                Kind.FEATURE,
                "customer",
                count.customer().instances(),
                CustomerVerticle.instances(settings, pools, clock, boundaries, idempotency)),
            Entry.worker(
                Kind.CLOCKWORK,
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
                Kind.CLOCKWORK,
                "billing",
                count.billing().instances(),
                () -> new BillingVerticle(settings, pools, clock, config.billing(), boundaries)),
            Entry.worker(
                Kind.FEATURE,
                "explain",
                count.explain().instances(),
                () -> new ExplainVerticle(settings, pools, clock, config.explain())),
            Entry.eventLoop(
                Kind.FEATURE,
                "retention",
                count.retention().instances(),
                () ->
                    new RetentionVerticle(
                        settings, pools, clock, config.events(), retentionMetrics)),
            Entry.worker(
                Kind.FEATURE,
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
                Kind.CLOCKWORK,
                "delivery",
                count.delivery().instances(),
                () -> new DeliveryVerticle(settings, pools, clock, bus, config.delivery())),
            Entry.eventLoop(
                Kind.FEATURE,
                "usage",
                count.usage().instances(),
                () -> new UsageVerticle(settings, pools, clock, config.ingest())),
            Entry.eventLoop(
                Kind.EDGE,
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
    Future<Void> started = Future.succeededFuture();
    for (Kind kind : Kind.values()) {
      started = started.compose(before -> start(vertx, kind));
    }
    return started;
  }

  private Future<Void> start(Vertx vertx, Kind kind) {
    List<Future<Running>> starting =
        entries.stream()
            .filter(entry -> entry.kind() == kind && entry.instances() > 0)
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
   * Adds the stop of every entry that runs: what takes requests first and each with its own limit,
   * and one limit for all that no request needs any more.
   */
  void addStopSteps(Vertx vertx, Shutdown shutdown, Duration edgeLimit, Duration othersLimit) {
    Shutdown others = new Shutdown();
    running.sort(
        Comparator.<Running>comparingInt(each -> each.entry().kind().stops())
            .thenComparing(each -> entries.indexOf(each.entry()), Comparator.reverseOrder()));
    for (Running each : running) {
      boolean edge = each.entry().kind() == Kind.EDGE;
      (edge ? shutdown : others)
          .step(
              each.entry().name(),
              edge ? edgeLimit : othersLimit,
              () -> vertx.undeploy(each.deploymentId()));
    }
    running.clear();
    shutdown.step("the verticles", othersLimit, others::run);
  }
}
