package io.steelyard.billing;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Subscriptions start and end when their merchant's clock says so. */
class BillingIT {
  private static final String CATALOG = Merchant.CATALOG.replace("defaultPlan: pro", "");
  private static final String START = "2040-02-01T00:00:00Z";
  private static final String END = "2040-02-15T00:00:00Z";

  private static TestApp app;

  @BeforeAll
  static void start() {
    app = TestApp.start(Map.of("billing.pollMs", "50", "billing.claimMax", "7"));
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static Merchant testMerchant() {
    return app.merchant("test", CATALOG).at("2040-01-31T12:00:00Z");
  }

  private static String upcoming(Merchant merchant, String customerId, String start, String end) {
    Map<String, Object> body = new HashMap<>();
    body.put("customerId", customerId);
    body.put("planId", merchant.planId(Merchant.CATALOG, "pro"));
    body.put("startDate", start);
    if (end != null) {
      body.put("endDate", end);
    }
    return (String) merchant.subscribe(body).get("id");
  }

  private static String status(Merchant merchant, String id) {
    return merchant.call("GET", "/external/subscriptions/" + id).send(200).at("status");
  }

  @Test
  void atItsStartAnUpcomingSubscriptionBecomesActiveWithItsFirstPeriod() {
    Merchant merchant = testMerchant();
    String customer = merchant.customerId("acme");
    String id = upcoming(merchant, customer, START, null);
    String usage =
        "/external/customers/external-id/acme/customPricingUnits/"
            + merchant.unitId(Merchant.CATALOG)
            + "/usage";
    assertThat(status(merchant, id)).isEqualTo("pendingActivation");
    assertThat(merchant.invoices()).isEmpty();

    merchant.at("2040-01-31T23:59:59.999Z");
    assertThat(status(merchant, id)).isEqualTo("pendingActivation");
    merchant.at(START);

    assertThat(status(merchant, id)).isEqualTo("active");
    Answer invoice = merchant.invoiceOf(id);
    assertThat(invoice.<String>at("invoiceLineItems.0.startDate"))
        .isEqualTo("2040-02-01T00:00:00.000Z");
    assertThat(invoice.<String>at("invoiceLineItems.0.endDate"))
        .isEqualTo("2040-03-01T00:00:00.000Z");
    assertThat(merchant.get(usage).<Integer>at("remaining")).isEqualTo(1000);
  }

  @Test
  void atItsEndAnActiveSubscriptionEndsAndCannotBeRenewed() {
    Merchant merchant = testMerchant();
    String id = upcoming(merchant, merchant.customerId("acme"), START, END);
    merchant.at("2040-02-14T23:59:59.999Z");
    assertThat(status(merchant, id)).isEqualTo("active");

    merchant.at(END);

    assertThat(status(merchant, id)).isEqualTo("ended");
    assertThat(
            merchant
                .post(
                    "/external/subscriptions/" + id + "/renew",
                    Map.of("externalCustomerId", "acme"))
                .status())
        .isEqualTo(409);
  }

  @Test
  void theClockAnswersWhenEverythingDueIsDoneInHoweverManyTransactions() {
    Merchant merchant = testMerchant();
    String customer = merchant.customerId("acme");
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      ids.add(upcoming(merchant, customer, START, i % 2 == 0 ? END : null));
    }

    merchant.at("2040-02-20T00:00:00Z");

    for (int i = 0; i < ids.size(); i++) {
      assertThat(status(merchant, ids.get(i))).isEqualTo(i % 2 == 0 ? "ended" : "active");
    }
    // those that ended have one more, for the usage of their only period
    assertThat(merchant.invoices()).hasSize(30);
  }

  @Test
  void aLiveMerchantsSubscriptionsStartByThemselvesAndOnce() throws Exception {
    Merchant merchant = app.merchant("live", CATALOG);

    String id = merchant.startsSoon(CATALOG, "pro");

    assertThat(merchant.statusOnceStarted(id)).isEqualTo("active");
    merchant.invoiceOf(id); // its only one
  }
}
