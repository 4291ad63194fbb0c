package io.steelyard.support;

import io.steelyard.support.TestApp.Answer;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** A merchant of a {@link TestApp}, with its key and what a test does most. */
public record Merchant(TestApp app, String id, String key) {
  private static final long SEEN_WITHIN_MS = 30_000;
  private static final long STARTS_WITHIN_MS = 10_000;

  /** A plan with a base price, a metered price in dollars and one in units that it allocates. */
  public static final String CATALOG =
      """
      customPricingUnits:
        - {key: credits, displayName: Credits, displayNameSingular: Credit, shortName: cr}
      billables:
        - slug: api-requests
          name: API requests
          description: Requests to the public API
          singleUnitLabel: request
          multipleUnitLabel: requests
          eventQueryRules:
            conditions: [[{key: eventName, rule: matches, value: api.request}]]
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
          description: For teams
          netTerms: net30
          basePrices: {monthly: 49, quarterly: 140, annually: 490}
          prices:
            - {name: API requests, billable: api-requests, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 0.002}, limit: 100, maxUsage: 500, blockOverage: true}
            - {name: Tokens, billable: tokens, billingMode: arrears, priceType: unit,
               rules: {quantity: 1000, price: 2}, usesCustomPricingUnit: true,
               customPricingUnit: credits}
          allocations:
            - {customPricingUnit: credits, amount: 1000, billingCadence: monthly}
        - externalId: lite
          name: Lite
          basePrices: {monthly: 9}
      defaultPlan: pro
      """;

  /** A request of the external API with this merchant's key. */
  public TestApp.Call call(String method, String path) {
    return app.external(method, path).key(key);
  }

  public Answer get(String path) {
    return call("GET", path).send();
  }

  public Answer post(String path, Object body) {
    return call("POST", path).json(body).send();
  }

  /** A request of the operator API below this merchant's path. */
  public TestApp.Call operator(String method, String path) {
    return app.operator(method, "/operator/merchants/" + id + path);
  }

  public Map<String, Object> applyCatalog(String yaml) {
    return operator("PUT", "/catalog")
        .body(yaml.getBytes(StandardCharsets.UTF_8), "application/yaml")
        .send(200)
        .object();
  }

  /** The id of a plan by its externalId, by applying the catalogue again. */
  public String planId(String catalog, String externalId) {
    List<Map<String, Object>> plans = Answer.at(applyCatalog(catalog), "plans");
    return plans.stream()
        .filter(plan -> plan.get("externalId").equals(externalId))
        .map(plan -> (String) plan.get("id"))
        .findFirst()
        .orElseThrow();
  }

  /** The id of the catalogue's first custom pricing unit. */
  public String unitId(String catalog) {
    return Answer.at(applyCatalog(catalog), "customPricingUnits.0.id");
  }

  public Map<String, Object> createCustomer(String externalId) {
    return call("POST", "/external/customers")
        .json(Map.of("externalId", externalId))
        .send(201)
        .object();
  }

  public String customerId(String externalId) {
    return (String) createCustomer(externalId).get("id");
  }

  /** Stops the clock of a test merchant at an instant. */
  public Merchant at(String now) {
    operator("PUT", "/clock").json(Map.of("now", now)).send(200);
    return this;
  }

  public Merchant connect(String gateway) {
    operator("PUT", "/gateway-connections/" + gateway).json(Map.of("kind", "sandbox")).send(200);
    return this;
  }

  /** Creates one subscription. */
  public Map<String, Object> subscribe(Map<String, ?> body) {
    Answer answer = call("POST", "/external/subscriptions/bulk").json(List.of(body)).send(201);
    return answer.at("0");
  }

  /** Tries to give units by hand; without expiry when that is null. */
  public Answer allocate(String customerId, String unitId, String amount, String expiresAt) {
    Map<String, Object> body = new HashMap<>();
    body.put("customPricingUnitId", unitId);
    body.put("amount", new BigDecimal(amount));
    if (expiresAt != null) {
      body.put("expiresAt", expiresAt);
    }
    return operator("POST", "/customers/" + customerId + "/allocations").json(body).send();
  }

  /** The id of a new customer's subscription that starts by itself, as soon as may be. */
  public String startsSoon(String catalog, String plan) {
    return (String)
        startsSoon(Map.of("customerId", customerId("acme"), "planId", planId(catalog, plan)))
            .get("id");
  }

  /** As {@link #subscribe}, with a start that is not far, but has not come when it is created. */
  public Map<String, Object> startsSoon(Map<String, ?> body) {
    Map<String, Object> all = new HashMap<>(body);
    for (long inMs = 500; inMs <= STARTS_WITHIN_MS; inMs *= 2) {
      all.put("startDate", Instant.now().plusMillis(inMs).toString());
      Map<String, Object> created = subscribe(all);
      if (created.get("status").equals("pendingActivation")) {
        return created;
      }
    }
    throw new AssertionError("each subscription was created after its start");
  }

  /** The status of a subscription, once it could be noticed that it has started. */
  public String statusOnceStarted(String subscriptionId) throws Exception {
    return eventually(
        () ->
            call("GET", "/external/subscriptions/" + subscriptionId).send(200).<String>at("status"),
        "active"::equals);
  }

  /** The heads of up to 100 invoices by number. */
  public List<Map<String, Object>> invoices() {
    return operator("GET", "/invoices?pageSize=100&orderBy=vanityId&order=asc")
        .send(200)
        .at("results");
  }

  /** The invoice a subscription began with, with its lines; it must be the only one. */
  public Answer invoiceOf(Object subscriptionId) {
    List<Map<String, Object>> invoices =
        operator("GET", "/invoices?subscriptionId=" + subscriptionId).send(200).at("results");
    if (invoices.size() != 1) {
      throw new AssertionError("expected one invoice: " + invoices);
    }
    return get("/external/invoices/" + invoices.getFirst().get("id") + "/with-line-items");
  }

  /** An event now, with {@code data.count}. */
  public Map<String, Object> event(String customerId, String name, long count, String key) {
    return event(customerId, name, count, key, Instant.now());
  }

  public Map<String, Object> event(
      String customerId, String name, long count, String key, Instant at) {
    Map<String, Object> event = new HashMap<>();
    event.put("customerId", customerId);
    event.put("eventName", name);
    event.put("generatedAt", at.toString());
    event.put("data", Map.of("count", count));
    if (key != null) {
      event.put("idempotencyKey", key);
    }
    return event;
  }

  /** What {@code question} answers for 0 to {@code count}, all asked at the same time. */
  public static <T> List<T> atOnce(int count, IntFunction<T> question) {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<T>> answers =
          IntStream.range(0, count).mapToObj(i -> threads.submit(() -> question.apply(i))).toList();
      List<T> all = new ArrayList<>();
      for (Future<T> answer : answers) {
        all.add(answer.get());
      }
      return all;
    } catch (InterruptedException | ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Asks again until the answer is as expected; the last answer when it never is. */
  public static <T> T eventually(Callable<T> question, java.util.function.Predicate<T> expected)
      throws Exception {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SEEN_WITHIN_MS);
    T answer = question.call();
    while (!expected.test(answer) && System.nanoTime() < end) {
      Thread.sleep(20);
      answer = question.call();
    }
    return answer;
  }
}
