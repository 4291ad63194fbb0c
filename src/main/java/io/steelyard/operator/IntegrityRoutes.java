package io.steelyard.operator;

import io.steelyard.bus.Bus;
import io.steelyard.config.Config;
import io.steelyard.integrity.IntegrityMessages.CheckIntegrity;
import io.steelyard.web.Answer;
import io.steelyard.web.Endpoint;
import io.steelyard.web.Exchange;
import io.vertx.core.Future;
import java.util.List;

/** Whether what is stored of a merchant is consistent with itself. */
final class IntegrityRoutes {
  private final Bus bus;
  private final MerchantScope scope;
  private final Config.Integrity config;

  IntegrityRoutes(Bus bus, MerchantScope scope, Config.Integrity config) {
    this.bus = bus;
    this.scope = scope;
    this.config = config;
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.get("/operator/merchants/{id}/integrity", this::check).within(config.timeoutMs()));
  }

  private Future<Answer> check(Exchange exchange) {
    exchange.query().check();
    return scope.of(exchange).compose(call -> bus.ask(new CheckIntegrity(), call)).map(Answer::ok);
  }
}
