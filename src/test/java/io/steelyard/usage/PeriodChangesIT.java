package io.steelyard.usage;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Usage stays right when the period it falls in, or its prices, change while it runs. */
class PeriodChangesIT {
  private static final String CATALOG = Merchant.CATALOG.replace("defaultPlan: pro", "");

  private static TestApp app;

  @BeforeAll
  static void start() {
    app = TestApp.start(Map.of("aggregation.pollMs", "20"));
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static BigDecimal used(Merchant merchant, String unitId) {
    Object used =
        merchant
            .call(
                "GET",
                "/external/customers/external-id/acme/customPricingUnits/" + unitId + "/usage")
            .send(200)
            .at("totalUsed");
    return new BigDecimal(used.toString());
  }

  private static void expectUsed(Merchant merchant, String unitId, String units) throws Exception {
    BigDecimal expected = new BigDecimal(units);
    assertThat(
            Merchant.eventually(
                () -> used(merchant, unitId), used -> used.compareTo(expected) == 0))
        .isEqualByComparingTo(expected);
  }

  private static void post(Merchant merchant, String customer, long tokens, String at) {
    merchant
        .call("POST", "/external/event")
        .json(merchant.event(customer, "tokens", tokens, null, Instant.parse(at)))
        .send(202);
  }

  @Test
  void aRenewedSubscriptionCountsWhatCameForTheDaysItGotBack() throws Exception {
    Merchant merchant = app.merchant("test", CATALOG).at("2040-01-10T00:00:00Z");
    String customer = merchant.customerId("acme");
    String unit = merchant.unitId(CATALOG);
    Object id =
        merchant
            .subscribe(
                Map.of(
                    "customerId",
                    customer,
                    "planId",
                    merchant.planId(CATALOG, "pro"),
                    "startDate",
                    "2040-01-01T00:00:00Z",
                    "endDate",
                    "2040-01-20T00:00:00Z"))
            .get("id");
    post(merchant, customer, 5_000, "2040-01-09T00:00:00Z");
    expectUsed(merchant, unit, "10");
    post(merchant, customer, 7_000, "2040-01-25T00:00:00Z"); // early, and after the end
    post(merchant, customer, 1_000, "2040-01-09T00:00:01Z");
    expectUsed(merchant, unit, "12");

    merchant
        .call("POST", "/external/subscriptions/" + id + "/renew")
        .json(Map.of("externalCustomerId", "acme"))
        .send(200);

    expectUsed(merchant, unit, "26");
    merchant.at("2040-01-21T00:00:00Z");
    post(merchant, customer, 2_000, "2040-01-20T12:00:00Z");
    expectUsed(merchant, unit, "30");
  }

  @Test
  void aPriceChangedWhileTheClockStandsStillIsForPeriodsOpenedAfterIt() throws Exception {
    Merchant merchant = app.merchant("test", CATALOG).at("2040-01-10T00:00:00Z");
    String customer = merchant.customerId("acme");
    String unit = merchant.unitId(CATALOG);
    merchant.subscribe(Map.of("customerId", customer, "planId", merchant.planId(CATALOG, "pro")));
    post(merchant, customer, 5_000, "2040-01-10T00:00:00Z");
    expectUsed(merchant, unit, "10");

    merchant.applyCatalog(CATALOG.replace("price: 2}", "price: 3}"));
    post(merchant, customer, 5_000, "2040-01-10T00:00:01Z");

    expectUsed(merchant, unit, "20");
    assertThat(
            List.of(
                merchant
                    .get("/external/customers/external-id/acme/transactions")
                    .<Integer>at("count")))
        .containsExactly(3);
  }

  @Test
  void aCancelledOneTimeSubscriptionCountsNothingMore() throws Exception {
    String catalog =
        CATALOG.replace(
            "basePrices: {monthly: 49, quarterly: 140, annually: 490}",
            "basePrices: {oneTime: 49}");
    Merchant merchant = app.merchant("test", catalog).at("2040-01-10T00:00:00Z");
    String customer = merchant.customerId("acme");
    String unit = merchant.unitId(catalog);
    Object id =
        merchant
            .subscribe(Map.of("customerId", customer, "planId", merchant.planId(catalog, "pro")))
            .get("id");
    merchant.at("2040-01-12T00:00:00Z");
    post(merchant, customer, 5_000, "2040-01-11T00:00:00Z");
    expectUsed(merchant, unit, "10");

    merchant
        .call("POST", "/external/subscriptions/" + id + "/cancel")
        .json(Map.of("externalCustomerId", "acme"))
        .send(200);
    post(merchant, customer, 5_000, "2040-01-12T00:00:00Z");
    post(merchant, customer, 1_000, "2040-01-11T23:59:59.999Z");

    expectUsed(merchant, unit, "12");
  }
}
