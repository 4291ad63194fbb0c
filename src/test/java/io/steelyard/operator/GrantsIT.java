package io.steelyard.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What an operator gives one customer: private plans, and units by hand. */
class GrantsIT {
  private static final String CATALOG =
      Merchant.CATALOG.replace("name: Lite\n", "name: Lite\n    isPrivate: true\n");

  private static TestApp app;
  private static Merchant merchant;
  private static String plan;
  private static String unit;
  private static int customers;

  @BeforeAll
  static void start() {
    app = TestApp.start();
    merchant = app.merchant("test", CATALOG);
    plan = merchant.planId(CATALOG, "lite");
    unit = merchant.unitId(CATALOG);
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private record Customer(String id, String externalId) {}

  private static Customer customer() {
    String externalId = "customer-" + ++customers;
    return new Customer((String) merchant.createCustomer(externalId).get("id"), externalId);
  }

  private static Answer grant(String customerId, String planId) {
    return merchant
        .operator("POST", "/customers/" + customerId + "/private-plans")
        .json(Map.of("planId", planId))
        .send();
  }

  private static Answer allocate(String customerId, Map<String, ?> body) {
    return merchant.operator("POST", "/customers/" + customerId + "/allocations").json(body).send();
  }

  private static Answer subscribe(Customer customer) {
    return merchant.post(
        "/external/subscriptions/bulk",
        List.of(Map.of("customerId", customer.id(), "planId", plan)));
  }

  private static Answer usage(Customer customer) {
    return merchant
        .call(
            "GET",
            "/external/customers/external-id/%s/customPricingUnits/%s/usage"
                .formatted(customer.externalId(), unit))
        .send(200);
  }

  @Test
  void grantingAPrivatePlanAgainChangesNothing() {
    Customer customer = customer();

    Answer first = grant(customer.id(), plan);
    Answer again = grant(customer.id(), plan);

    assertThat(first.status()).isEqualTo(200);
    assertThat(first.object())
        .containsEntry("customerId", customer.id())
        .containsEntry("planId", plan);
    assertThat(again.object()).isEqualTo(first.object());
    assertThat(PostgresSupport.column(app.database(), "SELECT count(*) FROM customer_private_plan"))
        .containsExactly("1");
    assertThat(subscribe(customer).status()).isEqualTo(201);
  }

  @Test
  void aGrantNeedsACustomerAndAPlanOfTheMerchant() {
    Customer customer = customer();
    Merchant stranger = app.merchant("test", CATALOG);

    assertThat(grant("none", plan).<String>at("code")).isEqualTo("customer_not_found");
    assertThat(grant(customer.id(), "none").<String>at("code")).isEqualTo("plan_not_found");
    assertThat(grant(customer.id(), stranger.planId(CATALOG, "lite")).status()).isEqualTo(404);
    assertThat(
            stranger
                .operator("POST", "/customers/" + customer.id() + "/private-plans")
                .json(Map.of("planId", plan))
                .send()
                .status())
        .isEqualTo(404);
    assertThat(
            merchant
                .operator("POST", "/customers/" + customer.id() + "/private-plans")
                .json(Map.of("plan", plan))
                .send(400)
                .faults())
        .containsExactlyInAnyOrder("/planId required", "/plan unknown_property");
  }

  @Test
  void unitsGivenByHandAddToTheBalanceAndStandInTheLedger() {
    Customer customer = customer();
    BigDecimal before =
        usage(customer).<Number>at("remaining") instanceof Number n
            ? new BigDecimal(n.toString())
            : null;

    Answer given =
        allocate(
            customer.id(), Map.of("customPricingUnitId", unit, "amount", new BigDecimal("0.125")));

    assertThat(given.status()).as(given.text()).isEqualTo(201);
    assertThat(given.object()).containsEntry("expiresAt", null);
    assertThat(given.<BigDecimal>at("remaining")).isEqualByComparingTo("0.125");
    assertThat(usage(customer).<BigDecimal>at("remaining"))
        .isEqualByComparingTo(before.add(new BigDecimal("0.125")));
    Answer ledger =
        merchant.get("/external/customers/external-id/" + customer.externalId() + "/transactions");
    assertThat(ledger.<Object>at("count")).isEqualTo(2);
    assertThat(ledger.<String>at("results.0.allocationBlockId")).isEqualTo(given.at("id"));
    assertThat(ledger.<BigDecimal>at("results.0.amount")).isEqualByComparingTo("0.125");
  }

  @Test
  void everyAllocationIsABlockOfItsOwn() {
    Customer customer = customer();
    Map<String, Object> body =
        Map.of("customPricingUnitId", unit, "amount", 5, "expiresAt", "2090-01-01T00:00:00Z");

    String one = allocate(customer.id(), body).at("id");
    String two = allocate(customer.id(), body).at("id");

    assertThat(one).isNotEqualTo(two);
    assertThat(usage(customer).<Object>at("remaining")).hasToString("1010");
  }

  @Test
  void anAllocationWithAKeyIsGivenOnce() {
    Customer customer = customer();
    String path = "/customers/" + customer.id() + "/allocations";
    Map<String, Object> body = Map.of("customPricingUnitId", unit, "amount", 5);

    Answer first = keyed(path, "gift", body);
    Answer again = keyed(path, "gift", body);
    Answer other = keyed(path, "gift", Map.of("customPricingUnitId", unit, "amount", 6));
    Answer elsewhere = keyed("/customers/" + customer().id() + "/allocations", "gift", body);

    assertThat(first.status()).as(first.text()).isEqualTo(201);
    assertThat(again.status()).isEqualTo(201);
    assertThat(again.text()).isEqualTo(first.text());
    assertThat(again.header("idempotent-replayed")).isEqualTo("true");
    assertThat(other.problem()).isEqualTo("422 idempotency_key_reused []");
    assertThat(elsewhere.problem()).isEqualTo("422 idempotency_key_reused []");
    assertThat(usage(customer).<Object>at("remaining")).hasToString("1005");
  }

  @Test
  void fiftyAllocationsAtOnceWithOneKeyAreOne() {
    Customer customer = customer();
    String path = "/customers/" + customer.id() + "/allocations";
    Map<String, Object> body = Map.of("customPricingUnitId", unit, "amount", 5);

    List<Integer> statuses =
        Merchant.atOnce(50, i -> keyed(path, "fifty", body).status()).stream().distinct().toList();

    assertThat(statuses).contains(201).isSubsetOf(201, 409);
    assertThat(usage(customer).<Object>at("remaining")).hasToString("1005");
  }

  private static Answer keyed(String path, String key, Map<String, ?> body) {
    return merchant.operator("POST", path).header("idempotency-key", key).json(body).send();
  }

  @Test
  void whatExpiresNextIsShown() {
    Customer customer = customer();
    String soon = java.time.Instant.now().plusSeconds(3600).toString().substring(0, 19) + "Z";

    allocate(customer.id(), Map.of("customPricingUnitId", unit, "amount", 5, "expiresAt", soon));

    Answer usage = usage(customer);
    assertThat(usage.<Object>at("nextExpiring.amountRemaining")).hasToString("5");
    assertThat(usage.<String>at("nextExpiring.expiration")).startsWith(soon.substring(0, 19));
  }

  @Test
  void anAllocationThatCannotBeIsRefusedWithItsFaults() {
    Customer customer = customer();
    Answer past =
        allocate(
            customer.id(),
            Map.of("customPricingUnitId", unit, "amount", 1, "expiresAt", "2001-01-01T00:00:00Z"));

    assertThat(past.status()).isEqualTo(422);
    assertThat(past.faults()).containsExactly("/expiresAt expiry_in_the_past");
    for (Object amount : new Object[] {0, -1}) {
      assertThat(
              allocate(customer.id(), Map.of("customPricingUnitId", unit, "amount", amount))
                  .faults())
          .containsExactly("/amount minimum");
    }
    assertThat(allocate(customer.id(), Map.of("amount", "5")).faults())
        .containsExactlyInAnyOrder("/customPricingUnitId required", "/amount type");
    Map<String, Object> good = Map.of("customPricingUnitId", unit, "amount", 1);
    assertThat(allocate("none", good).<String>at("code")).isEqualTo("customer_not_found");
    assertThat(
            allocate(customer.id(), Map.of("customPricingUnitId", "none", "amount", 1))
                .<String>at("code"))
        .isEqualTo("custom_pricing_unit_not_found");
    assertThat(usage(customer).<Object>at("remaining")).hasToString("1000");
  }
}
