package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Balances of custom pricing units, and allocations by hand. */
class CreditsIT {
  private static final String NOW = "2040-01-31T12:00:00.000Z";
  private static final String PERIOD_END = "2040-02-29T12:00:00.000Z";

  private static TestApp app;

  private Merchant merchant;
  private String unit;

  @BeforeAll
  static void start() {
    app = TestApp.start();
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  @BeforeEach
  void merchantWithAUnit() {
    merchant = app.merchant("test", Merchant.CATALOG).at(NOW);
    unit = merchant.unitId(Merchant.CATALOG);
  }

  /** A customer without a subscription. */
  private String unsubscribed(String externalId) {
    return merchant
        .call("POST", "/external/customers/upsert/bulk")
        .json(List.of(Map.of("externalId", externalId)))
        .send(200)
        .at("0.id");
  }

  private Answer usage(String externalId, String unitId) {
    return merchant.get(
        "/external/customers/external-id/"
            + externalId
            + "/customPricingUnits/"
            + unitId
            + "/usage");
  }

  private Map<String, Object> usage(String externalId) {
    Answer answer = usage(externalId, unit);
    assertThat(answer.status()).isEqualTo(200);
    return answer.object();
  }

  private Answer transactions(String externalId, String query) {
    return merchant.get("/external/customers/external-id/" + externalId + "/transactions" + query);
  }

  private static Map<String, Object> amounts(Object allocated, Object used, Object remaining) {
    return Map.of("totalAllocated", allocated, "totalUsed", used, "remaining", remaining);
  }

  @Test
  void theUsageOfThePlansUnitsIsOfTheCurrentPeriod() {
    merchant.createCustomer("acme");

    assertThat(usage("acme"))
        .isEqualTo(
            Map.of(
                "customPricingUnitId",
                unit,
                "displayName",
                "Credits",
                "displayNameSingular",
                "Credit",
                "shortName",
                "cr",
                "totalAllocated",
                1000,
                "totalUsed",
                0,
                "remaining",
                1000,
                "nextExpiring",
                Map.of("amountRemaining", 1000, "expiration", PERIOD_END)));
  }

  @Test
  void aKnownUnitNeverAllocatedHasZerosAndNothingExpires() {
    unsubscribed("acme");

    assertThat(usage("acme"))
        .containsAllEntriesOf(amounts(0, 0, 0))
        .containsEntry("nextExpiring", null);
    assertThat(transactions("acme", "").object())
        .containsEntry("results", List.of())
        .containsEntry("count", 0)
        .containsEntry("pages", 0)
        .containsEntry("currentPage", 1);
  }

  @Test
  void unitsGivenByHandWithoutExpiryStayAndStayExact() {
    String customer = unsubscribed("acme");

    Answer block = merchant.allocate(customer, unit, "0.1", null);

    assertThat(block.status()).isEqualTo(201);
    assertThat(block.object())
        .containsEntry("customerId", customer)
        .containsEntry("customPricingUnitId", unit)
        .containsEntry("effectiveAt", NOW)
        .containsEntry("expiresAt", null);
    String digits = "12345678901234567890.000000000000000000000000000001";
    merchant.allocate(customer, unit, "0.2", null);
    merchant.allocate(customer, unit, digits, null);
    assertThat(transactions("acme", "").text()).contains("\"amount\":" + digits + ",");
    String sum = digits.replace(".0", ".3");
    merchant.at("2060-01-01T00:00:00Z");
    assertThat(usage("acme", unit).text())
        .contains("\"totalAllocated\":" + sum + ",\"totalUsed\":0,\"remaining\":" + sum + ",");
    assertThat(usage("acme")).containsEntry("nextExpiring", null);
    Map<String, Object> transaction = transactions("acme", "?order=asc").at("results.0");
    assertThat(transaction)
        .containsEntry("type", "manualAllocation")
        .containsEntry("amount", new BigDecimal("0.1"))
        .containsEntry("allocationBlockId", block.at("id"));
    assertThat(Answer.<Map<String, Object>>at(transaction, "allocationBlock"))
        .containsEntry("invoice", null)
        .containsEntry("subscription", null);
  }

  @Test
  void theNextToExpireIsTheSoonestAndAnExpiredBlockCountsNoMore() {
    String customer = (String) merchant.createCustomer("acme").get("id");
    merchant.allocate(customer, unit, "5", "2040-02-10T00:00:00Z");
    merchant.allocate(customer, unit, "7", "2040-02-10T00:00:00+00:00");
    merchant.allocate(customer, unit, "11", "2040-02-20T00:00:00Z");
    merchant.allocate(customer, unit, "13", null);

    assertThat(usage("acme"))
        .containsAllEntriesOf(amounts(1036, 0, 1036))
        .containsEntry(
            "nextExpiring",
            Map.of("amountRemaining", 12, "expiration", "2040-02-10T00:00:00.000Z"));

    merchant.at("2040-02-09T23:59:59.999Z");
    assertThat(usage("acme")).containsEntry("remaining", 1036);
    merchant.at("2040-02-10T00:00:00Z");
    assertThat(usage("acme"))
        .containsAllEntriesOf(amounts(1024, 0, 1024))
        .containsEntry(
            "nextExpiring",
            Map.of("amountRemaining", 11, "expiration", "2040-02-20T00:00:00.000Z"));
    merchant.at("2040-02-29T11:59:59.999Z");
    assertThat(usage("acme"))
        .containsAllEntriesOf(amounts(1013, 0, 1013))
        .containsEntry("nextExpiring", Map.of("amountRemaining", 1000, "expiration", PERIOD_END));
  }

  @Test
  void customersAndUnitsOfNobodyOrOfAnotherMerchantAreNotFound() {
    Merchant other = app.merchant("test", Merchant.CATALOG);
    other.createCustomer("theirs");
    merchant.createCustomer("acme");

    for (String customer : List.of("theirs", "nobody", "ACME")) {
      assertThat(transactions(customer, "").problem()).isEqualTo("404 customer_not_found []");
      assertThat(usage(customer, unit).problem()).isEqualTo("404 customer_not_found []");
    }
    for (String foreign : List.of(other.unitId(Merchant.CATALOG), "credits", merchant.id())) {
      assertThat(usage("acme", foreign).problem())
          .isEqualTo("404 custom_pricing_unit_not_found []");
    }
    assertThat(transactions("", "").problem())
        .isEqualTo("400 validation_failed [?externalId min_length]");
    assertThat(usage("", unit).problem())
        .isEqualTo("400 validation_failed [?externalId min_length]");
    assertThat(usage("acme", "").problem())
        .isEqualTo("400 validation_failed [?customPricingUnitId min_length]");
  }

  @Test
  void anAllocationMustBePositiveAndStillToExpireAndOfAKnownCustomerAndUnit() {
    String customer = unsubscribed("acme");

    assertThat(merchant.allocate(customer, unit, "0", null).problem())
        .isEqualTo("400 validation_failed [/amount minimum]");
    assertThat(merchant.allocate(customer, unit, "-1", null).problem())
        .isEqualTo("400 validation_failed [/amount minimum]");
    assertThat(merchant.allocate(customer, unit, "1", NOW).problem())
        .isEqualTo("422 expiry_in_the_past [/expiresAt expiry_in_the_past]");
    assertThat(merchant.allocate(customer, unit, "1", "soon").problem())
        .isEqualTo("400 validation_failed [/expiresAt format]");
    assertThat(merchant.allocate("acme", unit, "1", null).problem())
        .isEqualTo("404 customer_not_found []");
    unit = "cpu_00000000000000000000000000";
    assertThat(merchant.allocate(customer, unit, "1", null).problem())
        .isEqualTo("404 custom_pricing_unit_not_found []");
    assertThat(transactions("acme", "").<Integer>at("count")).isZero();
  }
}
