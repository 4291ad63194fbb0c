package io.steelyard.oracle;

import io.steelyard.domain.BillingCadence;
import io.steelyard.oracle.Facts.Event;
import io.steelyard.oracle.Facts.Plan;
import io.steelyard.oracle.Facts.Price;
import io.steelyard.oracle.Facts.Subscription;
import io.steelyard.oracle.Facts.Tier;
import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Plays a history over HTTP, as a merchant of its own. */
final class Player {
  private final Merchant merchant;
  private final String planId;
  private final Map<String, String> slugByPrice = new HashMap<>();
  private final Map<Integer, Map<String, Object>> customers = new HashMap<>();
  private final Map<Integer, String> subscriptions = new HashMap<>();
  private final Map<Integer, String> customerBySubscription = new HashMap<>();

  Player(TestApp app, Facts facts) {
    merchant = app.merchant("test", facts.zone().getId(), null);
    Map<String, Object> applied =
        merchant.operator("PUT", "/catalog").json(catalog(facts.plan())).send(200).object();
    planId = Answer.at(applied, "plans.0.id");
    List<Map<String, Object>> prices = Answer.at(applied, "plans.0.prices");
    for (Map<String, Object> price : prices) {
      Object slug = price.get("billable");
      slugByPrice.put((String) price.get("id"), slug == null ? "base" : slug.toString());
    }
  }

  Merchant merchant() {
    return merchant;
  }

  String subscriptionId(int number) {
    return subscriptions.get(number);
  }

  /** The slug of a price's meter, or base. */
  String slug(String priceId) {
    return slugByPrice.get(priceId);
  }

  void play(Facts.Fact fact) {
    switch (fact) {
      case Facts.ClockSet clock -> merchant.at(clock.now().toString());
      case Facts.Subscribed it -> subscribe(it.subscription());
      case Facts.Accepted it ->
          merchant
              .call("POST", "/external/event")
              .json(it.events().stream().map(this::body).toList())
              .send(202);
      case Facts.Cancelled it -> change(it.subscription(), "cancel");
      case Facts.Renewed it -> change(it.subscription(), "renew");
    }
  }

  private Map<String, Object> customer(int number) {
    return customers.computeIfAbsent(number, n -> merchant.createCustomer(name(n)));
  }

  private static String name(int customer) {
    return "customer-" + customer;
  }

  private void subscribe(Subscription terms) {
    Map<String, Object> customer = customer(terms.customer());
    customerBySubscription.put(terms.number(), name(terms.customer()));
    if (terms.byDefault()) {
      subscriptions.put(terms.number(), Answer.at(customer, "activeSubscriptions.0.id"));
      return;
    }
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("customerId", customer.get("id"));
    body.put("planId", planId);
    body.put("startDate", terms.start().toString());
    body.put("billingCadence", terms.cadence().wire());
    if (terms.end() != null) {
      body.put("endDate", terms.end().toString());
    }
    if (terms.invoicesFrom() != null) {
      body.put("invoiceGenerationStartDate", terms.invoicesFrom().toString());
    }
    subscriptions.put(terms.number(), (String) merchant.subscribe(body).get("id"));
  }

  private void change(int subscription, String verb) {
    merchant
        .call("POST", "/external/subscriptions/" + subscriptions.get(subscription) + "/" + verb)
        .json(Map.of("externalCustomerId", customerBySubscription.get(subscription)))
        .send(200);
  }

  private Map<String, Object> body(Event event) {
    Map<String, Object> body = new HashMap<>();
    body.put("customerId", customer(event.customer()).get("id"));
    body.put("eventName", event.name());
    body.put("generatedAt", event.at().toString());
    body.put("idempotencyKey", event.key());
    if (event.value() != null) {
      body.put("data", Map.of("value", event.value()));
    }
    return body;
  }

  private static Map<String, Object> catalog(Plan plan) {
    List<Object> billables = new ArrayList<>();
    List<Object> prices = new ArrayList<>();
    for (Price price : plan.prices()) {
      billables.add(billable(price));
      prices.add(price(price));
    }
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("billables", billables);
    document.put("plans", List.of(plan(plan, prices)));
    if (plan.byDefault()) {
      document.put("defaultPlan", "plan");
    }
    return document;
  }

  private static Map<String, Object> plan(Plan plan, List<Object> prices) {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("externalId", "plan");
    body.put("name", "Plan");
    body.put("netTerms", plan.netTerms().wire());
    body.put("trialDays", plan.trialDays());
    body.put("chargeForUsageBasedPricesDuringTrial", plan.chargeUsageDuringTrial());
    if (plan.base() != null) {
      Map<String, Object> base = new LinkedHashMap<>();
      for (BillingCadence cadence : BillingCadence.values()) {
        base.put(cadence.wire(), plan.baseOf(cadence));
      }
      body.put("basePrices", base);
    }
    body.put("prices", prices);
    return body;
  }

  private static Map<String, Object> billable(Price price) {
    return Map.of(
        "slug",
        price.slug(),
        "name",
        price.slug(),
        "eventQueryRules",
        Map.of(
            "conditions",
            List.of(List.of(Map.of("key", "eventName", "rule", "matches", "value", price.slug()))),
            "calculation",
            price.calculation().wire(),
            "overProperty",
            "data.value"));
  }

  private static Map<String, Object> price(Price price) {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("name", price.slug());
    body.put("billable", price.slug());
    body.put("billingMode", price.mode().wire());
    body.put("priceType", price.type().wire());
    body.put("rules", rules(price));
    body.put("blockOverage", price.blockOverage());
    putUnlessNull(body, "limit", price.limit());
    putUnlessNull(body, "maxUsage", price.maxUsage());
    return body;
  }

  private static Map<String, Object> rules(Price price) {
    Map<String, Object> rules = new LinkedHashMap<>();
    rules.put("quantity", price.quantity());
    putUnlessNull(rules, "price", price.price());
    if (!price.tiers().isEmpty()) {
      rules.put("tiers", price.tiers().stream().map(Player::tier).toList());
    }
    return rules;
  }

  private static Map<String, Object> tier(Tier tier) {
    Map<String, Object> body = new LinkedHashMap<>();
    putUnlessNull(body, "upTo", tier.upTo());
    body.put("price", tier.price());
    body.put("flatFee", tier.flatFee());
    return body;
  }

  private static void putUnlessNull(Map<String, Object> body, String name, Object value) {
    if (value != null) {
      body.put(name, value);
    }
  }
}
