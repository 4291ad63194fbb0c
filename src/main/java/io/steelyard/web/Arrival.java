package io.steelyard.web;

import io.steelyard.domain.Id;
import io.vertx.core.http.HttpServerRequest;
import java.util.List;

/** A request that has found its endpoint, and on whose behalf it turned out to be. */
final class Arrival {
  private final ApiPath.Served served;
  private final List<String> parameters;
  private final String[] values;
  private final HttpServerRequest request;
  private final String requestId;
  private final long startedAtNanos;
  private Id merchantId;

  /**
   * @param parameters names of the path's parameters
   * @param values of these, raw
   */
  Arrival(
      ApiPath.Served served,
      List<String> parameters,
      String[] values,
      HttpServerRequest request,
      String requestId,
      long startedAtNanos) {
    this.served = served;
    this.parameters = parameters;
    this.values = values;
    this.request = request;
    this.requestId = requestId;
    this.startedAtNanos = startedAtNanos;
  }

  ApiPath.Served served() {
    return served;
  }

  Endpoint endpoint() {
    return served.endpoint();
  }

  List<String> parameters() {
    return parameters;
  }

  String[] values() {
    return values;
  }

  HttpServerRequest request() {
    return request;
  }

  String requestId() {
    return requestId;
  }

  long startedAtNanos() {
    return startedAtNanos;
  }

  void isOf(Id merchant) {
    merchantId = merchant;
  }

  /** Null while it is not known. */
  Id merchantId() {
    return merchantId;
  }
}
