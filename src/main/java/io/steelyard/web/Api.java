package io.steelyard.web;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.config.Config;
import io.steelyard.json.StrictJson;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes requests through the same steps on both ports: count and refuse above the limit, admit,
 * read the body, run the operation, answer. One per HTTP verticle instance.
 */
public final class Api {
  private static final Logger LOG = LoggerFactory.getLogger(Api.class);

  /** In place of a status: the client left before there was an answer. */
  private static final int GONE = 0;

  private final Config config;
  private final Gate gate;
  private final MeterRegistry metrics;
  private final BodyReader bodies;
  private final BodyBytes bodyBytes;
  private final StrictJson json;
  private final Patience patience;
  private final Counter refused;
  private int inFlight;

  public Api(Vertx vertx, Config config, Gate gate, MeterRegistry metrics) {
    this.config = config;
    this.gate = gate;
    this.metrics = metrics;
    this.bodies = new BodyReader(vertx, config.limits().bodyBytes(), config.timeouts().bodyMs());
    this.bodyBytes = new BodyBytes(config.limits().bodyBytesInFlight(), metrics);
    this.json = new StrictJson(config.limits());
    this.patience = new Patience(config.timeouts().idleMs());
    this.refused =
        Counter.builder("steelyard.http.refused")
            .description("Requests refused because too many were in flight")
            .register(metrics);
  }

  /** Mounts the endpoints: each path answers 405 with Allow for the methods it does not have. */
  public void mount(Router router, List<Endpoint> endpoints) {
    Map<String, List<Endpoint>> byPath =
        endpoints.stream()
            .collect(
                Collectors.groupingBy(Endpoint::path, LinkedHashMap::new, Collectors.toList()));
    byPath.forEach(
        (path, methods) -> {
          Pattern pattern = methods.get(0).pattern();
          for (Endpoint endpoint : methods) {
            Served served = new Served(endpoint, pattern, endpoint.parameters(), new HashMap<>());
            router
                .routeWithRegex(endpoint.method(), pattern.pattern())
                .useNormalizedPath(false)
                .handler(routing -> serve(served, routing));
          }
          router
              .routeWithRegex(pattern.pattern())
              .useNormalizedPath(false)
              .handler(routing -> refuseMethod(routing, methods));
        });
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

  /** An endpoint as mounted, with a timer for each status it has answered. */
  private record Served(
      Endpoint endpoint, Pattern pattern, List<String> parameters, Map<Integer, Timer> timers) {}

  private static void refuseMethod(RoutingContext routing, List<Endpoint> methods) {
    TreeSet<String> allowed = new TreeSet<>();
    methods.forEach(endpoint -> allowed.add(endpoint.method().name()));
    Problems.respond(
        routing.request(),
        requestId(routing.request()),
        Refusal.of(405, "method_not_allowed", "This path has no " + methodName(routing) + ".")
            .with("allow", String.join(", ", allowed)));
  }

  private static String methodName(RoutingContext routing) {
    HttpMethod method = routing.request().method();
    return HttpMethod.values().contains(method) ? method.name() : "such method";
  }

  /** The id that the answer to this request carries. */
  public static String requestId(HttpServerRequest request) {
    return request.response().headers().get("x-request-id");
  }

  private void serve(Served served, RoutingContext routing) {
    HttpServerRequest request = routing.request();
    String requestId = requestId(request);
    long startedAt = System.nanoTime();
    if (inFlight >= config.limits().httpInFlightPerInstance()) {
      refused.increment();
      Failure full =
          new Failure.Overloaded("overloaded", "The service is at its capacity. Try again.", 1);
      Problems.respond(request, requestId, full.asException());
      return;
    }
    inFlight++;
    request.pause();
    BodyBytes.Share share = bodyBytes.share();
    run(served, request, requestId, share)
        .onComplete(
            outcome -> {
              inFlight--;
              share.end();
              if (served.endpoint().timeoutMs() != null) {
                patience.end(request.connection());
              }
              boolean gone = request.response().closed();
              if (outcome.succeeded()) {
                send(request.response(), outcome.result());
              } else {
                Problems.respond(request, requestId, outcome.cause());
                if (!(outcome.cause() instanceof Refusal refusal && refusal.isClosing())) {
                  bodies.discard(request);
                }
              }
              int status = gone ? GONE : request.response().getStatusCode();
              observe(served, status, startedAt, requestId);
            });
  }

  private Future<Answer> run(
      Served served, HttpServerRequest request, String requestId, BodyBytes.Share share) {
    try {
      return gate.admit(request, requestId)
          .compose(call -> read(served, request, call, share))
          .compose(served.endpoint().operation()::handle);
    } catch (RuntimeException e) {
      return Future.failedFuture(e);
    }
  }

  private Future<Exchange> read(
      Served served, HttpServerRequest request, Call call, BodyBytes.Share share) {
    Endpoint.Body wanted = served.endpoint().body();
    if (wanted == Endpoint.Body.NONE) {
      request.resume();
      return Future.succeededFuture(exchange(served, request, call, null, null));
    }
    if (wanted == Endpoint.Body.OPTIONAL_JSON && hasNoBody(request)) {
      request.resume();
      return Future.succeededFuture(exchange(served, request, call, null, Map.of()));
    }
    String problem = contentTypeProblem(request, wanted);
    if (problem != null) {
      return Refusal.closing(415, "unsupported_media_type", problem).failed();
    }
    return bodies
        .read(request, share)
        .map(body -> exchange(served, request, call, body, isParsed(wanted) ? tree(body) : null));
  }

  private static boolean isParsed(Endpoint.Body wanted) {
    return wanted == Endpoint.Body.JSON || wanted == Endpoint.Body.OPTIONAL_JSON;
  }

  private static boolean hasNoBody(HttpServerRequest request) {
    String length = request.getHeader("content-length");
    return request.getHeader("content-type") == null
        && request.getHeader("transfer-encoding") == null
        && (length == null || length.equals("0"));
  }

  private Exchange exchange(
      Served served, HttpServerRequest request, Call call, Buffer body, Object tree) {
    Matcher matcher = served.pattern().matcher(request.path());
    if (!matcher.matches()) {
      throw new IllegalStateException("the router and the endpoint disagree on " + request.path());
    }
    Integer ownTimeoutMs = served.endpoint().timeoutMs();
    if (ownTimeoutMs != null) {
      patience.begin(request.connection(), ownTimeoutMs);
    }
    int timeoutMs = ownTimeoutMs == null ? config.timeouts().requestMs() : ownTimeoutMs;
    Call timed = Call.within(call.requestId(), call.merchant(), timeoutMs);
    return new Exchange(request, timed, matcher, served.parameters(), body, tree);
  }

  private Object tree(Buffer body) {
    StrictJson.Result result = json.read(body);
    if (!result.faults().isEmpty()) {
      throw new Failure.Invalid(result.faults()).asException();
    }
    return result.value();
  }

  private static String contentTypeProblem(HttpServerRequest request, Endpoint.Body wanted) {
    String header = request.getHeader("content-type");
    String type = header == null ? "" : header.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    boolean isJson = type.equals("application/json") || type.endsWith("+json");
    boolean isYaml = type.equals("application/yaml") || type.endsWith("/x-yaml");
    if (isJson || (isYaml && wanted == Endpoint.Body.RAW_JSON_OR_YAML)) {
      return null;
    }
    return wanted == Endpoint.Body.RAW_JSON_OR_YAML
        ? "Content-Type must be application/json or application/yaml."
        : "Content-Type must be application/json.";
  }

  private static void send(HttpServerResponse response, Answer answer) {
    if (response.ended() || response.closed()) {
      return; // the client has gone
    }
    response.setStatusCode(answer.status());
    if (answer.body() == null) {
      response.end();
    } else {
      response.putHeader("content-type", answer.contentType()).end(answer.body());
    }
  }

  private void observe(Served served, int status, long startedAt, String requestId) {
    long nanos = System.nanoTime() - startedAt;
    Endpoint endpoint = served.endpoint();
    served
        .timers()
        .computeIfAbsent(
            status,
            each ->
                Timer.builder("steelyard.http.requests")
                    .description("Requests by route and status")
                    .tag("method", endpoint.method().name())
                    .tag("route", endpoint.path())
                    .tag("status", each == GONE ? "gone" : Integer.toString(each))
                    .register(metrics))
        .record(nanos, TimeUnit.NANOSECONDS);
    LOG.debug("{} {} {} {}", requestId, endpoint.method(), endpoint.path(), status);
  }
}
