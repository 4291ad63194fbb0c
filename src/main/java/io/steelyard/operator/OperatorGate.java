package io.steelyard.operator;

import io.steelyard.bus.Call;
import io.steelyard.config.Config;
import io.steelyard.web.Gate;
import io.steelyard.web.Refusal;
import io.vertx.core.Future;
import io.vertx.core.http.HttpServerRequest;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;

/** Admits who carries the operator's token; compares in constant time. */
final class OperatorGate implements Gate {
  private static final String SCHEME = "Bearer ";

  private final byte[] expected;
  private final Config config;

  OperatorGate(Config config) {
    this.config = config;
    this.expected = (SCHEME + config.operator().token()).getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public Future<Call> admit(HttpServerRequest request, String requestId) {
    List<String> given = request.headers().getAll("authorization");
    byte[] actual = given.size() == 1 ? given.get(0).getBytes(StandardCharsets.UTF_8) : new byte[0];
    if (!MessageDigest.isEqual(expected, actual)) {
      return Refusal.closing(401, "unauthenticated", "A valid operator token is required.")
          .with("www-authenticate", "Bearer")
          .failed();
    }
    return Future.succeededFuture(Call.within(requestId, null, config.timeouts().requestMs()));
  }
}
