package io.steelyard.operator;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.steelyard.cluster.ClusterState;
import io.steelyard.json.Json;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.sqlclient.Pool;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Liveness, readiness and metrics, for whoever can reach the management port. */
final class HealthRoutes {
  private static final long DATABASE_ANSWER_MS = 1500;

  private final Vertx vertx;
  private final Pool pool;
  private final BooleanSupplier serving;
  private final Supplier<Optional<ClusterState>> cluster;
  private final PrometheusMeterRegistry metrics;

  /**
   * @param serving whether all verticles are up and no stop has begun
   * @param cluster how this node of a cluster is; empty where it is in none
   */
  HealthRoutes(
      Vertx vertx,
      Pool pool,
      BooleanSupplier serving,
      Supplier<Optional<ClusterState>> cluster,
      PrometheusMeterRegistry metrics) {
    this.vertx = vertx;
    this.pool = pool;
    this.serving = serving;
    this.cluster = cluster;
    this.metrics = metrics;
  }

  void mount(Router router) {
    router.get("/health/live").handler(routing -> answer(routing, 200, Map.of("status", "up")));
    router.get("/health/ready").handler(this::ready);
    router.get("/metrics").handler(this::scrape);
  }

  private void ready(RoutingContext routing) {
    databaseAnswers()
        .onComplete(
            answered -> {
              boolean database = answered.succeeded();
              boolean serves = serving.getAsBoolean();
              Optional<ClusterState> node = cluster.get();
              boolean up = database && serves && node.map(ClusterState::joined).orElse(true);
              Map<String, Object> body = new LinkedHashMap<>();
              body.put("status", up ? "up" : "down");
              body.put("database", database ? "up" : "down");
              body.put("serving", serves);
              node.ifPresent(state -> body.put("cluster", state));
              answer(routing, up ? 200 : 503, body);
            });
  }

  private Future<?> databaseAnswers() {
    return pool.query("SELECT 1").execute().timeout(DATABASE_ANSWER_MS, TimeUnit.MILLISECONDS);
  }

  /** Collecting takes milliseconds, which is long for an event loop. */
  private void scrape(RoutingContext routing) {
    vertx
        .executeBlocking(() -> metrics.scrape(), false)
        .onSuccess(
            text ->
                routing
                    .response()
                    .putHeader("content-type", "text/plain; version=0.0.4; charset=utf-8")
                    .end(text))
        .onFailure(routing::fail);
  }

  private static void answer(RoutingContext routing, int status, Map<String, ?> body) {
    routing
        .response()
        .setStatusCode(status)
        .putHeader("content-type", "application/json")
        .putHeader("cache-control", "no-store")
        .end(Json.encode(body));
  }
}
