package io.steelyard.http;

import io.steelyard.bus.Bus;
import io.steelyard.config.Config;
import io.steelyard.customer.CustomerMessages.CreateCustomer;
import io.steelyard.customer.CustomerMessages.CustomerInput;
import io.steelyard.customer.CustomerMessages.GetCustomer;
import io.steelyard.customer.CustomerMessages.ListCustomers;
import io.steelyard.customer.CustomerMessages.UpsertCustomers;
import io.steelyard.json.Validator;
import io.steelyard.web.Answer;
import io.steelyard.web.Bodies;
import io.steelyard.web.Endpoint;
import io.steelyard.web.Exchange;
import io.steelyard.web.Query;
import io.vertx.core.Future;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** {@code /external/customers}: create, upsert, get and list. */
final class CustomerRoutes {
  private static final List<String> FILTERS =
      List.of("externalId", "id", "ledgerAId", "cardGatewayId", "email", "name");
  private static final Set<String> ORDER_BY =
      Set.of("createdAt", "email", "id", "name", "ledgerAId", "cardGatewayId", "updatedAt");

  private final Bus bus;
  private final Validator schemas;
  private final Config config;

  CustomerRoutes(Bus bus, Validator schemas, Config config) {
    this.bus = bus;
    this.schemas = schemas;
    this.config = config;
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.post("/external/customers", this::create).takingKey(),
        Endpoint.get("/external/customers", this::list),
        Endpoint.post("/external/customers/upsert/bulk", this::upsert).takingKey(),
        Endpoint.get("/external/customers/{id}", this::get));
  }

  private Future<Answer> create(Exchange exchange) {
    exchange.query().check();
    Bodies.check(schemas.check("CustomerInput", exchange.tree()));
    return bus.askOnce(new CreateCustomer(input(exchange.tree())), exchange.call())
        .map(reply -> Answer.once(201, reply));
  }

  private Future<Answer> upsert(Exchange exchange) {
    exchange.query().check();
    List<?> items = Bodies.array(exchange.tree(), config.limits().customersPerBulk());
    return Bodies.checkEach(schemas, "CustomerInput", items)
        .compose(
            passed -> {
              List<CustomerInput> inputs = items.stream().map(CustomerRoutes::input).toList();
              return bus.askOnce(new UpsertCustomers(inputs), exchange.call());
            })
        .map(reply -> Answer.once(200, reply));
  }

  private Future<Answer> get(Exchange exchange) {
    exchange.query().check();
    return bus.ask(new GetCustomer(exchange.path("id")), exchange.call()).map(Answer::ok);
  }

  private Future<Answer> list(Exchange exchange) {
    Query query = exchange.query();
    ListCustomers list = new ListCustomers(query.filters(FILTERS), query.paging(ORDER_BY));
    query.check();
    return bus.ask(list, exchange.call()).map(Answer::ok);
  }

  private static CustomerInput input(Object tree) {
    Map<String, String> fields = new LinkedHashMap<>();
    Bodies.object(tree).forEach((name, value) -> fields.put(name, (String) value));
    return new CustomerInput(fields);
  }
}
