package io.steelyard.web;

import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.config.Config;
import io.steelyard.json.StrictJson;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.util.Locale;
import java.util.Map;

/**
 * Reads an admitted request into the exchange that its operation is given: what the endpoint wants
 * of a body, in the media type it wants, as bytes or as strict JSON.
 */
final class ExchangeReader {
  private final BodyReader bodies;
  private final StrictJson json;
  private final int requestMs;

  ExchangeReader(Config config, BodyReader bodies) {
    this.bodies = bodies;
    this.json = new StrictJson(config.limits());
    this.requestMs = config.timeouts().requestMs();
  }

  /**
   * The exchange, in flight, whose call has from now on the time of its endpoint. Fails with a
   * {@link Refusal}, as {@link Held#resume}, or with the faults of the JSON; may throw.
   */
  Future<Exchange> read(Arrival arrival, Call call, Held held) {
    HttpServerRequest request = arrival.request();
    Endpoint.Body wanted = arrival.endpoint().body();
    if (wanted == Endpoint.Body.NONE) {
      request.resume();
      return Future.succeededFuture(exchange(arrival, call, null, null));
    }
    if (wanted == Endpoint.Body.OPTIONAL_JSON && hasNoBody(request)) {
      request.resume();
      return Future.succeededFuture(exchange(arrival, call, null, Map.of()));
    }
    String problem = contentTypeProblem(request, wanted);
    if (problem != null) {
      return Refusal.closing(415, "unsupported_media_type", problem).failed();
    }
    return bodies
        .read(request, held)
        .compose(body -> held.resume().map(body))
        .map(body -> exchange(arrival, call, body, isParsed(wanted) ? tree(body) : null));
  }

  private static boolean hasNoBody(HttpServerRequest request) {
    String length = request.getHeader("content-length");
    return request.getHeader("content-type") == null
        && request.getHeader("transfer-encoding") == null
        && (length == null || length.equals("0"));
  }

  private static String contentTypeProblem(HttpServerRequest request, Endpoint.Body wanted) {
    String header = request.getHeader(HttpHeaders.CONTENT_TYPE);
    if ("application/json".equals(header)) {
      return null;
    }
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

  private static boolean isParsed(Endpoint.Body wanted) {
    return wanted == Endpoint.Body.JSON || wanted == Endpoint.Body.OPTIONAL_JSON;
  }

  private Object tree(Buffer body) {
    StrictJson.Result result = json.read(body);
    if (!result.faults().isEmpty()) {
      throw new Failure.Invalid(result.faults()).asException();
    }
    return result.value();
  }

  private Exchange exchange(Arrival arrival, Call call, Buffer body, Object tree) {
    Integer ownTimeoutMs = arrival.endpoint().timeoutMs();
    int timeoutMs = ownTimeoutMs == null ? requestMs : ownTimeoutMs;
    Call timed = Call.within(call.requestId(), call.merchant(), timeoutMs);
    if (arrival.endpoint().keyed()) {
      timed = timed.with(IdempotencyHeader.read(arrival, tree).orElse(null));
    }
    return new Exchange(arrival, timed, body, tree);
  }
}
