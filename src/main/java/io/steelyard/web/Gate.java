package io.steelyard.web;

import io.steelyard.bus.Call;
import io.vertx.core.Future;
import io.vertx.core.http.HttpServerRequest;

/** Decides who may come in, before anything of the body is read. */
@FunctionalInterface
public interface Gate {
  /**
   * The call of an admitted request, whose deadline is that of the admission only: the time to
   * answer is the endpoint's, and counts anew once the body is there. Fails with a {@link Refusal}
   * otherwise.
   */
  Future<Call> admit(HttpServerRequest request, String requestId);
}
