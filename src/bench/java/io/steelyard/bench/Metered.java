package io.steelyard.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/** A merchant whose customers are subscribed to a plan and send events, made by the API. */
record Metered(UUID merchant, String apiKey, JsonNode catalog, List<Customer> customers) {
  private static final int BULK = 1000;
  private static final AtomicLong SEED = new AtomicLong(1);
  private static final AtomicLong NUMBER = new AtomicLong();
  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * @param id the service's, which events name
   */
  record Customer(String id, String externalId) {}

  /** The customers pay for events in currency alone. */
  static Metered start(ServiceProcess service, int customers)
      throws IOException, InterruptedException {
    JsonNode merchant = service.merchant("live");
    String id = merchant.get("id").asText();
    return new Metered(
            Id.parse(IdKind.MERCHANT, id).orElseThrow().uuid(),
            merchant.get("apiKey").get("key").asText(),
            service.applyCatalog(id, Catalogs.METERED),
            List.of())
        .with(service, "bench", customers);
  }

  /** The same merchant with new customers whose events also draw units. */
  Metered withUnits(ServiceProcess service, int customers)
      throws IOException, InterruptedException {
    return with(service, "units", customers);
  }

  private Metered with(ServiceProcess service, String plan, int customers)
      throws IOException, InterruptedException {
    List<Customer> all = new ArrayList<>();
    while (all.size() < customers) {
      all.addAll(subscribe(service, plan, Math.min(BULK, customers - all.size())));
    }
    return new Metered(merchant, apiKey, catalog, List.copyOf(all));
  }

  private List<Customer> subscribe(ServiceProcess service, String plan, int count)
      throws IOException, InterruptedException {
    ArrayNode wanted = JSON.createArrayNode();
    for (int i = 0; i < count; i++) {
      wanted.addObject().put("externalId", "customer-" + NUMBER.getAndIncrement()).put("name", "C");
    }
    List<Customer> made = new ArrayList<>();
    ArrayNode subscriptions = JSON.createArrayNode();
    for (JsonNode each :
        service.post(apiKey, "/external/customers/upsert/bulk", wanted.toString())) {
      Customer customer = new Customer(each.get("id").asText(), each.get("externalId").asText());
      made.add(customer);
      subscriptions.addObject().put("customerId", customer.id()).put("planId", planId(plan));
    }
    service.post(apiKey, "/external/subscriptions/bulk", subscriptions.toString());
    return made;
  }

  private String planId(String externalId) {
    for (JsonNode plan : catalog.get("plans")) {
      if (plan.get("externalId").asText().equals(externalId)) {
        return plan.get("id").asText();
      }
    }
    throw new IllegalArgumentException("there is no plan " + externalId);
  }

  /** Of one connection: events of all customers. */
  Supplier<Requests> events(int each, EventRequests.Keys keys) {
    List<String> ids = customers.stream().map(Customer::id).toList();
    return () -> new EventRequests(apiKey, ids, each, keys, SEED.getAndIncrement());
  }

  /** Each customer in turn. */
  Supplier<Requests> customerReads() {
    Requests reads =
        Requests.gets(apiKey, new AtomicLong(), n -> "/external/customers/" + at(n).id());
    return () -> reads;
  }

  /** The balance of each customer in turn. */
  Supplier<Requests> usageReads() {
    Requests reads = Requests.gets(apiKey, new AtomicLong(), n -> usagePath(at(n)));
    return () -> reads;
  }

  String usagePath(Customer customer) {
    return "/external/customers/external-id/"
        + customer.externalId()
        + "/customPricingUnits/"
        + catalog.at("/customPricingUnits/0/id").asText()
        + "/usage";
  }

  private Customer at(long number) {
    return customers.get((int) (number % customers.size()));
  }
}
