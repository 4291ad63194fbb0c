package io.steelyard.http;

import static io.steelyard.http.Tenant.absent;
import static io.steelyard.http.Tenant.withoutRequestId;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.json.Schemas;
import io.steelyard.support.Operations;
import io.steelyard.support.Operations.Operation;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import io.steelyard.support.TestApp.Call;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Every operation of both documents, with each id of its path exchanged for another merchant's, for
 * a guessed one, one of another kind and one that is none: the answer is that for an id which
 * nobody has, to the byte but for the request's own id.
 */
class ObjectAccessIT {
  /** What a path may name besides things that belong to somebody. */
  private static final Set<String> NO_IDS = Set.of("gateway", "month");

  private static final List<String> PREFIXES =
      List.of(
          "cus", "sub", "inv", "li", "cpu", "plan", "price", "mer", "key", "bil", "blk", "txn",
          "acc", "evt", "trn");

  private static final List<String> MALFORMED =
      List.of(
          "x",
          "cus_",
          "sub_!",
          "'",
          "%25",
          "%F0%9F%A7%BE",
          "..a",
          "-1",
          "0",
          "null",
          "*",
          "%2A",
          "'%20OR%20'1'='1",
          "%3B",
          "cus_01jd3c5m8y6cq643dzvmxxqkf",
          "true",
          "%5B%5D");

  private static final Set<String> NO_FILTERS =
      Set.of("page", "pageSize", "order", "orderBy", "status");

  private static TestApp app;
  private static Belongings ours;
  private static Belongings theirs;

  private final List<String> faults = new ArrayList<>();
  private int pairs;

  @BeforeAll
  static void start() {
    app = TestApp.start(Tenant.UNTOUCHED);
    ours = Belongings.of(Tenant.named(app, "ours"));
    theirs = Belongings.of(Tenant.named(app, "theirs"));
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static List<Operation> operations() {
    return Stream.concat(Operations.external().stream(), Operations.operator().stream()).toList();
  }

  private static List<String> ids(Operation operation) {
    return operation.parameters().stream().filter(name -> !NO_IDS.contains(name)).toList();
  }

  private static Map<String, String> good(Belongings tenant, Operation operation) {
    Map<String, String> good = new HashMap<>(Map.of("gateway", "CardGateway", "month", "2040-01"));
    ids(operation).forEach(name -> good.put(name, tenant.value(operation, name)));
    return good;
  }

  private static Call call(Belongings tenant, String method, String target) {
    return target.startsWith("/operator/")
        ? app.operator(method, target)
        : tenant.tenant().merchant().call(method, target);
  }

  private static Answer send(
      Belongings tenant, Operation operation, Map<String, String> parameters, Object body) {
    Call call = call(tenant, operation.method(), operation.with(parameters));
    return (body == null ? call : call.json(body)).send();
  }

  /** Each by what is wrong with it. */
  private static Map<String, String> wrong(Operation operation, String parameter) {
    String good = ours.value(operation, parameter);
    String foreign = theirs.value(operation, parameter);
    Map<String, String> wrong = new LinkedHashMap<>();
    theirs.ids().forEach((kind, id) -> wrong.put("their " + kind, id));
    ours.ids().forEach((kind, id) -> wrong.put("our " + kind, id));
    for (String id : List.of(good, foreign)) {
      for (char last : "0123456789abcdefghjk".toCharArray()) { // made at about the same time
        wrong.put("neighbour " + last + " of " + id, id.substring(0, id.length() - 1) + last);
      }
    }
    for (String prefix : PREFIXES) {
      for (String id : List.of(theirs.ids().get("customer"), theirs.ids().get("invoice"))) {
        wrong.put(prefix + " of " + id, prefix + "_" + id.substring(4));
      }
    }
    MALFORMED.forEach(malformed -> wrong.put("malformed " + malformed, malformed));
    wrong.put("upper case", good.toUpperCase(Locale.ROOT));
    wrong.put("without its prefix", good.substring(good.indexOf('_') + 1));
    wrong.put("long", good + "0".repeat(3000));
    Set<String> notWrong = new TreeSet<>(Set.of(good));
    if (operation.path().startsWith("/operator/") && parameter.equals("id")) {
      notWrong.add(foreign); // the operator serves every merchant
    }
    wrong.values().removeIf(notWrong::contains);
    return wrong;
  }

  private void compare(String what, String expected, Answer answer) {
    pairs++;
    String actual = withoutRequestId(answer);
    if (!actual.equals(expected)) {
      faults.add("%s: %s instead of %s".formatted(what, actual, expected));
    }
  }

  @Test
  void anIdThatIsNotOnesOwnIsAnsweredAsOneThatNobodyHas() {
    List<String> before = theirs.tenant().rows();
    for (Operation operation : operations()) {
      Object body = ours.body(operation);
      for (String parameter : ids(operation)) {
        Map<String, String> parameters = good(ours, operation);
        parameters.put(parameter, absent(parameters.get(parameter)));
        String expected = withoutRequestId(send(ours, operation, parameters, body));
        assertThat(expected).as("%s", operation).startsWith("404 ");
        wrong(operation, parameter)
            .forEach(
                (what, value) -> {
                  parameters.put(parameter, value);
                  compare(
                      "{%s} of %s, %s".formatted(parameter, operation, what),
                      expected,
                      send(ours, operation, parameters, body));
                });
      }
    }
    System.out.println("object access: " + pairs + " pairs of paths");

    assertThat(faults).isEmpty();
    assertThat(pairs).isGreaterThan(2000);
    assertThat(theirs.tenant().rows()).isEqualTo(before);
  }

  @Test
  void aFilterThatIsNotOnesOwnFindsNothing() {
    Map<String, List<String>> lists = new LinkedHashMap<>();
    lists.putAll(filters(Schemas.external()));
    lists.putAll(filters(Schemas.operator()));
    lists.forEach(
        (path, filters) -> {
          String list = path.replace("{id}", ours.ids().get("merchant"));
          for (String filter : filters) {
            String target = list + "?" + filter + "=";
            String expected = withoutRequestId(call(ours, "GET", target + "absent").send());
            assertThat(expected).as(target).startsWith("200 ").contains("\"count\":0");
            for (String value : theirs.all()) {
              compare(target + value, expected, call(ours, "GET", target + value).send());
            }
          }
        });
    System.out.println("object access: " + pairs + " filters");

    assertThat(faults).isEmpty();
    assertThat(lists.keySet())
        .containsExactlyInAnyOrder(
            "/external/customers", "/external/subscriptions", "/operator/merchants/{id}/invoices");
  }

  /** Those of lists, by path, as the document names them. */
  private static Map<String, List<String>> filters(Schemas schemas) {
    JsonObject document = new JsonObject(schemas.json());
    JsonObject components = document.getJsonObject("components").getJsonObject("parameters");
    Map<String, List<String>> lists = new LinkedHashMap<>();
    for (Map.Entry<String, Object> path : document.getJsonObject("paths")) {
      JsonObject get = ((JsonObject) path.getValue()).getJsonObject("get", new JsonObject());
      List<String> filters =
          get.getJsonArray("parameters", new JsonArray()).stream()
              .map(each -> ((JsonObject) each).getString("$ref").replaceAll(".*/", ""))
              .map(components::getJsonObject)
              .filter(each -> each.getString("in").equals("query"))
              .map(each -> each.getString("name"))
              .filter(name -> !NO_FILTERS.contains(name))
              .toList();
      if (!filters.isEmpty()) {
        lists.put(path.getKey(), filters);
      }
    }
    return lists;
  }

  /** Or the others could not see a difference. */
  @Test
  void onesOwnIdIsFoundByEveryOperation() {
    Belongings own = Belongings.of(Tenant.named(app, "own"));
    List<Operation> deletingLast =
        operations().stream()
            .sorted(Comparator.comparing(each -> each.method().equals("DELETE")))
            .toList();
    for (Operation operation : deletingLast) {
      if (!ids(operation).isEmpty()) {
        Answer answer = send(own, operation, good(own, operation), own.body(operation));

        assertThat(answer.status()).as("%s: %s", operation, answer.text()).isNotEqualTo(404);
      }
    }
  }

  @Test
  void whatNamesNothingOfAMerchantIsKnown() {
    assertThat(operations().stream().filter(each -> ids(each).isEmpty()).map(Operation::toString))
        .containsExactlyInAnyOrder(
            // TenantIsolationIT has a test of each
            "POST /external/customers",
            "GET /external/customers",
            "POST /external/customers/upsert/bulk",
            "POST /external/subscriptions/bulk",
            "GET /external/subscriptions",
            "POST /external/event",
            "POST /external/event/",
            // the operator's own
            "POST /operator/merchants",
            "GET /operator/merchants",
            "GET /operator/events/months",
            "DELETE /operator/events/months/{month}");
  }
}
