package io.steelyard.operator;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.steelyard.json.Json;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.sqlclient.Pool;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Liveness, readiness and metrics, for whoever can reach the management port. */
final class HealthRoutes {
  private static final long DATABASE_ANSWER_MS = 1500;

  private final Vertx vertx;
  private final Pool pool;
  private final BooleanSupplier serving;
  private final PrometheusMeterRegistry metrics;

  /**
   * @param serving whether all verticles are up and no stop has begun
   */
  HealthRoutes(Vertx vertx, Pool pool, BooleanSupplier serving, PrometheusMeterRegistry metrics) {
    this.vertx = vertx;
    this.pool = pool;
    this.serving = serving;
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
              boolean up = database && serving.getAsBoolean();
              answer(
                  routing,
                  up ? 200 : 503,
                  Map.of(
                      "status", up ? "up" : "down",
                      "database", database ? "up" : "down",
                      "serving", serving.getAsBoolean()));
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
