package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A subscription with its plan, the plan's prices and their billables. */
class ExpandedSubscriptionIT {
  private static final String CATALOG =
      """
      customPricingUnits:
        - {key: credits, displayName: Credits, displayNameSingular: Credit, shortName: cr}
      billables:
        - slug: requests
          name: Requests
          description: Requests to the API
          externalFlagId: flag-1
          includedLabel: included
          singleUnitLabel: request
          multipleUnitLabel: requests
          isPrivate: true
          showOnInvoice: false
          hidden: true
          displayOrder: 7
          eventQueryRules:
            conditions:
              - [{key: eventName, rule: matches, value: api.request}]
              - [{key: eventName, rule: matches, value: api.batch},
                 {key: data.region, rule: matches, value: eu}]
            calculation: sum
            overProperty: data.count
        - {slug: seats, name: Seats}
      plans:
        - externalId: pro
          name: Pro
          description: For teams
          netTerms: net30
          isPrivate: true
          purchasable: false
          requestPricingText: Ask us
          requestPricingUrl: https://acme.example/ask
          basePrices: {monthly: 49.10, quarterly: 140, annually: 490.000000000000000000000000001}
          prices:
            - {name: Requests, billable: requests, billingMode: arrears, priceType: unit,
               rules: {quantity: 1000, price: 0.0000000000000000000000000000123}, limit: 10000,
               maxUsage: 500000.5, blockOverage: true}
            - {name: Seats, billable: seats, billingMode: arrears, priceType: bulk,
               rules: {quantity: 10, price: 12345678901234567890.12}, usesCustomPricingUnit: true,
               customPricingUnit: credits}
        - {externalId: yearly, name: Yearly, basePrices: {annually: 490}}
        - {externalId: once, name: Once, basePrices: {oneTime: 99}}
        - {externalId: bare, name: Bare}
      """;

  private static TestApp app;
  private static Merchant merchant;
  private static String customer;

  @BeforeAll
  static void start() {
    app = TestApp.start();
    merchant = app.merchant("live", CATALOG);
    customer = merchant.customerId("acme");
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static Map<String, Object> subscribe(String plan) {
    return merchant.subscribe(
        Map.of("customerId", customer, "planId", merchant.planId(CATALOG, plan)));
  }

  private static Answer expanded(Map<String, Object> subscription) {
    return merchant
        .call("GET", "/external/subscriptions/" + subscription.get("id") + "/expanded")
        .send(200);
  }

  @Test
  void itIsTheSubscriptionAndItsPlan() {
    Map<String, Object> subscription = subscribe("pro");

    Map<String, Object> expanded = expanded(subscription).object();

    Map<String, Object> plan = Answer.at(expanded, "plan");
    assertThat(plan)
        .containsEntry("id", subscription.get("planId"))
        .containsEntry("externalId", "pro")
        .containsEntry("merchantId", merchant.id())
        .containsEntry("name", "Pro")
        .containsEntry("description", "For teams")
        .containsEntry("currency", "USD")
        .containsEntry("netTerms", "net30")
        .containsEntry("isPrivate", true)
        .containsEntry("purchasable", false)
        .containsEntry("requestPricingText", "Ask us")
        .containsEntry("requestPricingUrl", "https://acme.example/ask")
        .containsEntry("status", "available")
        .containsEntry("basePlanPriceMonthlyStatus", "active")
        .containsEntry("basePlanPriceQuarterlyStatus", "active")
        .containsEntry("basePlanPriceAnnuallyStatus", "active");
    expanded.remove("plan");
    assertThat(expanded).isEqualTo(subscription);
  }

  @Test
  void theBasePricesOfEachCadenceAreThere() {
    Map<String, Object> plan = expanded(subscribe("pro")).at("plan");

    Map<String, String> cadences =
        Map.of("", "monthly", "Quarterly", "quarterly", "Annually", "annually");
    cadences.forEach(
        (suffix, cadence) -> {
          Map<String, Object> price = Answer.at(plan, "basePlanPrice" + suffix);
          assertThat(price)
              .containsEntry("billingCadence", cadence)
              .containsEntry("billingMode", "advance")
              .containsEntry("priceType", "unit")
              .containsEntry("status", "active")
              .containsEntry("billableId", null)
              .containsEntry("usesCustomPricingUnit", false)
              .containsEntry("merchantId", merchant.id());
          assertThat(price.get("id"))
              .isEqualTo(plan.get(suffix.isEmpty() ? "basePlanPriceId" : priceId(suffix)));
        });
  }

  private static String priceId(String suffix) {
    return "basePlanPrice" + suffix + "Id";
  }

  @Test
  void eachPriceComesWithItsBillableInTheCataloguesOrder() {
    List<Map<String, Object>> prices = expanded(subscribe("pro")).at("plan.prices");

    assertThat(prices).hasSize(2).allSatisfy(each -> assertThat(each).containsOnlyKeys("price"));
    Map<String, Object> requests = Answer.at(prices, "0.price");
    assertThat(requests)
        .containsEntry("name", "Requests")
        .containsEntry("billingMode", "arrears")
        .containsEntry("priceType", "unit")
        .containsEntry("blockOverage", true)
        .containsEntry("entityType", "entitlement")
        .containsEntry("limit", 10000)
        .containsEntry("usesCustomPricingUnit", false)
        .containsEntry("customPricingUnitId", null);
    Map<String, Object> billable = Answer.at(requests, "billable");
    assertThat(billable)
        .containsEntry("id", requests.get("billableId"))
        .containsEntry("slug", "requests")
        .containsEntry("name", "Requests")
        .containsEntry("description", "Requests to the API")
        .containsEntry("status", "available")
        .containsEntry("externalFlagId", "flag-1")
        .containsEntry("includedLabel", "included")
        .containsEntry("singleUnitLabel", "request")
        .containsEntry("multipleUnitLabel", "requests")
        .containsEntry("isPrivate", true)
        .containsEntry("showOnInvoice", false)
        .containsEntry("hidden", true)
        .containsEntry("displayOrder", 7)
        .containsEntry(
            "eventQueryRules",
            Map.of(
                "conditions",
                List.of(
                    List.of(condition("eventName", "api.request")),
                    List.of(condition("eventName", "api.batch"), condition("data.region", "eu"))),
                "calculation",
                "sum",
                "overProperty",
                "data.count"));
    Map<String, Object> seats = Answer.at(prices, "1.price");
    assertThat(seats)
        .containsEntry("priceType", "bulk")
        .containsEntry("usesCustomPricingUnit", true)
        .containsEntry("customPricingUnitId", merchant.unitId(CATALOG))
        .containsEntry("limit", null)
        .containsEntry("maxUsage", null);
    assertThat(Answer.<String>at(seats, "billable.slug")).isEqualTo("seats");
  }

  private static Map<String, String> condition(String key, String value) {
    return Map.of("key", key, "rule", "matches", "value", value);
  }

  @Test
  void numbersAreTheDigitsOfTheCatalogueAndNeverWentThroughADouble() {
    assertThat(expanded(subscribe("pro")).text())
        .contains("\"price\":49.1}")
        .contains("\"price\":490.000000000000000000000000001}")
        .contains("\"price\":0.0000000000000000000000000000123}")
        .contains("\"price\":12345678901234567890.12}")
        .contains("\"maxUsage\":500000.5,");
  }

  @Test
  void aPlanWithoutAMonthlyPriceShowsTheOneItHas() {
    Map<String, Object> yearly = expanded(subscribe("yearly")).at("plan");
    assertThat(Answer.<String>at(yearly, "basePlanPrice.billingCadence")).isEqualTo("annually");
    assertThat(yearly)
        .containsEntry("basePlanPriceMonthlyStatus", null)
        .containsEntry("basePlanPriceQuarterlyId", null)
        .containsEntry("basePlanPriceAnnuallyStatus", "active");
    assertThat(yearly.get("basePlanPriceAnnually")).isEqualTo(yearly.get("basePlanPrice"));

    Map<String, Object> once = expanded(subscribe("once")).at("plan");
    assertThat(Answer.<String>at(once, "basePlanPrice.billingCadence")).isEqualTo("oneTime");

    Map<String, Object> bare = expanded(subscribe("bare")).at("plan");
    assertThat(bare)
        .containsEntry("basePlanPrice", null)
        .containsEntry("basePlanPriceId", null)
        .containsEntry("prices", List.of());
  }
}
