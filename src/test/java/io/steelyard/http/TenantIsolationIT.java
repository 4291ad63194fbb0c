package io.steelyard.http;

import static io.steelyard.http.Tenant.absent;
import static io.steelyard.http.Tenant.withoutRequestId;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Operations;
import io.steelyard.support.Operations.Operation;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import io.steelyard.support.TestApp.Call;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** To one merchant everything of another is as if it did not exist, on every path there is. */
class TenantIsolationIT {
  private static final String CUSTOMERS = "/external/customers";
  private static final String SUBSCRIPTIONS = "/external/subscriptions";

  /** Operations without a parameter in their path, each with a test of its own here. */
  private static final Set<String> TOLD_APART_BELOW =
      Set.of(
          "POST /external/customers",
          "GET /external/customers",
          "POST /external/customers/upsert/bulk",
          "POST /external/subscriptions/bulk",
          "GET /external/subscriptions",
          "POST /external/event",
          "POST /external/event/");

  private static TestApp app;
  private static Tenant ours;
  private static Tenant theirs;

  @BeforeAll
  static void start() {
    app = TestApp.start();
    ours = Tenant.named(app, "ours");
    theirs = Tenant.named(app, "theirs");
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  static List<Operation> operationsWithIds() {
    return Operations.external().stream().filter(one -> !one.parameters().isEmpty()).toList();
  }

  private static Answer send(Tenant tenant, Operation operation, Map<String, String> parameters) {
    Call call = tenant.merchant().call(operation.method(), operation.with(parameters));
    return (operation.examples().isEmpty() ? call : call.json(tenant.body(operation))).send();
  }

  @Test
  void everyOperationOfTheDocumentIsMetHere() {
    Set<String> withoutIds =
        Operations.external().stream()
            .filter(operation -> operation.parameters().isEmpty())
            .map(Operation::toString)
            .collect(Collectors.toSet());

    assertThat(withoutIds).isEqualTo(TOLD_APART_BELOW);
  }

  @ParameterizedTest
  @MethodSource("operationsWithIds")
  void anIdOfAnotherMerchantIsAnsweredAsOneThatNobodyHas(Operation operation) {
    Map<String, String> good = ours.parameters(operation);
    List<String> before = theirs.rows();
    for (String parameter : operation.parameters()) {
      Map<String, String> wrong = new LinkedHashMap<>();
      wrong.put("foreign", theirs.parameters(operation).get(parameter));
      wrong.put("absent", absent(good.get(parameter)));
      for (String other : List.of("cus", "sub", "inv", "cpu", "plan", "mer", "evt", "price")) {
        String uuidOfTheirs = theirs.customerId().substring(4);
        if (!good.get(parameter).startsWith(other)) {
          wrong.put("kind " + other, other + "_" + uuidOfTheirs);
        }
      }
      wrong.put("of another kind of ours", parameter.equals("id") ? ours.unit() : ours.plan());
      for (String malformed : List.of("x", "cus_", "sub_!", "'", "%25", "%F0%9F%A7%BE", "..a")) {
        wrong.put("malformed " + malformed, malformed);
      }
      wrong.put("upper case", good.get(parameter).toUpperCase(java.util.Locale.ROOT));
      wrong.put("long", good.get(parameter) + "0".repeat(3000));
      Map<String, String> answers = new LinkedHashMap<>();
      wrong.forEach(
          (what, value) -> {
            Map<String, String> parameters = new HashMap<>(good);
            parameters.put(parameter, value);
            answers.put(what, withoutRequestId(send(ours, operation, parameters)));
          });

      assertThat(answers.get("absent")).startsWith("404 ");
      assertThat(answers)
          .as("{%s} of %s", parameter, operation)
          .allSatisfy((what, answer) -> assertThat(answer).isEqualTo(answers.get("absent")));
    }
    assertThat(theirs.rows()).isEqualTo(before);
  }

  @ParameterizedTest
  @ValueSource(strings = {"cancel", "renew"})
  void theExternalIdOfAnotherMerchantsCustomerMatchesNoSubscription(String what) {
    String path = SUBSCRIPTIONS + "/" + ours.subscriptionId() + "/" + what;
    List<String> answers = new ArrayList<>();
    for (String externalId : List.of("of-theirs", "absent", "shared")) {
      answers.add(
          withoutRequestId(ours.merchant().post(path, Map.of("externalCustomerId", externalId))));
    }
    assertThat(answers.get(0)).startsWith("422 ");
    assertThat(answers).containsOnly(answers.get(0));
  }

  @Test
  void listsCountsAndFiltersNeverShowForeignRows() {
    for (String path : List.of(CUSTOMERS, SUBSCRIPTIONS)) {
      Answer list = ours.merchant().get(path + "?pageSize=100");
      assertThat(list.<List<Map<String, Object>>>at("results"))
          .isNotEmpty()
          .allSatisfy(row -> assertThat(row).containsEntry("merchantId", ours.merchant().id()))
          .hasSize(list.<Integer>at("count"));
    }
    for (String filter :
        List.of(
            CUSTOMERS + "?externalId=of-theirs",
            CUSTOMERS + "?id=" + theirs.customerId(),
            SUBSCRIPTIONS + "?id=" + theirs.subscriptionId(),
            SUBSCRIPTIONS + "?customerId=" + theirs.customerId(),
            SUBSCRIPTIONS + "?planId=" + planOf(theirs),
            SUBSCRIPTIONS + "?status=active&customerId=" + theirs.customerId())) {
      assertThat(ours.merchant().get(filter).text())
          .as(filter)
          .isEqualTo(ours.merchant().get(CUSTOMERS + "?id=absent").text());
      assertThat(theirs.merchant().get(filter).<Integer>at("count")).as(filter).isPositive();
    }
  }

  private static String planOf(Tenant tenant) {
    return Answer.at(tenant.customer(), "subscriptions.0.planId");
  }

  @Test
  void filtersOnValuesThatBothMerchantsHaveShowOnlyOnesOwn() {
    for (Tenant tenant : List.of(ours, theirs)) {
      tenant
          .merchant()
          .call("POST", CUSTOMERS + "/upsert/bulk")
          .json(
              List.of(
                  Map.of(
                      "externalId", "twin",
                      "name", "Twin",
                      "email", "twin@a.example",
                      "ledgerAId", "A1",
                      "cardGatewayId", "C1")))
          .send(200);
    }
    for (String filter :
        List.of("externalId=twin", "name=Twin", "email=twin@a.example", "ledgerAId=A1")) {
      Answer list = ours.merchant().get(CUSTOMERS + "?" + filter);
      assertThat(list.<Integer>at("count")).isEqualTo(1);
      assertThat(list.<String>at("results.0.merchantId")).isEqualTo(ours.merchant().id());
    }
    assertThat(ours.merchant().get(CUSTOMERS + "?cardGatewayId=C1").<Integer>at("count"))
        .isEqualTo(1);
  }

  @Test
  void theSameExternalIdNamesACustomerOfEachMerchant() {
    List<String> before = theirs.rows();
    ours.merchant().createCustomer("of-theirs");
    ours.merchant()
        .call("POST", CUSTOMERS + "/upsert/bulk")
        .json(List.of(Map.of("externalId", "of-theirs", "name", "Mine")))
        .send(200);
    Answer transactions = ours.merchant().get(CUSTOMERS + "/external-id/of-theirs/transactions");

    assertThat(theirs.rows()).isEqualTo(before);
    assertThat(transactions.<String>at("results.0.merchantId")).isEqualTo(ours.merchant().id());
    assertThat(ours.merchant().get(CUSTOMERS + "?name=Mine").<String>at("results.0.id"))
        .isNotEqualTo(theirs.customerId());
    PostgresSupport.execute( // the others of this class need it absent
        app.database(), "UPDATE customer SET external_id = 'renamed' WHERE name = 'Mine'");
  }

  @Test
  void subscriptionsOfForeignCustomersOrPlansAreNotMade() {
    List<String> before = theirs.rows();
    String customer = ours.customerId();
    String plan = ours.plan();

    assertThat(subscribe(theirs.customerId(), plan))
        .startsWith("422 ")
        .contains("/0/customerId")
        .isEqualTo(subscribe(absent(customer), plan));
    assertThat(subscribe(customer, theirs.plan()))
        .startsWith("422 ")
        .contains("/0/planId")
        .isEqualTo(subscribe(customer, absent(plan)));
    assertThat(theirs.rows()).isEqualTo(before);
  }

  private static String subscribe(String customer, String plan) {
    return withoutRequestId(
        ours.merchant()
            .post(
                SUBSCRIPTIONS + "/bulk", List.of(Map.of("customerId", customer, "planId", plan))));
  }

  @Test
  void theSameIdempotencyKeyIsAnEventOfEachMerchant() {
    for (Tenant tenant : List.of(ours, theirs)) {
      Map<String, Object> event =
          tenant.merchant().event(tenant.customerId(), "n", 1, "the-same-key");
      for (int accepted : new int[] {1, 0}) {
        assertThat(tenant.merchant().post("/external/event", event).text())
            .isEqualTo("{\"accepted\":%d,\"duplicates\":%d}".formatted(accepted, 1 - accepted));
      }
    }
  }

  @Test
  void anEventForAnotherMerchantsCustomerIsOnlyEverOurs() {
    String usage =
        "%s/external-id/of-theirs/customPricingUnits/%s/usage".formatted(CUSTOMERS, theirs.unit());
    String before = theirs.merchant().get(usage).text();
    Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
    ours.merchant()
        .call("POST", "/external/event/")
        .json(ours.merchant().event(theirs.customerId(), "tokens", 5000, "foreign", now))
        .send(202);

    assertThat(theirs.merchant().get(usage).text()).isEqualTo(before);
    assertThat(
            theirs
                .merchant()
                .post(
                    "/external/event",
                    theirs.merchant().event(theirs.customerId(), "n", 0, "foreign", now))
                .<Integer>at("accepted"))
        .isEqualTo(1);
  }
}
