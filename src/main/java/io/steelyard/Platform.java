package io.steelyard;

import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.micrometer.MetricsDomain;
import io.vertx.micrometer.MicrometerMetricsFactory;
import io.vertx.micrometer.MicrometerMetricsOptions;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** What everything runs on: the event loops and the metrics. */
record Platform(Vertx vertx, PrometheusMeterRegistry metrics) {
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

  static Platform open() {
    PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    VertxOptions options =
        new VertxOptions()
            .setPreferNativeTransport(true)
            .setEventLoopPoolSize(eventLoops())
            .setMaxEventLoopExecuteTime(EVENT_LOOP_WARNING_MS)
            .setMaxEventLoopExecuteTimeUnit(TimeUnit.MILLISECONDS)
            .setBlockedThreadCheckInterval(BLOCKED_CHECK_MS)
            .setBlockedThreadCheckIntervalUnit(TimeUnit.MILLISECONDS)
            // crash recovery and migrations run on a worker and may take this long
            .setMaxWorkerExecuteTime(WORKER_WARNING_S)
            .setMaxWorkerExecuteTimeUnit(TimeUnit.SECONDS)
            .setMetricsOptions(
                new MicrometerMetricsOptions()
                    .setEnabled(true)
                    .setJvmMetricsEnabled(true)
                    .setDisabledMetricsCategories(COUNTED_ELSEWHERE));
    Vertx vertx =
        Vertx.builder().with(options).withMetrics(new MicrometerMetricsFactory(metrics)).build();
    EventLoopLag.watch(vertx, metrics);
    new FileDescriptorMetrics().bindTo(metrics);
    new UptimeMetrics().bindTo(metrics);
    return new Platform(vertx, metrics);
  }

  /**
   * One for each processor, not two: verticles of as many instances then have one on every loop, so
   * that a request is answered on the thread that read it, without a wake-up of another on the way.
   */
  private static int eventLoops() {
    return Math.max(2, Runtime.getRuntime().availableProcessors());
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
              vertx.close().onComplete(closed -> failed.fail(error));
              return failed.future();
            });
  }
}
