package io.steelyard.web;

import io.vertx.core.http.HttpMethod;

/**
 * One method of one path, and what it does.
 *
 * @param path a template such as {@code /external/customers/{id}}; a parameter matches one segment,
 *     also an empty one, so that an empty id is refused rather than not found
 * @param timeoutMs from the body's end to the answer; null for {@code timeouts.requestMs}
 * @param keyed whether a request may carry an idempotency key; its body is JSON
 */
public record Endpoint(
    HttpMethod method,
    String path,
    Body body,
    Operation operation,
    Integer timeoutMs,
    boolean keyed) {
  /** What an endpoint wants to be read before its operation runs. */
  public enum Body {
    NONE,
    /** Strict JSON as a tree. */
    JSON,
    /** As {@link #JSON}; without a body and its type, an empty object. */
    OPTIONAL_JSON,
    /** JSON as bytes, for an operation with a decoder of its own. */
    RAW_JSON,
    /** JSON or YAML as bytes. */
    RAW_JSON_OR_YAML
  }

  public Endpoint(HttpMethod method, String path, Body body, Operation operation) {
    this(method, path, body, operation, null, false);
  }

  public static Endpoint get(String path, Operation operation) {
    return new Endpoint(HttpMethod.GET, path, Body.NONE, operation);
  }

  public static Endpoint post(String path, Operation operation) {
    return new Endpoint(HttpMethod.POST, path, Body.JSON, operation);
  }

  public static Endpoint put(String path, Operation operation) {
    return new Endpoint(HttpMethod.PUT, path, Body.JSON, operation);
  }

  public static Endpoint delete(String path, Operation operation) {
    return new Endpoint(HttpMethod.DELETE, path, Body.NONE, operation);
  }

  /** The same endpoint reading its body in another way. */
  public Endpoint reading(Body other) {
    return new Endpoint(method, path, other, operation, timeoutMs, keyed);
  }

  /** The same endpoint with a time of its own to answer, where the usual one would be too short. */
  public Endpoint within(int ms) {
    return new Endpoint(method, path, body, operation, ms, keyed);
  }

  /** The same endpoint, whose requests may carry an idempotency key. */
  public Endpoint takingKey() {
    return new Endpoint(method, path, body, operation, timeoutMs, true);
  }
}
