package io.steelyard.operator;

import io.steelyard.bus.Bus;
import io.steelyard.credit.CreditMessages.Allocate;
import io.steelyard.customer.CustomerMessages.GrantPrivatePlan;
import io.steelyard.json.Validator;
import io.steelyard.web.Answer;
import io.steelyard.web.Bodies;
import io.steelyard.web.Endpoint;
import io.steelyard.web.Exchange;
import io.vertx.core.Future;
import java.util.List;
import java.util.Map;

/** What an operator gives a single customer: private plans and units. */
final class CustomerGrantRoutes {
  private static final String CUSTOMER = "/operator/merchants/{id}/customers/{customerId}";

  private final Bus bus;
  private final Validator schemas;
  private final MerchantScope scope;

  CustomerGrantRoutes(Bus bus, Validator schemas, MerchantScope scope) {
    this.bus = bus;
    this.schemas = schemas;
    this.scope = scope;
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.post(CUSTOMER + "/private-plans", this::grantPlan),
        Endpoint.post(CUSTOMER + "/allocations", this::allocate).takingKey());
  }

  private Future<Answer> grantPlan(Exchange exchange) {
    exchange.query().check();
    Bodies.check(schemas.check("PrivatePlan", exchange.tree()));
    String planId = Bodies.text(Bodies.object(exchange.tree()), "planId");
    return scope
        .of(exchange)
        .compose(call -> bus.ask(new GrantPrivatePlan(exchange.path("customerId"), planId), call))
        .map(Answer::ok);
  }

  private Future<Answer> allocate(Exchange exchange) {
    exchange.query().check();
    Bodies.check(schemas.check("Allocation", exchange.tree()));
    Map<String, Object> body = Bodies.object(exchange.tree());
    return scope
        .of(exchange)
        .compose(
            call ->
                bus.askOnce(
                    new Allocate(
                        exchange.path("customerId"),
                        Bodies.text(body, "customPricingUnitId"),
                        Bodies.number(body, "amount"),
                        Bodies.time(body, "expiresAt", call.merchant().zone())),
                    call))
        .map(reply -> Answer.once(201, reply));
  }
}
