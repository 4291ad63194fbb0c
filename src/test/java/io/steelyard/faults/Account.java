package io.steelyard.faults;

import io.steelyard.catalog.CatalogParser;
import io.steelyard.db.Endpoint;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.json.Json;
import io.steelyard.support.Merchant;
import io.steelyard.support.ServiceProcess;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/**
 * A merchant whose customers' events are counted in three ways: calls and tokens by what they say,
 * and each by its key, which tells whether it was counted. Tokens draw prepaid units.
 */
record Account(String merchantId, String apiKey, List<String> customers) {
  /** In dollars, of each month in advance. */
  static final int BASE_PRICE = 5;

  private static final int CUSTOMERS = 20;

  /** PostgreSQL has only just started, and the machine may be busy. */
  private static final Map<String, String> PATIENT = Map.of("database.connectTimeoutMs", "30000");

  private static final String CATALOG =
      """
      customPricingUnits:
        - {key: credits, displayName: Credits, displayNameSingular: Credit, shortName: cr}
      billables:
        - slug: call
          name: Calls
          eventQueryRules:
            conditions: [[{key: eventName, rule: matches, value: call}]]
            calculation: sum
            overProperty: data.count
        - slug: token
          name: Tokens
          eventQueryRules:
            conditions: [[{key: eventName, rule: matches, value: token}]]
            calculation: sum
            overProperty: data.count
        - slug: ids
          name: Ids
          eventQueryRules:
            conditions: [[{key: eventName, rule: matches, value: call}],
                         [{key: eventName, rule: matches, value: token}]]
            calculation: uniqueCount
            overProperty: data.id
      plans:
        - externalId: all
          name: All
          basePrices: {monthly: 5}
          prices:
            - {name: Calls, billable: call, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 1}}
            - {name: Ids, billable: ids, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 1}}
            - {name: Tokens, billable: token, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 1}, usesCustomPricingUnit: true,
               customPricingUnit: credits}
          allocations:
            - {customPricingUnit: credits, amount: 1000000000, billingCadence: monthly}
      defaultPlan: all
      """;

  /** Made by an app on the database, which is closed again. */
  static Account make(Endpoint database) {
    try (TestApp app = TestApp.start(database, PATIENT)) {
      return make(app);
    }
  }

  static Account make(TestApp app) {
    Merchant merchant = app.merchant("test", CATALOG);
    List<String> customers =
        IntStream.range(0, CUSTOMERS).mapToObj(i -> merchant.customerId("c" + i)).toList();
    return new Account(merchant.id(), merchant.key(), customers);
  }

  /** Made by a node that runs. */
  static Account make(ServiceProcess node) {
    Map<String, Object> created =
        body(
            node.operator(
                "POST", "/operator/merchants", Map.of("name", "Faults", "environment", "test")));
    String id = (String) created.get("id");
    String key = Answer.at(created, "apiKey.key");
    body(
        node.operator(
            "PUT", "/operator/merchants/" + id + "/catalog", CatalogParser.yaml(CATALOG)));
    List<String> customers =
        IntStream.range(0, CUSTOMERS)
            .mapToObj(
                i ->
                    (String)
                        body(node.external(
                                "POST", "/external/customers", key, Map.of("externalId", "c" + i)))
                            .get("id"))
            .toList();
    return new Account(id, key, customers);
  }

  private static Map<String, Object> body(CompletableFuture<HttpResponse<String>> asked) {
    HttpResponse<String> answer = asked.join();
    if (answer.statusCode() >= 300) {
      throw new IllegalStateException(answer.statusCode() + " " + answer.body());
    }
    return Json.readMap(answer.body());
  }

  UUID merchantUuid() {
    return Id.parse(IdKind.MERCHANT, merchantId).orElseThrow().uuid();
  }

  List<UUID> customerUuids() {
    return customers.stream().map(Account::customer).toList();
  }

  private static UUID customer(String id) {
    return Id.parse(IdKind.CUSTOMER, id).orElseThrow().uuid();
  }
}
