package io.steelyard.http;

import static io.steelyard.http.Tenant.absent;
import static io.steelyard.http.Tenant.withoutRequestId;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * To one merchant everything of another is as if it did not exist: what bodies and filters name,
 * and what lists show. For the ids of paths see {@link ObjectAccessIT}.
 */
class TenantIsolationIT {
  private static final String CUSTOMERS = "/external/customers";
  private static final String SUBSCRIPTIONS = "/external/subscriptions";

  private static TestApp app;
  private static Tenant ours;
  private static Tenant theirs;

  @BeforeAll
  static void start() {
    app = TestApp.start(Tenant.UNTOUCHED);
    ours = Tenant.named(app, "ours");
    theirs = Tenant.named(app, "theirs");
  }

  @AfterAll
  static void stop() {
    app.close();
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
