package io.steelyard.http;

import io.steelyard.billing.BillingMessages.PreviewInvoice;
import io.steelyard.bus.Bus;
import io.steelyard.config.Config;
import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.Currency;
import io.steelyard.domain.NetTerms;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.domain.WireName;
import io.steelyard.json.Validator;
import io.steelyard.subscription.SubscriptionMessages.CancelSubscription;
import io.steelyard.subscription.SubscriptionMessages.CreateSubscriptions;
import io.steelyard.subscription.SubscriptionMessages.DeleteSubscription;
import io.steelyard.subscription.SubscriptionMessages.GetExpandedSubscription;
import io.steelyard.subscription.SubscriptionMessages.GetSubscription;
import io.steelyard.subscription.SubscriptionMessages.ListSubscriptions;
import io.steelyard.subscription.SubscriptionMessages.NewSubscription;
import io.steelyard.subscription.SubscriptionMessages.RenewSubscription;
import io.steelyard.web.Answer;
import io.steelyard.web.Bodies;
import io.steelyard.web.Endpoint;
import io.steelyard.web.Exchange;
import io.steelyard.web.Query;
import io.vertx.core.Future;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** {@code /external/subscriptions}. */
final class SubscriptionRoutes {
  private static final List<String> FILTERS = List.of("customerId", "id", "planId", "status");
  private static final Set<String> ORDER_BY =
      Set.of("createdAt", "endDate", "id", "startDate", "status", "updatedAt");

  private final Bus bus;
  private final Validator schemas;
  private final Config config;

  SubscriptionRoutes(Bus bus, Validator schemas, Config config) {
    this.bus = bus;
    this.schemas = schemas;
    this.config = config;
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.get("/external/subscriptions", this::list),
        Endpoint.post("/external/subscriptions/bulk", this::create).takingKey(),
        Endpoint.get("/external/subscriptions/{id}", this::get),
        Endpoint.delete("/external/subscriptions/{id}", this::delete),
        Endpoint.get("/external/subscriptions/{id}/expanded", this::getExpanded),
        Endpoint.get("/external/subscriptions/{id}/upcoming-invoice", this::upcomingInvoice),
        Endpoint.post("/external/subscriptions/{id}/cancel", this::cancel),
        Endpoint.post("/external/subscriptions/{id}/renew", this::renew));
  }

  private Future<Answer> create(Exchange exchange) {
    exchange.query().check();
    List<?> items = Bodies.array(exchange.tree(), config.limits().subscriptionsPerBulk());
    ZoneId zone = exchange.call().merchant().zone();
    return Bodies.checkEach(schemas, "NewSubscription", items)
        .compose(
            passed -> {
              List<NewSubscription> wanted =
                  items.stream().map(item -> newSubscription(Bodies.object(item), zone)).toList();
              return bus.askOnce(new CreateSubscriptions(wanted), exchange.call());
            })
        .map(reply -> Answer.once(201, reply));
  }

  private static NewSubscription newSubscription(Map<String, Object> body, ZoneId zone) {
    return new NewSubscription(
        Bodies.text(body, "customerId"),
        Bodies.text(body, "planId"),
        Bodies.time(body, "startDate", zone),
        Bodies.time(body, "endDate", zone),
        named(BillingCadence.class, body, "billingCadence"),
        named(Currency.class, body, "currency"),
        named(NetTerms.class, body, "netTerms"),
        named(PaymentGateway.class, body, "paymentGateway"),
        Bodies.flag(body, "allowCustomerChanges"),
        Bodies.flag(body, "autoChargeInvoice"),
        Bodies.flag(body, "autoSyncInvoice"),
        Bodies.flag(body, "autoSendInvoice"),
        Bodies.time(body, "invoiceGenerationStartDate", zone));
  }

  private static <E extends Enum<E> & WireName> E named(
      Class<E> type, Map<String, Object> body, String name) {
    return WireName.parseNullable(type, Bodies.text(body, name));
  }

  private Future<Answer> list(Exchange exchange) {
    Query query = exchange.query();
    query.mustName("status", SubscriptionStatus.class);
    ListSubscriptions list = new ListSubscriptions(query.filters(FILTERS), query.paging(ORDER_BY));
    query.check();
    return bus.ask(list, exchange.call()).map(Answer::ok);
  }

  private Future<Answer> get(Exchange exchange) {
    exchange.query().check();
    return bus.ask(new GetSubscription(exchange.path("id")), exchange.call()).map(Answer::ok);
  }

  private Future<Answer> getExpanded(Exchange exchange) {
    exchange.query().check();
    return bus.ask(new GetExpandedSubscription(exchange.path("id")), exchange.call())
        .map(Answer::ok);
  }

  private Future<Answer> upcomingInvoice(Exchange exchange) {
    exchange.query().check();
    return bus.ask(new PreviewInvoice(exchange.path("id")), exchange.call()).map(Answer::ok);
  }

  private Future<Answer> cancel(Exchange exchange) {
    String customer = externalCustomerId("CancelBody", exchange);
    return bus.ask(new CancelSubscription(exchange.path("id"), customer), exchange.call())
        .map(Answer::ok);
  }

  private Future<Answer> renew(Exchange exchange) {
    String customer = externalCustomerId("RenewBody", exchange);
    return bus.ask(new RenewSubscription(exchange.path("id"), customer), exchange.call())
        .map(Answer::ok);
  }

  private String externalCustomerId(String schema, Exchange exchange) {
    exchange.query().check();
    Bodies.check(schemas.check(schema, exchange.tree()));
    return Bodies.text(Bodies.object(exchange.tree()), "externalCustomerId");
  }

  private Future<Answer> delete(Exchange exchange) {
    exchange.query().check();
    return bus.ask(new DeleteSubscription(exchange.path("id")), exchange.call())
        .map(done -> Answer.noContent());
  }
}
