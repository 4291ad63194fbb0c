package io.steelyard.operator;

import io.steelyard.bus.Bus;
import io.steelyard.bus.Failure;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.domain.WireName;
import io.steelyard.gateway.GatewayMessages.CompleteSandboxSession;
import io.steelyard.gateway.GatewayMessages.ConnectGateway;
import io.steelyard.gateway.GatewayMessages.DisconnectGateway;
import io.steelyard.gateway.GatewayMessages.SetSandboxBehavior;
import io.steelyard.gateway.SandboxBehavior;
import io.steelyard.json.Validator;
import io.steelyard.web.Answer;
import io.steelyard.web.Bodies;
import io.steelyard.web.Endpoint;
import io.steelyard.web.Exchange;
import io.vertx.core.Future;
import io.vertx.core.http.HttpMethod;
import java.util.List;
import java.util.Map;

/** Connections of a merchant to its gateways, and the sandbox's hosted page without a browser. */
final class GatewayRoutes {
  private static final String CONNECTION = "/operator/merchants/{id}/gateway-connections/{gateway}";

  private final Bus bus;
  private final Validator schemas;
  private final MerchantScope scope;

  GatewayRoutes(Bus bus, Validator schemas, MerchantScope scope) {
    this.bus = bus;
    this.schemas = schemas;
    this.scope = scope;
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.put(CONNECTION, this::connect),
        Endpoint.delete(CONNECTION, this::disconnect),
        Endpoint.put(CONNECTION + "/sandbox-behavior", this::behave),
        new Endpoint(
            HttpMethod.POST,
            "/operator/merchants/{id}/sandbox/checkout-sessions/{sessionId}/complete",
            Endpoint.Body.NONE,
            this::complete));
  }

  private Future<Answer> connect(Exchange exchange) {
    exchange.query().check();
    PaymentGateway gateway = gateway(exchange);
    Bodies.check(schemas.check("GatewayConnection", exchange.tree()));
    Map<String, Object> body = Bodies.object(exchange.tree());
    return scope
        .of(exchange)
        .compose(
            call ->
                bus.ask(
                    new ConnectGateway(
                        gateway,
                        Bodies.text(body, "kind"),
                        Bodies.text(body, "baseUrl"),
                        Bodies.text(body, "secret")),
                    call))
        .map(Answer::ok);
  }

  private Future<Answer> disconnect(Exchange exchange) {
    exchange.query().check();
    PaymentGateway gateway = gateway(exchange);
    return scope
        .of(exchange)
        .compose(call -> bus.ask(new DisconnectGateway(gateway), call))
        .map(done -> Answer.noContent());
  }

  private Future<Answer> complete(Exchange exchange) {
    exchange.query().check();
    return scope
        .of(exchange)
        .compose(call -> bus.ask(new CompleteSandboxSession(exchange.path("sessionId")), call))
        .map(Answer::ok);
  }

  private Future<Answer> behave(Exchange exchange) {
    exchange.query().check();
    PaymentGateway gateway = gateway(exchange);
    Bodies.check(schemas.check("SandboxBehavior", exchange.tree()));
    Map<String, Object> body = Bodies.object(exchange.tree());
    SetSandboxBehavior set =
        new SetSandboxBehavior(
            gateway, behavior(body, "sync"), behavior(body, "collect"), behavior(body, "send"));
    return scope.of(exchange).compose(call -> bus.ask(set, call)).map(Answer::ok);
  }

  private static SandboxBehavior behavior(Map<String, Object> body, String action) {
    String name = Bodies.text(body, action);
    return name == null ? SandboxBehavior.SUCCEED : WireName.parse(SandboxBehavior.class, name);
  }

  private static PaymentGateway gateway(Exchange exchange) {
    try {
      return WireName.parse(PaymentGateway.class, exchange.path("gateway"));
    } catch (IllegalArgumentException e) {
      throw Failure.notFound("gateway").asException();
    }
  }
}
