package io.steelyard.web;

import io.steelyard.bus.Failure;
import io.steelyard.bus.IdempotencyKey;
import io.steelyard.json.Json;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.util.List;
import java.util.Optional;

/** The header by which a client makes a request safe to repeat. */
final class IdempotencyHeader {
  /** On an answer that was given before. */
  static final CharSequence REPLAYED = HttpHeaders.createOptimized("idempotent-replayed");

  private static final String NAME = "idempotency-key";
  private static final CharSequence HEADER = HttpHeaders.createOptimized(NAME);
  private static final int CHARS_MAX = 255;

  private IdempotencyHeader() {}

  /**
   * The key that an arrived request carries, if it does.
   *
   * @param tree the JSON body
   * @throws io.steelyard.bus.FailureException when it is no key
   */
  static Optional<IdempotencyKey> read(Arrival arrival, Object tree) {
    HttpServerRequest request = arrival.request();
    List<String> keys = request.headers().getAll(HEADER);
    if (keys.isEmpty()) {
      return Optional.empty();
    }
    if (keys.size() > 1) {
      throw Failure.invalidParameter(NAME, "repeated", "May be given once only.").asException();
    }
    String key = keys.getFirst();
    if (key.isEmpty()
        || key.length() > CHARS_MAX
        || !key.chars().allMatch(c -> c > 32 && c < 127)) {
      throw Failure.invalidParameter(
              NAME, "format", "Must be 1 to " + CHARS_MAX + " visible ASCII characters.")
          .asException();
    }
    Endpoint endpoint = arrival.endpoint();
    return Optional.of(
        IdempotencyKey.of(
            endpoint.method() + " " + endpoint.path(),
            key,
            String.join("/", arrival.values()) + "?" + request.query(),
            Json.canonical(tree)));
  }
}
