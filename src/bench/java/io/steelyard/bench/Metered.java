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
record Metered(UUID merchant, String apiKey, List<Customer> customers, String unitId) {
  private static final int BULK = 1000;
  private static final AtomicLong SEED = new AtomicLong(1);
  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * @param id the service's, which events name
   */
  record Customer(String id, String externalId) {}

  /** What is sold for money: two billables match each event, one counts and one sums. */
  static Metered inCurrency(ServiceProcess service, int customers)
      throws IOException, InterruptedException {
    return make(service, Catalogs.METERED, customers);
  }

  /** What is sold for units, of which each customer has more than it can use. */
  static Metered inUnits(ServiceProcess service, int customers)
      throws IOException, InterruptedException {
    return make(service, Catalogs.UNITS, customers);
  }

  private static Metered make(ServiceProcess service, String yaml, int customers)
      throws IOException, InterruptedException {
    JsonNode merchant = service.merchant("live");
    String id = merchant.get("id").asText();
    String apiKey = merchant.get("apiKey").get("key").asText();
    JsonNode catalog = service.applyCatalog(id, yaml);
    String plan = catalog.get("plans").get(0).get("id").asText();
    List<Customer> all = new ArrayList<>();
    for (int done = 0; done < customers; done += BULK) {
      all.addAll(subscribe(service, apiKey, plan, done, Math.min(customers, done + BULK)));
    }
    return new Metered(
        Id.parse(IdKind.MERCHANT, id).orElseThrow().uuid(),
        apiKey,
        List.copyOf(all),
        catalog.at("/customPricingUnits/0/id").asText());
  }

  private static List<Customer> subscribe(
      ServiceProcess service, String apiKey, String plan, int from, int to)
      throws IOException, InterruptedException {
    ArrayNode wanted = JSON.createArrayNode();
    for (int i = from; i < to; i++) {
      wanted.addObject().put("externalId", "customer-" + i).put("name", "Customer " + i);
    }
    List<Customer> customers = new ArrayList<>();
    ArrayNode subscriptions = JSON.createArrayNode();
    for (JsonNode made :
        service.post(apiKey, "/external/customers/upsert/bulk", wanted.toString())) {
      Customer customer = new Customer(made.get("id").asText(), made.get("externalId").asText());
      customers.add(customer);
      subscriptions.addObject().put("customerId", customer.id()).put("planId", plan);
    }
    service.post(apiKey, "/external/subscriptions/bulk", subscriptions.toString());
    return customers;
  }

  /** Of one connection: events of all customers. */
  Supplier<Requests> events(int each, EventRequests.Keys keys) {
    List<String> ids = customers.stream().map(Customer::id).toList();
    return () -> new EventRequests(apiKey, ids, each, keys, SEED.getAndIncrement());
  }
}
