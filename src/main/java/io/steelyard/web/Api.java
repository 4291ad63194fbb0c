package io.steelyard.web;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.opentelemetry.api.trace.Span;
import io.steelyard.bus.Call;
import io.steelyard.config.Config;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.internal.ContextInternal;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The paths of one port, and the steps that each request of theirs takes: let it in, read its body,
 * run the operation, answer. One per HTTP verticle instance.
 */
public final class Api {
  private final List<ApiPath> paths;
  private final Admission admission;
  private final MeterRegistry metrics;
  private final ExchangeReader exchanges;
  private final Patience patience;
  private final AccessLog access;

  public Api(
      Vertx vertx, Config config, Gate gate, MeterRegistry metrics, List<Endpoint> endpoints) {
    this.paths = ApiPath.of(endpoints);
    this.metrics = metrics;
    this.admission = new Admission(vertx, config, gate, new UnwantedBody(vertx, config), metrics);
    this.exchanges =
        new ExchangeReader(
            config, new BodyReader(vertx, config.limits().bodyBytes(), config.timeouts().bodyMs()));
    this.patience = new Patience(config.timeouts().idleMs());
    this.access = new AccessLog(config.log());
  }

  /**
   * Takes a request of one of the API's paths: the first that matches, in the order given. A path
   * answers 405 with Allow for the methods it does not have.
   *
   * @return whether it was one
   */
  boolean handle(HttpServerRequest request, String requestId) {
    String raw = request.path();
    if (raw == null) {
      return false;
    }
    long startedAtNanos = System.nanoTime();
    for (ApiPath path : paths) {
      String[] values = path.template().match(raw);
      if (values != null) {
        ApiPath.Served served = path.served(request.method());
        if (served == null) {
          Problems.respond(request, requestId, path.methodRefusal(request.method()));
          access.refused(request, requestId, path.template().text(), startedAtNanos);
        } else {
          serve(
              new Arrival(
                  served,
                  path.template().parameters(),
                  values,
                  request,
                  requestId,
                  startedAtNanos));
        }
        return true;
      }
    }
    return false;
  }

  /** Begins every router, so that each of its requests gets its line in the log. */
  public static void begin(Router router, Config config) {
    new AccessLog(config.log()).mount(router);
  }

  /** Ends every router: what nothing matched is 404, what broke is 500. */
  public static void finish(Router router) {
    router.route().last().handler(Api::refusePath);
    router.errorHandler(404, Api::refusePath); // of a target that is no path, such as *
    router.errorHandler(
        500,
        routing ->
            Problems.respond(routing.request(), requestId(routing.request()), routing.failure()));
    router.errorHandler(
        400,
        routing ->
            Problems.respond(
                routing.request(),
                requestId(routing.request()),
                Refusal.closing(400, "malformed_request", "The request cannot be read.")));
  }

  private static void refusePath(RoutingContext routing) {
    Problems.respond(
        routing.request(),
        requestId(routing.request()),
        Refusal.of(404, "route_not_found", "There is nothing at this path."));
  }

  /** The id that the answer to this request carries. */
  public static String requestId(HttpServerRequest request) {
    return request.response().headers().get("x-request-id");
  }

  private void serve(Arrival arrival) {
    HttpServerRequest request = arrival.request();
    nameSpan(arrival);
    InFlight.Slot slot = admission.enter();
    if (slot == null) {
      Problems.respond(request, arrival.requestId(), admission.refusal());
      access.answered(arrival, request.response().getStatusCode());
      return;
    }
    admission
        .during(arrival, slot, (call, held) -> operate(arrival, call, held))
        .onComplete(
            outcome -> {
              boolean gone = request.response().closed();
              answer(request, arrival.requestId(), outcome);
              observe(arrival, gone ? AccessLog.GONE : request.response().getStatusCode());
            });
  }

  /** In a trace the request goes by its route: its own words may be those of a secret. */
  private static void nameSpan(Arrival arrival) {
    if (ContextInternal.current().tracer() == null) {
      return;
    }
    Endpoint endpoint = arrival.endpoint();
    Span.current()
        .updateName(endpoint.method().name() + " " + endpoint.path())
        .setAttribute("http.route", endpoint.path())
        .setAttribute("http.url", endpoint.path())
        .setAttribute("url.path", endpoint.path());
  }

  private void answer(HttpServerRequest request, String requestId, AsyncResult<Answer> outcome) {
    if (outcome.succeeded()) {
      send(request.response(), outcome.result());
      return;
    }
    if (outcome.cause() instanceof Refusal refusal && refusal.isClosing()) {
      request.pause(); // nothing of what it still sends is wanted
    }
    Problems.respond(request, requestId, outcome.cause());
  }

  private Future<Answer> operate(Arrival arrival, Call call, Held held) {
    return exchanges
        .read(arrival, call, held)
        .compose(exchange -> perform(arrival.endpoint(), exchange));
  }

  private Future<Answer> perform(Endpoint endpoint, Exchange exchange) {
    if (endpoint.timeoutMs() == null) {
      return endpoint.operation().handle(exchange);
    }
    HttpConnection connection = exchange.request().connection();
    patience.begin(connection, endpoint.timeoutMs());
    return Future.succeededFuture(exchange)
        .compose(endpoint.operation()::handle) // which may throw
        .onComplete(done -> patience.end(connection));
  }

  private static void send(HttpServerResponse response, Answer answer) {
    if (response.ended() || response.closed()) {
      return; // the client has gone
    }
    response.setStatusCode(answer.status());
    if (answer.replayed()) {
      response.putHeader(IdempotencyHeader.REPLAYED, "true");
    }
    if (answer.body() == null) {
      response.end();
    } else {
      response.putHeader(HttpHeaders.CONTENT_TYPE, answer.contentType()).end(answer.body());
    }
  }

  private void observe(Arrival arrival, int status) {
    long nanos = System.nanoTime() - arrival.startedAtNanos();
    Endpoint endpoint = arrival.endpoint();
    arrival
        .served()
        .timers()
        .computeIfAbsent(
            status,
            each ->
                Timer.builder("steelyard.http.requests")
                    .description("Requests by route and status")
                    .tag("method", endpoint.method().name())
                    .tag("route", endpoint.path())
                    .tag("status", each == AccessLog.GONE ? "gone" : Integer.toString(each))
                    .register(metrics))
        .record(nanos, TimeUnit.NANOSECONDS);
    access.answered(arrival, status);
  }
}
