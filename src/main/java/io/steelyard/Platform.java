package io.steelyard;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.steelyard.cluster.Membership;
import io.steelyard.config.Config;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxBuilder;
import io.vertx.core.VertxOptions;
import io.vertx.micrometer.MetricsDomain;
import io.vertx.micrometer.MicrometerMetricsFactory;
import io.vertx.micrometer.MicrometerMetricsOptions;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What everything runs on: the event loops, the metrics and the traces.
 *
 * @param membership in the cluster that {@code vertx} is a node of; null for none
 * @param traces null where none are wanted
 */
record Platform(
    Vertx vertx, PrometheusMeterRegistry metrics, Membership membership, Traces traces) {
  private static final Logger LOG = LoggerFactory.getLogger(Platform.class);
  private static final long EVENT_LOOP_WARNING_MS = 200;
  private static final long BLOCKED_CHECK_MS = 500;
  private static final long WORKER_WARNING_S = 90;

  /**
   * What Vert.x would count of every request and every packet again, at several microseconds of
   * each: requests by route and status are counted where they are answered.
   */
  private static final Set<String> COUNTED_ELSEWHERE =
      Set.of(
          MetricsDomain.HTTP_SERVER.toCategory(),
          MetricsDomain.NET_SERVER.toCategory(),
          MetricsDomain.NET_CLIENT.toCategory(),
          MetricsDomain.EVENT_BUS.toCategory());

  /** In no cluster, and without traces. */
  static Platform open() {
    return alone(null);
  }

  private static Platform alone(Traces traces) {
    PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    Vertx vertx = builder(options(), metrics, traces).build();
    return new Platform(watched(vertx, metrics), metrics, null, traces);
  }

  private static VertxBuilder builder(
      VertxOptions options, PrometheusMeterRegistry metrics, Traces traces) {
    VertxBuilder builder =
        Vertx.builder().with(options).withMetrics(new MicrometerMetricsFactory(metrics));
    return traces == null ? builder : builder.withTracer(traces.factory());
  }

  private static Vertx watched(Vertx vertx, PrometheusMeterRegistry metrics) {
    EventLoopLag.watch(vertx, metrics);
    new FileDescriptorMetrics().bindTo(metrics);
    new UptimeMetrics().bindTo(metrics);
    LogQueue.measure(metrics);
    return vertx;
  }

  private static VertxOptions options() {
    return new VertxOptions()
        .setPreferNativeTransport(true)
        .setEventLoopPoolSize(eventLoops())
        .setMaxEventLoopExecuteTime(EVENT_LOOP_WARNING_MS)
        .setMaxEventLoopExecuteTimeUnit(TimeUnit.MILLISECONDS)
        .setBlockedThreadCheckInterval(BLOCKED_CHECK_MS)
        .setBlockedThreadCheckIntervalUnit(TimeUnit.MILLISECONDS)
        // joining a cluster runs on a worker and may take this long
        .setMaxWorkerExecuteTime(WORKER_WARNING_S)
        .setMaxWorkerExecuteTimeUnit(TimeUnit.SECONDS)
        .setMetricsOptions(
            new MicrometerMetricsOptions()
                .setEnabled(true)
                // of one name, all of a process would share the first one's registry
                .setRegistryName(UUID.randomUUID().toString())
                .setJvmMetricsEnabled(true)
                .setDisabledMetricsCategories(COUNTED_ELSEWHERE));
  }

  /**
   * One for each processor, not two: verticles of as many instances then have one on every loop, so
   * that a request is answered on the thread that read it, without a wake-up of another on the way.
   */
  private static int eventLoops() {
    return Math.max(2, Runtime.getRuntime().availableProcessors());
  }

  /** This one, or in its place one with traces, or a node of the cluster, where that is wanted. */
  Future<Platform> configured(Config config) {
    boolean clustered = config.cluster().enabled();
    if (!clustered && !config.tracing().enabled()) {
      return Future.succeededFuture(this);
    }
    Future<Platform> wanted =
        clustered
            ? detached(vertx.executeBlocking(() -> Traces.of(config.tracing())))
                .compose(
                    traces ->
                        detached(vertx.executeBlocking(() -> join(config)))
                            .compose(membership -> clustered(membership, traces)))
            : detached(vertx.executeBlocking(() -> alone(Traces.of(config.tracing()))));
    return wanted
        .recover(error -> Future.failedFuture(Ports.explained(error, config)))
        // not waited for: it ends on a thread of Netty's that knows no class loader
        .onSuccess(node -> vertx.close());
  }

  private static Membership join(Config config) {
    long startedAt = System.nanoTime();
    Membership joined = Membership.join(config.cluster());
    LOG.info(
        "Joined the cluster in {} ms, of {} nodes now",
        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startedAt),
        joined.members());
    return joined;
  }

  private static Future<Platform> clustered(Membership membership, Traces traces) {
    PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    Gauge.builder("steelyard.cluster.members", membership, Membership::members)
        .description("Nodes of the cluster that this one knows, itself included")
        .register(metrics);
    Future<Vertx> vertx =
        builder(options().setEventBusOptions(membership.eventBus()), metrics, traces)
            .withClusterManager(membership.vertxManager())
            .buildClustered();
    return detached(vertx)
        .map(node -> new Platform(watched(node, metrics), metrics, membership, traces))
        .recover(error -> left(membership, traces).transform(left -> Future.failedFuture(error)));
  }

  /** Vert.x first, which still tells the others that it goes. */
  Future<Void> close() {
    return detached(vertx.close()).eventually(() -> left(membership, traces));
  }

  private static Future<Void> left(Membership membership, Traces traces) {
    if (membership == null && traces == null) {
      return Future.succeededFuture();
    }
    return Future.fromCompletionStage(
        CompletableFuture.runAsync(
            () -> {
              try {
                if (membership != null) {
                  membership.leave();
                }
              } finally {
                if (traces != null) {
                  traces.close();
                }
              }
            }));
  }

  /**
   * The same outcome without a context of Vert.x: what is chained to it also runs when no event
   * loop is left to run it.
   */
  static <T> Future<T> detached(Future<T> future) {
    return Future.fromCompletionStage(future.toCompletionStage());
  }

  /** What {@code start} gives, or its failure once the platform is closed. */
  <T> Future<T> closedOnFailure(Future<T> start) {
    return detached(start)
        .recover(
            error -> {
              Promise<T> failed = Promise.promise();
              close().onComplete(closed -> failed.fail(error));
              return failed.future();
            });
  }
}
