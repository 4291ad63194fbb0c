package io.steelyard.web;

import io.vertx.core.http.HttpServerRequest;
import java.util.List;

/**
 * A request that has found its endpoint.
 *
 * @param parameters names of the path's parameters
 * @param values of these, raw
 */
record Arrival(
    ApiPath.Served served,
    List<String> parameters,
    String[] values,
    HttpServerRequest request,
    String requestId,
    long startedAtNanos) {
  Endpoint endpoint() {
    return served.endpoint();
  }
}
