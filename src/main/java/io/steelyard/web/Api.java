package io.steelyard.web;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.opentelemetry.api.trace.Span;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.Waits;
import io.steelyard.config.Config;
import io.steelyard.domain.Id;
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
 * Takes requests through the same steps on both ports: count and refuse above the limit, admit,
 * wait for a place, read the body, run the operation, answer. One per HTTP verticle instance.
 */
public final class Api {
  private final Config config;
  private final List<ApiPath> paths;
  private final Gate gate;
  private final MeterRegistry metrics;
  private final BodyReader bodies;
  private final BodyBytes bodyBytes;
  private final ExchangeReader exchanges;
  private final Patience patience;
  private final Counter refused;
  private final MerchantShares shares;
  private final Waits places;
  private final AccessLog access;
  private int inFlight;
  private int absent;

  public Api(
      Vertx vertx, Config config, Gate gate, MeterRegistry metrics, List<Endpoint> endpoints) {
    this.config = config;
    this.paths = ApiPath.of(endpoints);
    this.gate = gate;
    this.metrics = metrics;
    this.bodies = new BodyReader(vertx, config.limits().bodyBytes(), config.timeouts().bodyMs());
    this.bodyBytes = new BodyBytes(config.limits().bodyBytesInFlight(), metrics);
    this.patience = new Patience(config.timeouts().idleMs());
    this.shares = MerchantShares.of(vertx, config.limits(), config.timeouts().placeMs(), metrics);
    this.places = Waits.of(vertx, config.timeouts().placeMs());
    this.exchanges = new ExchangeReader(config, bodies, places);
    this.access = new AccessLog(config.log());
    this.refused =
        Counter.builder("steelyard.http.refused")
            .description("Requests refused because too many were in flight")
            .register(metrics);
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
    if (inFlight >= config.limits().httpInFlightPerInstance()) {
      Problems.respond(request, arrival.requestId(), full());
      access.answered(arrival, request.response().getStatusCode());
      return;
    }
    inFlight++;
    run(arrival)
        .onComplete(
            outcome -> {
              inFlight--;
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

  private FailureException full() {
    refused.increment();
    return new Failure.Overloaded("overloaded", "The service is at its capacity. Try again.", 1)
        .asException();
  }

  private void answer(HttpServerRequest request, String requestId, AsyncResult<Answer> outcome) {
    if (outcome.succeeded()) {
      send(request.response(), outcome.result());
      return;
    }
    boolean closing = outcome.cause() instanceof Refusal refusal && refusal.isClosing();
    if (closing) {
      request.pause(); // nothing of what it still sends is wanted
    }
    Problems.respond(request, requestId, outcome.cause());
    if (!closing) {
      bodies.discard(request);
    }
  }

  private Future<Answer> run(Arrival arrival) {
    try {
      Future<Call> admitted = gate.admit(arrival.request(), arrival.requestId());
      if (!admitted.succeeded()) {
        arrival.request().pause(); // what follows must not be lost while its key is looked up
      }
      return admitted.compose(call -> runShared(arrival, call));
    } catch (RuntimeException e) {
      return Future.failedFuture(e);
    }
  }

  /** No merchant takes all of the capacity, so that one that floods does not shut out others. */
  private Future<Answer> runShared(Arrival arrival, Call call) {
    if (call.merchant() == null) {
      return runHolding(arrival, call, null);
    }
    Id merchant = call.merchant().id();
    arrival.isOf(merchant);
    long announced = BodyReader.announced(arrival.request());
    Place place = shares.enter(merchant, announced);
    if (place != null) {
      return runAt(place, arrival, call);
    }
    arrival.request().pause();
    return awaitPlace(arrival.request(), shares.await(merchant, announced, places))
        .compose(
            free -> {
              if (inFlight <= config.limits().httpInFlightPerInstance()) {
                return runAt(free, arrival, call);
              }
              free.leave();
              return Future.failedFuture(full());
            });
  }

  /** Meanwhile it is not in flight. */
  private Future<Place> awaitPlace(HttpServerRequest request, PlaceWait wait) {
    inFlight--;
    request.exceptionHandler(gone -> wait.giveUp());
    if (!wait.isInLine()) {
      bodies.drop(request);
    }
    return wait.place()
        .onComplete(done -> inFlight++)
        .onFailure(
            error -> {
              if (!request.response().closed()) {
                refused.increment();
              }
            });
  }

  private Future<Answer> runAt(Place place, Arrival arrival, Call call) {
    return runHolding(arrival, call, place).onComplete(done -> place.leave());
  }

  private Future<Answer> runHolding(Arrival arrival, Call call, Place place) {
    Absence absence = new Absence();
    BodyBytes.Held held = bodyBytes.hold(place, absence);
    return operate(arrival, call, held, absence).onComplete(done -> held.end());
  }

  /** While its body is silent, a request is not in flight. */
  private final class Absence implements BodyBytes.Absence {
    private boolean begun;

    @Override
    public boolean isPossible() {
      return absent < config.limits().connectionsPerInstance();
    }

    @Override
    public void begin() {
      begun = true;
      absent++;
      inFlight--;
    }

    /** What was read, unless there is no room for it any more. */
    private Future<Exchange> ended(AsyncResult<Exchange> read) {
      if (!begun) {
        return read.failed()
            ? Future.failedFuture(read.cause())
            : Future.succeededFuture(read.result());
      }
      absent--;
      inFlight++;
      if (read.failed()) {
        return Future.failedFuture(noted(read.cause()));
      }
      return inFlight > config.limits().httpInFlightPerInstance()
          ? Future.failedFuture(full())
          : Future.succeededFuture(read.result());
    }

    /** Who comes back and finds no place is refused like any other. */
    private Throwable noted(Throwable cause) {
      if (cause instanceof FailureException known
          && known.failure() instanceof Failure.Overloaded) {
        refused.increment();
      }
      return cause;
    }
  }

  private Future<Answer> operate(Arrival arrival, Call call, BodyBytes.Held held, Absence absence) {
    try {
      return exchanges
          .read(arrival, call, held)
          .transform(absence::ended)
          .compose(exchange -> perform(arrival.endpoint(), exchange));
    } catch (RuntimeException | Error e) { // what it holds would be held for ever
      return Future.failedFuture(e);
    }
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
