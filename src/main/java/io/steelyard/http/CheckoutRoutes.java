package io.steelyard.http;

import io.steelyard.bus.Bus;
import io.steelyard.gateway.GatewayMessages.CreateSetupSession;
import io.steelyard.json.Validator;
import io.steelyard.web.Answer;
import io.steelyard.web.Bodies;
import io.steelyard.web.Endpoint;
import io.steelyard.web.Exchange;
import io.vertx.core.Future;
import java.util.List;
import java.util.Map;

/** The page on which a customer gives a new card. */
final class CheckoutRoutes {
  private final Bus bus;
  private final Validator schemas;

  CheckoutRoutes(Bus bus, Validator schemas) {
    this.bus = bus;
    this.schemas = schemas;
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.post(
                "/external/customers/external-id/{externalId}/card-gateway/checkout-sessions/setup",
                this::createSetupSession)
            .takingKey());
  }

  private Future<Answer> createSetupSession(Exchange exchange) {
    exchange.query().check();
    Bodies.check(schemas.check("SetupSessionBody", exchange.tree()));
    Map<String, Object> body = Bodies.object(exchange.tree());
    return bus.askOnce(
            new CreateSetupSession(
                exchange.path("externalId"),
                Bodies.text(body, "successUrl"),
                Bodies.text(body, "email"),
                Bodies.text(body, "name")),
            exchange.call())
        .map(reply -> Answer.once(201, reply));
  }
}
