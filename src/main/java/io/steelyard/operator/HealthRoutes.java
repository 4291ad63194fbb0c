package io.steelyard.operator;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.steelyard.cluster.ClusterState;
import io.steelyard.json.Json;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Tuple;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Liveness, readiness and metrics, for whoever can reach the management port. */
final class HealthRoutes {
  private static final long DATABASE_ANSWER_MS = 1500;
  private static final String UNDEFINED_TABLE = "42P01";
  private static final String SCHEMA_IS_THERE =
      """
      SELECT EXISTS (SELECT FROM flyway_schema_history WHERE version = $1 AND success)
      """;

  private final Vertx vertx;
  private final Pool pool;
  private final Readiness readiness;
  private final PrometheusMeterRegistry metrics;

  HealthRoutes(Vertx vertx, Pool pool, Readiness readiness, PrometheusMeterRegistry metrics) {
    this.vertx = vertx;
    this.pool = pool;
    this.readiness = readiness;
    this.metrics = metrics;
  }

  void mount(Router router) {
    router.get("/health/live").handler(routing -> answer(routing, 200, Map.of("status", "up")));
    router.get("/health/ready").handler(this::ready);
    router.get("/metrics").handler(this::scrape);
  }

  private void ready(RoutingContext routing) {
    schemaIsThere()
        .onComplete(
            looked -> {
              boolean schema = looked.succeeded() && looked.result();
              boolean serving = readiness.serving().getAsBoolean();
              Optional<ClusterState> node = readiness.cluster().get();
              boolean up = schema && serving && node.map(ClusterState::joined).orElse(true);
              Map<String, Object> body = new LinkedHashMap<>();
              body.put("status", up ? "up" : "down");
              body.put("database", looked.succeeded() ? "up" : "down");
              if (looked.succeeded()) {
                body.put("schema", schema ? "up" : "down");
              }
              body.put("serving", serving);
              body.put("phase", readiness.phase());
              node.ifPresent(state -> body.put("cluster", state));
              answer(routing, up ? 200 : 503, body);
            });
  }

  /** Whether the database has what this build needs; fails where it does not answer. */
  private Future<Boolean> schemaIsThere() {
    return pool.preparedQuery(SCHEMA_IS_THERE)
        .execute(Tuple.of(readiness.schemaVersion()))
        .map(rows -> rows.iterator().next().getBoolean(0))
        .recover(
            error ->
                error instanceof PgException known && UNDEFINED_TABLE.equals(known.getSqlState())
                    ? Future.succeededFuture(false)
                    : Future.failedFuture(error))
        .timeout(DATABASE_ANSWER_MS, TimeUnit.MILLISECONDS);
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
