package io.steelyard.billing;

import io.steelyard.db.Endpoint;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * A test merchant with many subscriptions of all cadences in the middle of their lives, with usage
 * on time, late and not yet counted: what a billing run is tried on, in as many copies as wanted.
 *
 * @param database nobody is connected to it
 */
record Crowd(Endpoint database, String merchantId, String key, List<String> customers) {
  /** Usually. */
  static final int SUBSCRIPTIONS = 2000;

  static final Instant BEGIN = Instant.parse("2040-01-01T00:00:00Z");
  static final Instant NOW = Instant.parse("2040-02-01T00:00:00Z");

  private static final int BATCH = 1000;

  static final String CATALOG =
      """
      customPricingUnits:
        - {key: credits, displayName: Credits, displayNameSingular: Credit, shortName: cr}
      billables:
        - slug: calls
          name: Calls
          eventQueryRules:
            conditions: [[{key: eventName, rule: matches, value: call}]]
            calculation: sum
            overProperty: data.count
        - slug: tokens
          name: Tokens
          eventQueryRules:
            conditions: [[{key: eventName, rule: matches, value: tokens}]]
            calculation: sum
            overProperty: data.count
      plans:
        - externalId: pro
          name: Pro
          netTerms: net30
          basePrices: {monthly: 49, quarterly: 140, annually: 490}
          prices:
            - {name: Calls, billable: calls, billingMode: arrears, priceType: tiered,
               rules: {quantity: 1, tiers: [{upTo: 10, price: 1}, {price: 0.333}]}}
            - {name: Tokens, billable: tokens, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 1}, usesCustomPricingUnit: true,
               customPricingUnit: credits}
          allocations:
            - {customPricingUnit: credits, amount: 100, billingCadence: monthly, rolloverMax: 30}
      """;

  /** Billed through its first month, with late events that are counted and some that wait. */
  static Crowd make(Map<String, String> settings) throws Exception {
    return make(PostgresSupport.migratedDatabase(), settings, SUBSCRIPTIONS);
  }

  /**
   * As {@link #make(Map)}, in a database that nobody else is connected to.
   *
   * @param subscriptions a multiple of 10; nine customers have ten
   */
  static Crowd make(Endpoint database, Map<String, String> settings, int subscriptions)
      throws Exception {
    Crowd crowd;
    try (TestApp app = TestApp.start(database, settings)) {
      Merchant merchant = app.merchant("test", CATALOG).at(BEGIN.toString()).connect("LedgerA");
      List<String> customers = customers(merchant, subscriptions / 10 * 9);
      crowd = new Crowd(database, merchant.id(), merchant.key(), customers);
      crowd.subscribe(merchant, subscriptions);
      crowd.use(merchant, "early", BEGIN, 100, true);
      crowd.use(merchant, "soon", NOW, 35, true);
      merchant.at(NOW.toString());
      crowd.use(merchant, "late", NOW.minus(Duration.ofDays(40)), 30, true);
      crowd.awaitCounted();
    }
    Map<String, String> idle = new HashMap<>(settings);
    idle.put("verticles.aggregation.instances", "0");
    try (TestApp app = TestApp.start(database, idle)) {
      crowd.use(crowd.in(app), "on time", NOW, 70, false);
    }
    return crowd;
  }

  private void awaitCounted() throws Exception {
    String waiting = "SELECT count(*) FROM event_batch";
    if (!Merchant.eventually(() -> one(waiting), "0"::equals).equals("0")) {
      throw new AssertionError("events still wait");
    }
  }

  private static List<String> customers(Merchant merchant, int count) {
    List<String> ids = new ArrayList<>();
    for (int from = 0; from < count; from += BATCH) {
      List<Map<String, Object>> bodies = new ArrayList<>();
      for (int i = from; i < Math.min(from + BATCH, count); i++) {
        bodies.add(Map.of("externalId", "customer-" + i));
      }
      Answer answer =
          merchant.call("POST", "/external/customers/upsert/bulk").json(bodies).send(200);
      answer.list().forEach(each -> ids.add((String) ((Map<?, ?>) each).get("id")));
    }
    return ids;
  }

  private void subscribe(Merchant merchant, int count) {
    String plan = merchant.planId(CATALOG, "pro");
    for (int from = 0; from < count; from += BATCH) {
      List<Map<String, Object>> bodies = new ArrayList<>();
      for (int i = from; i < Math.min(from + BATCH, count); i++) {
        bodies.add(subscription(i, plan));
      }
      merchant.call("POST", "/external/subscriptions/bulk").json(bodies).send(201);
    }
  }

  /** Those that are due at the same instant are many: up to 36 of each day of the start. */
  private Map<String, Object> subscription(int i, String plan) {
    Map<String, Object> body = new HashMap<>();
    body.put("customerId", customers.get(i % customers.size()));
    body.put("planId", plan);
    body.put("startDate", BEGIN.minus(Duration.ofDays(14 - i % 28)).toString());
    body.put("billingCadence", i % 10 == 7 ? "annually" : i % 10 == 5 ? "quarterly" : "monthly");
    if (i % 10 == 3) {
      body.put("endDate", i % 20 == 3 ? "2040-01-25T00:00:00Z" : "2040-03-05T06:00:00Z");
    }
    if (i % 20 == 11) {
      body.put("paymentGateway", "LedgerA");
      body.put("autoSyncInvoice", true);
    }
    return body;
  }

  /**
   * Calls of every third customer, by turns, within so many days. Which units an event draws also
   * depends on the clock when it is counted and on what has been allocated to its customer by then:
   * tokens are only used by customers with one subscription, and only where that is the same in
   * every copy of a run.
   */
  private void use(Merchant merchant, String name, Instant from, int days, boolean tokens) {
    List<Map<String, Object>> events = new ArrayList<>();
    int withTwo = customers.size() / 9;
    for (int i = 0; i < customers.size(); i++) {
      if (i % 3 == Math.floorMod(name.hashCode(), 3)) {
        Instant at = from.plus(Duration.ofMinutes(i * 7919L % (days * 1440L)));
        String key = name + "-" + i;
        events.add(merchant.event(customers.get(i), "call", 1 + i % 17, key, at));
        if (tokens && i >= withTwo) {
          events.add(merchant.event(customers.get(i), "tokens", 5 + i % 90, key + "-t", at));
        }
      }
    }
    merchant.call("POST", "/external/event/").json(events).send(202);
  }

  /** The same facts in a database of their own. */
  Crowd copy() {
    Endpoint copy = PostgresSupport.copyOf(database);
    return new Crowd(copy, merchantId, key, customers);
  }

  /** As {@link #copy}, where it is on another server than that of the tests. */
  Crowd copyElsewhere() {
    return new Crowd(PostgresSupport.copyElsewhere(database), merchantId, key, customers);
  }

  Merchant in(TestApp app) {
    return new Merchant(app, merchantId, key);
  }

  UUID merchantUuid() {
    return Id.parse(IdKind.MERCHANT, merchantId).orElseThrow().uuid();
  }

  String one(String sql) {
    return Tables.query(database, sql).getFirst();
  }
}
