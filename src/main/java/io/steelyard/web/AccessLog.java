package io.steelyard.web;

import io.steelyard.config.Config;
import io.steelyard.domain.Id;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One line for a request that was answered: whose it was, what was asked by its route, and how it
 * ended. Nothing that a client has written is in it but a request id of harmless characters.
 */
final class AccessLog {
  /** In place of a status: the client left before there was an answer. */
  static final int GONE = 0;

  private static final Logger LOG = LoggerFactory.getLogger("access");
  private static final long NANOS_PER_MICRO = 1000;
  private static final double MICROS_PER_MS = 1000.0;
  private static final int FAILED_FROM = 400;

  /** What comes so often that its lines would be nearly all there are. */
  private static final Set<String> CONSTANT =
      Set.of("/external/event", "/external/event/", "/health/live", "/health/ready", "/metrics");

  private final boolean failed;
  private final boolean usual;
  private final boolean all;

  AccessLog(Config.Log config) {
    all = config.access().equals("all");
    usual = all || config.access().equals("usual");
    failed = usual || config.access().equals("failed");
  }

  /** A request of the API. */
  void answered(Arrival arrival, int status) {
    write(
        arrival.request(),
        arrival.requestId(),
        arrival.endpoint().path(),
        arrival.merchantId(),
        status,
        arrival.startedAtNanos());
  }

  /**
   * A request refused before anybody was asked.
   *
   * @param route null where none was found for it
   */
  void refused(HttpServerRequest request, String requestId, String route, long startedAtNanos) {
    int status = request.response().getStatusCode();
    write(request, requestId, route, null, status, startedAtNanos);
  }

  /** Has every request of the router logged at its end; to be called before its other routes. */
  void mount(Router router) {
    router
        .route()
        .handler(
            routing -> {
              long startedAtNanos = System.nanoTime();
              routing.addEndHandler(ended -> answered(routing, ended.succeeded(), startedAtNanos));
              routing.next();
            });
  }

  private void answered(RoutingContext routing, boolean sent, long startedAtNanos) {
    HttpServerRequest request = routing.request();
    Route route = routing.currentRoute();
    write(
        request,
        Api.requestId(request),
        route == null ? null : route.getPath(),
        null,
        sent ? request.response().getStatusCode() : GONE,
        startedAtNanos);
  }

  private void write(
      HttpServerRequest request,
      String requestId,
      String route,
      Id merchantId,
      int status,
      long startedAtNanos) {
    if (!wants(route, status) || !LOG.isInfoEnabled()) {
      return;
    }
    long micros = (System.nanoTime() - startedAtNanos) / NANOS_PER_MICRO;
    HttpMethod method = request.method();
    LOG.atInfo()
        .addKeyValue("requestId", requestId)
        .addKeyValue("merchantId", merchantId == null ? null : merchantId.toString())
        .addKeyValue("method", HttpMethod.values().contains(method) ? method.name() : "other")
        .addKeyValue("route", route)
        .addKeyValue("status", status == GONE ? null : status)
        .addKeyValue("durationMs", micros / MICROS_PER_MS)
        .addKeyValue("requestBytes", request.bytesRead())
        .addKeyValue("responseBytes", request.response().bytesWritten())
        .log(status == GONE ? "gone" : "answered");
  }

  private boolean wants(String route, int status) {
    boolean wrong = status == GONE || status >= FAILED_FROM;
    return wrong ? failed : usual && (all || route == null || !CONSTANT.contains(route));
  }
}
