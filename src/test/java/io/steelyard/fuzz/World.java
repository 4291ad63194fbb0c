package io.steelyard.fuzz;

import io.steelyard.json.Json;
import io.steelyard.support.ServiceProcess;
import java.math.BigDecimal;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * What exists before the first request: a merchant with some of everything, and others for what
 * would spoil it for the rest. Times are counted from the day, so that a request is made again
 * alike.
 *
 * @param ids some of each kind; those with one index belong together
 * @param homes the merchant whom an operator's operation is sent to, by what it changes; main for
 *     all that changes nothing of the others
 */
record World(
    Map<String, List<String>> ids,
    Map<String, String> homes,
    String key,
    String foreignKey,
    String publishableKey,
    Instant today) {
  static final int SIZE = 6;
  private static final long ANSWER_MAX_S = 30;

  /** A world of ids that nothing has, for a service that is none. */
  static World imagined() {
    Map<String, List<String>> ids = new HashMap<>();
    for (String kind :
        List.of("cus", "sub", "inv", "li", "plan", "cpu", "key", "cs", "externalId")) {
      ids.put(kind, IntStream.range(0, SIZE).mapToObj(i -> kind + "_" + i).toList());
    }
    Map<String, String> homes =
        Map.of("main", "mer_1", "catalog", "mer_2", "clock", "mer_3", "gateway", "mer_4");
    return new World(ids, homes, "sk_1", "sk_2", "pk_1", Instant.EPOCH);
  }

  static World in(ServiceProcess service, Object catalog) {
    return new Making(service).make(catalog);
  }

  /** What a member or parameter of this name should name, or null for anything. */
  Object value(String name, Dice dice) {
    return switch (name) {
      case "customerId" -> dice.one(ids.get("cus"));
      case "planId" -> dice.one(ids.get("plan"));
      case "subscriptionId" -> dice.one(ids.get("sub"));
      case "customPricingUnitId" -> dice.one(ids.get("cpu"));
      case "externalCustomerId" -> dice.one(ids.get("externalId"));
      case "externalId" -> "fuzz-" + dice.below(100_000);
      case "timezone" -> dice.pick("UTC", "America/New_York", "Asia/Kathmandu", "+05:30");
      case "baseUrl" -> "http://127.0.0.1:1/";
      case "eventName" -> dice.pick("api.request", "model.prompt", "model.answer");
      case "idempotencyKey" -> dice.chance(50) ? "k" + dice.below(500) : uuid(dice);
      case "generatedAt" -> near(dice, -20, 0);
      case "startDate", "invoiceGenerationStartDate" -> near(dice, -40, 40);
      case "endDate", "expiresAt" -> near(dice, 41, 80);
      case "amount" -> BigDecimal.valueOf(dice.between(1, 1000));
      default -> null;
    };
  }

  private static String uuid(Dice dice) {
    return new UUID(dice.between(0, Long.MAX_VALUE), dice.between(0, Long.MAX_VALUE)).toString();
  }

  private String near(Dice dice, int fromDays, int toDays) {
    Duration day = Duration.ofDays(1);
    long from = day.multipliedBy(fromDays).toSeconds();
    return today
        .plusSeconds(dice.between(from, day.multipliedBy(toDays).toSeconds() + 1))
        .toString();
  }

  /** A good value of a parameter of a path; null where any that fits its schema is. */
  String inPath(FuzzOperation operation, String parameter, Dice dice) {
    String kind =
        switch (parameter) {
          case "id" ->
              operation.operator()
                  ? "mer"
                  : operation.path().startsWith("/external/subscriptions") ? "sub" : "cus";
          case "externalId" -> "externalId";
          case "customerId" -> "cus";
          case "subscriptionId" -> "sub";
          case "invoiceId" -> "inv";
          case "lineItemId" -> "li";
          case "keyId" -> "key";
          case "sessionId" -> "cs";
          case "customPricingUnitId" -> "cpu";
          default -> null;
        };
    if (kind == null) {
      return null;
    }
    return kind.equals("mer") ? home(operation) : dice.one(ids.get(kind));
  }

  private String home(FuzzOperation operation) {
    String path = operation.path();
    boolean changes = !operation.method().equals("GET");
    if (changes && path.endsWith("/catalog")) {
      return homes.get("catalog");
    }
    if (path.endsWith("/clock")) {
      return homes.get("clock");
    }
    return homes.get(path.contains("/gateway-connections/") ? "gateway" : "main");
  }

  /** Makes one, over HTTP as anybody would. */
  private static final class Making {
    private final ServiceProcess service;
    private final Map<String, List<String>> ids = new HashMap<>();
    private String key;

    Making(ServiceProcess service) {
      this.service = service;
    }

    World make(Object catalog) {
      Map<String, Object> main = merchant("main", catalog);
      String id = (String) main.get("id");
      key = at(main, "apiKey", "key");
      Map<String, String> homes = new HashMap<>(Map.of("main", id));
      for (String other : List.of("catalog", "clock", "gateway")) {
        homes.put(other, (String) merchant(other, null).get("id"));
      }
      String path = "/operator/merchants/" + id;
      operator("PUT", path + "/gateway-connections/CardGateway", Map.of("kind", "sandbox"));
      Map<String, Object> applied = operator("PUT", path + "/catalog", catalog);
      ids.put("plan", List.of(at(applied, "plans", 0, "id"), at(applied, "plans", 1, "id")));
      ids.put("cpu", List.of(at(applied, "customPricingUnits", 0, "id")));
      for (int i = 0; i < SIZE; i++) {
        makeCustomer(path, i);
        add("key", operator("POST", path + "/api-keys", Map.of("type", "secret")).get("id"));
      }
      String publishable =
          at(operator("POST", path + "/api-keys", Map.of("type", "publishable")), "key");
      String foreign = at(merchant("foreign", catalog), "apiKey", "key");
      return new World(
          ids, homes, key, foreign, publishable, Instant.now().truncatedTo(ChronoUnit.DAYS));
    }

    private Map<String, Object> merchant(String name, Object catalog) {
      Map<String, Object> created =
          operator("POST", "/operator/merchants", Map.of("name", name, "environment", "test"));
      if (catalog != null) {
        operator("PUT", "/operator/merchants/" + created.get("id") + "/catalog", catalog);
      }
      return created;
    }

    private void makeCustomer(String merchant, int index) {
      String externalId = "of-the-world-" + index;
      Object customer =
          external("POST", "/external/customers", Map.of("externalId", externalId)).get("id");
      Map<String, Object> subscription =
          new HashMap<>(Map.of("customerId", customer, "planId", plan()));
      if (index % 2 == 1) { // whose invoices the operator may send to the gateway
        subscription.put("paymentGateway", "CardGateway");
      }
      Object subscriptionId =
          at(external("POST", "/external/subscriptions/bulk", List.of(subscription)), "0", "id");
      Object invoice =
          at(
              operator("GET", merchant + "/invoices?subscriptionId=" + subscriptionId, null),
              "results",
              0,
              "id");
      add("externalId", externalId);
      add("cus", customer);
      add("sub", subscriptionId);
      add("inv", invoice);
      add(
          "li",
          at(
              external("GET", "/external/invoices/" + invoice + "/with-line-items", null),
              "invoiceLineItems",
              0,
              "id"));
      add(
          "cs",
          external(
                  "POST",
                  "/external/customers/external-id/%s/card-gateway/checkout-sessions/setup"
                      .formatted(externalId),
                  Map.of("successUrl", "https://a.example"))
              .get("id"));
    }

    private String plan() {
      return ids.get("plan").getFirst();
    }

    private void add(String kind, Object id) {
      ids.computeIfAbsent(kind, none -> new java.util.ArrayList<>()).add((String) id);
    }

    private Map<String, Object> operator(String method, String path, Object body) {
      return answer(service.operator(method, path, body));
    }

    private Map<String, Object> external(String method, String path, Object body) {
      return answer(service.external(method, path, key, body));
    }

    /** An array as an object whose members are its places. */
    private static Map<String, Object> answer(CompletableFuture<HttpResponse<String>> asked) {
      HttpResponse<String> answer = asked.orTimeout(ANSWER_MAX_S, TimeUnit.SECONDS).join();
      if (answer.statusCode() / 100 != 2) {
        throw new AssertionError(answer.request().uri() + ": " + answer.body());
      }
      String body = answer.body();
      return body.startsWith("[")
          ? Json.readMap("{\"0\":" + first(body) + "}")
          : Json.readMap(body);
    }

    private static String first(String array) {
      return array.substring(1, array.length() - 1);
    }

    @SuppressWarnings("unchecked")
    private static String at(Object tree, Object... path) {
      Object value = tree;
      for (Object step : path) {
        value =
            step instanceof Integer index
                ? ((List<?>) value).get(index)
                : ((Map<String, Object>) value).get(step);
      }
      return (String) value;
    }
  }
}
