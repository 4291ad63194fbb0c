package io.steelyard.operator;

import io.steelyard.billing.BillingMessages.RunDueWork;
import io.steelyard.bus.Bus;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.Failure.Fault;
import io.steelyard.config.Config;
import io.steelyard.delivery.DeliveryMessages.RunDueDeliveries;
import io.steelyard.domain.Environment;
import io.steelyard.domain.KeyType;
import io.steelyard.domain.WireName;
import io.steelyard.json.Validator;
import io.steelyard.merchant.MerchantMessages.CreateApiKey;
import io.steelyard.merchant.MerchantMessages.CreateMerchant;
import io.steelyard.merchant.MerchantMessages.ListApiKeys;
import io.steelyard.merchant.MerchantMessages.ListMerchants;
import io.steelyard.merchant.MerchantMessages.RevokeApiKey;
import io.steelyard.merchant.MerchantMessages.SetClock;
import io.steelyard.web.Answer;
import io.steelyard.web.Bodies;
import io.steelyard.web.Endpoint;
import io.steelyard.web.Exchange;
import io.vertx.core.Future;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Merchants, their keys and their clocks. */
final class MerchantRoutes {
  private final Bus bus;
  private final Validator schemas;
  private final MerchantScope scope;
  private final Config.Timeouts timeouts;

  MerchantRoutes(Bus bus, Validator schemas, MerchantScope scope, Config.Timeouts timeouts) {
    this.bus = bus;
    this.schemas = schemas;
    this.scope = scope;
    this.timeouts = timeouts;
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.post("/operator/merchants", this::create).takingKey(),
        Endpoint.get("/operator/merchants", this::list),
        Endpoint.post("/operator/merchants/{id}/api-keys", this::createKey).takingKey(),
        Endpoint.get("/operator/merchants/{id}/api-keys", this::listKeys),
        Endpoint.delete("/operator/merchants/{id}/api-keys/{keyId}", this::revokeKey),
        Endpoint.put("/operator/merchants/{id}/clock", this::setClock).within(timeouts.clockMs()));
  }

  private Future<Answer> create(Exchange exchange) {
    exchange.query().check();
    Bodies.check(schemas.check("CreateMerchant", exchange.tree()));
    Map<String, Object> body = Bodies.object(exchange.tree());
    return bus.askOnce(
            new CreateMerchant(
                Bodies.text(body, "name"),
                WireName.parse(Environment.class, Bodies.text(body, "environment")),
                zone(Bodies.text(body, "timezone"))),
            exchange.call())
        .map(reply -> Answer.once(201, reply));
  }

  private Future<Answer> list(Exchange exchange) {
    ListMerchants list = new ListMerchants(exchange.query().paging(Set.of()));
    exchange.query().check();
    return bus.ask(list, exchange.call()).map(Answer::ok);
  }

  private static ZoneId zone(String name) {
    if (name == null) {
      return ZoneOffset.UTC;
    }
    try {
      return ZoneId.of(name);
    } catch (DateTimeException e) {
      throw new Failure.Invalid(
              List.of(Fault.at("/timezone", "timezone", "Must name a zone of the tz database.")))
          .asException();
    }
  }

  private Future<Answer> createKey(Exchange exchange) {
    exchange.query().check();
    Bodies.check(schemas.check("CreateApiKey", exchange.tree()));
    Map<String, Object> body = Bodies.object(exchange.tree());
    KeyType type = WireName.parse(KeyType.class, Bodies.text(body, "type"));
    return scope
        .of(exchange)
        .compose(call -> bus.askOnce(new CreateApiKey(type, Bodies.text(body, "name")), call))
        .map(reply -> Answer.once(201, reply));
  }

  private Future<Answer> listKeys(Exchange exchange) {
    ListApiKeys list = new ListApiKeys(exchange.query().paging(Set.of()));
    exchange.query().check();
    return scope.of(exchange).compose(call -> bus.ask(list, call)).map(Answer::ok);
  }

  private Future<Answer> revokeKey(Exchange exchange) {
    exchange.query().check();
    return scope
        .of(exchange)
        .compose(call -> bus.ask(new RevokeApiKey(exchange.path("keyId")), call))
        .map(done -> Answer.noContent());
  }

  private Future<Answer> setClock(Exchange exchange) {
    exchange.query().check();
    Bodies.check(schemas.check("Clock", exchange.tree()));
    Map<String, Object> body = Bodies.object(exchange.tree());
    return scope
        .of(exchange)
        .compose(
            call ->
                bus.ask(new SetClock(Bodies.time(body, "now", call.merchant().zone())), call)
                    .compose(set -> runDueWork(call).map(set)))
        .map(Answer::ok);
  }

  /** What is done at a gateway may make more due, as an issued invoice becomes overdue. */
  private Future<Void> runDueWork(Call call) {
    return bus.ask(new RunDueWork(), call)
        .compose(done -> bus.ask(new RunDueDeliveries(), call))
        .compose(
            deliveries -> deliveries.attempts() == 0 ? Future.succeededFuture() : runDueWork(call));
  }
}
