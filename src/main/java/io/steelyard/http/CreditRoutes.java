package io.steelyard.http;

import io.steelyard.bus.Bus;
import io.steelyard.credit.CreditMessages.GetUnitUsage;
import io.steelyard.credit.CreditMessages.ListTransactions;
import io.steelyard.domain.Paging;
import io.steelyard.web.Answer;
import io.steelyard.web.Endpoint;
import io.steelyard.web.Exchange;
import io.vertx.core.Future;
import java.util.List;
import java.util.Set;

/** Balances of custom pricing units and their transactions, by the customer's external id. */
final class CreditRoutes {
  private static final String CUSTOMER = "/external/customers/external-id/{externalId}";

  private final Bus bus;

  CreditRoutes(Bus bus) {
    this.bus = bus;
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.get(CUSTOMER + "/transactions", this::transactions),
        Endpoint.get(
            CUSTOMER + "/customPricingUnits/{customPricingUnitId}/usage", this::unitUsage));
  }

  private Future<Answer> transactions(Exchange exchange) {
    Paging paging = exchange.query().paging(Set.of());
    exchange.query().check();
    return bus.ask(new ListTransactions(exchange.path("externalId"), paging), exchange.call())
        .map(Answer::ok);
  }

  private Future<Answer> unitUsage(Exchange exchange) {
    exchange.query().check();
    return bus.ask(
            new GetUnitUsage(exchange.path("externalId"), exchange.path("customPricingUnitId")),
            exchange.call())
        .map(Answer::ok);
  }
}
