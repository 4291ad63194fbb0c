package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Creating subscriptions in bulk. */
class SubscriptionsIT {
  private static final String PATH = "/external/subscriptions/bulk";
  private static final String NOW = "2040-01-31T12:00:00.000Z";
  private static final String CATALOG =
      """
      billables:
        - {slug: seats, name: Seats}
      plans:
        - externalId: all
          name: All
          netTerms: net60
          basePrices: {monthly: 49, quarterly: 140, annually: 490, oneTime: 900}
        - {externalId: late, name: Late, basePrices: {quarterly: 140, annually: 490}}
        - {externalId: once, name: Once, basePrices: {oneTime: 99}}
        - externalId: metered
          name: Metered
          prices:
            - {name: Seats, billable: seats, billingMode: advance, priceType: unit,
               rules: {quantity: 1, price: 3}}
      """;

  private static TestApp app;

  private Merchant merchant;
  private String customer;

  @BeforeAll
  static void start() {
    app = TestApp.start();
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  @BeforeEach
  void merchantWithACustomer() {
    merchant = app.merchant("test", "America/New_York", CATALOG).at(NOW);
    customer = merchant.customerId("acme");
  }

  private String plan(String externalId) {
    return merchant.planId(CATALOG, externalId);
  }

  private Map<String, Object> body(String plan, Object... fields) {
    Map<String, Object> body = new HashMap<>();
    body.put("customerId", customer);
    body.put("planId", plan(plan));
    for (int i = 0; i < fields.length; i += 2) {
      body.put((String) fields[i], fields[i + 1]);
    }
    return body;
  }

  /** As if the catalogue came from a node whose clock is ahead. */
  private static void pricesBeginInSeconds(int seconds) {
    PostgresSupport.execute(
        app.database(),
        "UPDATE price SET active_from = now() + interval '%d seconds'".formatted(seconds));
  }

  @ParameterizedTest
  @ValueSource(strings = {"test", "live"})
  void aPlanThatANodeWithAClockAheadHasJustMadeCostsWhatItCosts(String environment) {
    merchant = app.merchant(environment, "UTC", CATALOG);
    customer = merchant.customerId("acme");
    pricesBeginInSeconds(4);

    Map<String, Object> created = merchant.subscribe(body("all", "billingCadence", "monthly"));

    List<Map<String, Object>> lines = merchant.invoiceOf(created.get("id")).at("invoiceLineItems");
    assertThat(lines).extracting("amount").containsExactly(49);
  }

  private int count() {
    return merchant.call("GET", "/external/subscriptions").send(200).at("count");
  }

  @Test
  void customerAndPlanAreEnough() {
    Map<String, Object> created = merchant.subscribe(body("all"));

    assertThat(created)
        .containsEntry("customerId", customer)
        .containsEntry("planId", plan("all"))
        .containsEntry("merchantId", merchant.id())
        .containsEntry("status", "active")
        .containsEntry("startDate", NOW)
        .containsEntry("endDate", null)
        .containsEntry("billingCadence", "monthly")
        .containsEntry("currency", "USD")
        .containsEntry("netTerms", "net60")
        .containsEntry("paymentGateway", null)
        .containsEntry("allowCustomerChanges", true)
        .containsEntry("autoChargeInvoice", false)
        .containsEntry("autoSyncInvoice", false)
        .containsEntry("autoSendInvoice", false)
        .containsEntry("isTrial", false)
        .containsEntry("chargeForUsageBasedPricesDuringTrial", null)
        .containsEntry("createdAt", NOW)
        .containsEntry("updatedAt", NOW)
        .doesNotContainKey("plan");
    assertThat(merchant.get("/external/subscriptions/" + created.get("id")).object())
        .isEqualTo(created);
  }

  @Test
  void everyFieldIsTakenAsGiven() {
    merchant.connect("CardGateway");
    Map<String, Object> fields = new HashMap<>();
    fields.put("currency", "USD");
    fields.put("netTerms", "net90");
    fields.put("paymentGateway", "CardGateway");
    fields.put("billingCadence", "annually");
    fields.put("allowCustomerChanges", false);
    fields.put("autoChargeInvoice", true);
    fields.put("autoSyncInvoice", true);
    fields.put("autoSendInvoice", true);
    Map<String, Object> body = body("all");
    body.putAll(fields);
    body.put("startDate", "2040-01-01T01:00:00+02:00");
    body.put("endDate", "2041-06-01T00:00:00.123456Z");

    Map<String, Object> created = merchant.subscribe(body);

    assertThat(created)
        .containsAllEntriesOf(fields)
        .containsEntry("status", "active")
        .containsEntry("startDate", "2039-12-31T23:00:00.000Z")
        .containsEntry("endDate", "2041-06-01T00:00:00.123Z");
  }

  @ParameterizedTest
  @CsvSource({
    "all, , monthly",
    "all, quarterly, quarterly",
    "all, annually, annually",
    "all, oneTime, oneTime",
    "late, , quarterly",
    "once, , oneTime",
    "metered, , monthly",
    "metered, annually, annually"
  })
  void theCadenceIsTheOneWishedOrThePlansFirst(String plan, String wish, String cadence) {
    Map<String, Object> body = wish == null ? body(plan) : body(plan, "billingCadence", wish);

    assertThat(merchant.subscribe(body)).containsEntry("billingCadence", cadence);
  }

  @ParameterizedTest
  @CsvSource({
    "2040-01-31T12:00:00Z, active",
    "2040-01-31T12:00:00.001Z, pendingActivation",
    "2030-05-05, active",
    "2040-01-31, active",
    "2040-02-01, pendingActivation"
  })
  void itIsActiveIfItHasBegunElseUpcomingAndThenWithoutInvoice(String start, String status) {
    Map<String, Object> created = merchant.subscribe(body("all", "startDate", start));

    assertThat(created).containsEntry("status", status);
    assertThat(merchant.invoices()).hasSize(status.equals("active") ? 1 : 0);
  }

  @Test
  void aDateAloneIsMidnightInTheMerchantsZone() {
    Map<String, Object> created =
        merchant.subscribe(body("all", "startDate", "2040-07-04", "endDate", "2040-12-24"));

    assertThat(created)
        .containsEntry("startDate", "2040-07-04T04:00:00.000Z")
        .containsEntry("endDate", "2040-12-24T05:00:00.000Z");
    assertThat(merchant.subscribe(body("all", "endDate", "9999-12-31")))
        .containsEntry("endDate", "9999-12-31T05:00:00.000Z");
  }

  @ParameterizedTest
  @CsvSource({
    "2040-02-29T12:00:00Z, 0",
    "2040-02-29T11:59:59.999Z, 0",
    "2041-01-01T00:00:00Z, 0",
    "2040-02-01T00:00:00Z, 1",
    "2039-01-01T00:00:00Z, 1"
  })
  void noInvoiceIsMadeForAPeriodThatEndsBeforeTheGenerationStartDate(String from, int invoices) {
    Map<String, Object> body =
        body("all", "startDate", "2040-01-29T12:00:00Z", "invoiceGenerationStartDate", from);

    assertThat(merchant.subscribe(body)).containsEntry("status", "active");

    assertThat(merchant.invoices()).hasSize(from.equals("2040-02-29T11:59:59.999Z") ? 1 : invoices);
  }
}
