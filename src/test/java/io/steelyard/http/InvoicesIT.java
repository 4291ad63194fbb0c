package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The invoices that subscriptions begin with. */
class InvoicesIT {
  private static final String NOW = "2040-01-31T12:00:00.000Z";
  private static final String CATALOG =
      """
      billables:
        - {slug: seats, name: Seats, singleUnitLabel: seat, multipleUnitLabel: seats}
        - {slug: calls, name: Calls, showOnInvoice: false, hidden: true}
        - {slug: bytes, name: Bytes}
      plans:
        - externalId: pro
          name: Pro
          netTerms: net30
          basePrices: {monthly: 0.1, annually: 490}
          prices:
            - {name: Seats, billable: seats, billingMode: advance, priceType: unit,
               rules: {quantity: 3, price: 0.2}}
            - {name: Calls, billable: calls, billingMode: advance, priceType: tiered,
               rules: {quantity: 1, tiers: [{upTo: 10, price: 0.335}, {price: 0.1}]}}
            - {name: Bytes, billable: bytes, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 0.2}}
        - {externalId: free, name: Free, basePrices: {monthly: 0}}
        - {externalId: large, name: Large, basePrices: {monthly: 12345678901234567890.12}}
        - {externalId: half, name: Half, basePrices: {monthly: 1.005}}
        - {externalId: less, name: Less, basePrices: {monthly: 0.00499}}
      """;

  private static TestApp app;

  @BeforeAll
  static void start() {
    app = TestApp.start();
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static Map<String, Object> subscribe(Merchant merchant, String plan, Object... fields) {
    Map<String, Object> body = new HashMap<>();
    body.put("customerId", merchant.customerId("customer of " + plan));
    body.put("planId", merchant.planId(CATALOG, plan));
    for (int i = 0; i < fields.length; i += 2) {
      body.put((String) fields[i], fields[i + 1]);
    }
    return merchant.subscribe(body);
  }

  @Test
  void itCarriesTheAdvanceLinesOfTheFirstPeriodWithPriceAndBillable() {
    Merchant merchant = app.merchant("test", CATALOG).at(NOW);
    Map<String, Object> subscription = subscribe(merchant, "pro");

    Answer invoice = merchant.invoiceOf(subscription.get("id"));

    assertThat(invoice.object())
        .containsEntry("customerId", subscription.get("customerId"))
        .containsEntry("subscriptionId", subscription.get("id"))
        .containsEntry("merchantId", merchant.id())
        .containsEntry("externalId", null)
        .containsEntry("vanityId", 1)
        .containsEntry("vanityIdString", "1")
        .containsEntry("createdAt", NOW)
        .containsEntry("issueDate", NOW)
        .containsEntry("paymentGateway", null)
        .containsEntry("autoSyncInvoice", false)
        .containsEntry("autoSendInvoice", false)
        .containsEntry("autoChargeInvoice", false);
    List<Map<String, Object>> lines = invoice.at("invoiceLineItems");
    assertThat(lines).extracting("description").containsExactly("Pro (monthly)", "Seats", "Calls");
    assertThat(lines)
        .extracting("amount")
        .containsExactly(new BigDecimal("0.1"), new BigDecimal("0.2"), new BigDecimal("0.34"));
    assertThat(lines)
        .allSatisfy(
            line ->
                assertThat(line)
                    .containsEntry("invoiceId", invoice.at("id"))
                    .containsEntry("merchantId", merchant.id())
                    .containsEntry("startDate", NOW)
                    .containsEntry("endDate", "2040-02-29T12:00:00.000Z")
                    .containsEntry("priceId", Answer.at(line, "price.id")));
    assertThat(Answer.<Map<String, Object>>at(lines, "1.price"))
        .containsEntry("entityType", "entitlement")
        .containsEntry("billingMode", "advance")
        .containsEntry("priceType", "unit")
        .containsEntry("rules", Map.of("quantity", 3, "price", new BigDecimal("0.2")));
    assertThat(Answer.<Map<String, Object>>at(lines, "1.price.billable"))
        .containsEntry("showOnInvoice", true)
        .containsEntry("hidden", false)
        .containsEntry("singleUnitLabel", "seat")
        .containsEntry("multipleUnitLabel", "seats");
    assertThat(Answer.<Map<String, Object>>at(lines, "2.price.billable"))
        .containsEntry("showOnInvoice", false)
        .containsEntry("hidden", true);
    assertThat(invoice.text())
        .contains("\"details\":{\"quantity\":1,\"unitPrice\":0.1}")
        .contains("\"details\":{\"quantity\":3,\"unitPrice\":0.0666666666666666666666666666666");
  }

  @ParameterizedTest
  @CsvSource({
    "large, 12345678901234567890.12",
    "half, 1.01",
    "less, 0",
    "free, 0",
  })
  void amountsAreExactDecimalsRoundedHalfUpToTheCent(String plan, String amount) {
    Merchant merchant = app.merchant("live", CATALOG);
    Map<String, Object> subscription = subscribe(merchant, plan);

    assertThat(merchant.invoiceOf(subscription.get("id")).text())
        .contains("\"amount\":" + amount + ",");
    String list = merchant.operator("GET", "/invoices").send(200).text();
    assertThat(list).contains("\"total\":" + amount);
  }

  /** 10 of the 29 days from January 31 to February 29. */
  @Test
  void aPeriodCutShortByTheEndDateIsChargedItsShareOfTime() {
    Merchant merchant = app.merchant("test", CATALOG).at(NOW);
    Object cut = subscribe(merchant, "half", "endDate", "2040-02-10T12:00:00Z").get("id");

    List<Map<String, Object>> lines = merchant.invoiceOf(cut).at("invoiceLineItems");

    assertThat(lines).hasSize(1);
    assertThat(lines.getFirst())
        .containsEntry("amount", new BigDecimal("0.35"))
        .containsEntry("endDate", "2040-02-10T12:00:00.000Z");
  }

  @ParameterizedTest
  @CsvSource({
    "test, half, , test",
    "live, half, , issued",
    "live, half, LedgerA, readyToSync",
    "live, free, , paid",
    "test, free, , paid",
    "live, free, CardGateway, paid",
    "live, less, , paid"
  })
  void itsStatusFollowsFromTotalGatewayAndEnvironment(
      String environment, String plan, String gateway, String status) {
    Merchant merchant = app.merchant(environment, CATALOG);
    Object id =
        gateway == null
            ? subscribe(merchant, plan).get("id")
            : subscribe(merchant, plan, "paymentGateway", gateway).get("id");

    Answer invoice = merchant.invoiceOf(id);

    assertThat(invoice.<String>at("status")).isEqualTo(status);
    assertThat(invoice.<String>at("paymentGateway")).isEqualTo(gateway);
    List<String> ids =
        merchant
            .operator("GET", "/invoices?status=" + status)
            .send(200)
            .<List<Map<String, String>>>at("results")
            .stream()
            .map(each -> each.get("id"))
            .toList();
    assertThat(ids).containsExactly(invoice.<String>at("id"));
  }

  @ParameterizedTest
  @CsvSource({
    "UTC, uponReceipt, 2040-01-31T23:59:59.999Z",
    "UTC, , 2040-03-01T23:59:59.999Z",
    "America/Los_Angeles, net30, 2040-03-02T07:59:59.999Z",
    "Asia/Tokyo, uponReceipt, 2040-01-31T14:59:59.999Z",
    "Europe/Paris, net60, 2040-03-31T21:59:59.999Z",
    "Europe/Paris, net90, 2040-04-30T21:59:59.999Z"
  })
  void itIsDueAtTheEndOfTheMerchantsDayThatTheNetTermsEndOn(String zone, String terms, String due) {
    Merchant merchant = app.merchant("test", zone, CATALOG).at(NOW);
    Object id =
        terms == null
            ? subscribe(merchant, "pro").get("id")
            : subscribe(merchant, "pro", "netTerms", terms).get("id");

    assertThat(merchant.invoiceOf(id).<String>at("dueDate")).isEqualTo(due);
  }

  @Test
  void netTermsDoNotApplyToWhatIsChargedByItself() {
    Merchant merchant = app.merchant("test", CATALOG).at(NOW).connect("CardGateway");
    Object id =
        subscribe(
                merchant,
                "pro",
                "netTerms",
                "net90",
                "autoChargeInvoice",
                true,
                "paymentGateway",
                "CardGateway")
            .get("id");

    assertThat(merchant.invoiceOf(id).object())
        .containsEntry("dueDate", NOW)
        .containsEntry("autoChargeInvoice", true)
        .containsEntry("paymentGateway", "CardGateway");
  }

  @Test
  void numbersHaveNoGapUnderConcurrentCreationsOfWhichSomeFail() {
    Merchant merchant = app.merchant("live", CATALOG + "defaultPlan: pro\n");
    merchant.createCustomer("taken");

    List<Integer> statuses =
        Merchant.atOnce(
            32,
            i ->
                merchant
                    .post(
                        "/external/customers", Map.of("externalId", i % 4 == 0 ? "taken" : "c" + i))
                    .status());

    assertThat(statuses).filteredOn(status -> status == 201).hasSize(24);
    assertThat(statuses).filteredOn(status -> status == 409).hasSize(8);
    assertThat(merchant.invoices())
        .extracting("vanityId")
        .containsExactlyElementsOf(IntStream.rangeClosed(1, 25).boxed().toList());
  }

  @Test
  void everyMerchantCountsFromOne() {
    for (int i = 0; i < 2; i++) {
      Merchant merchant = app.merchant("live", CATALOG + "defaultPlan: pro\n");
      merchant.createCustomer("acme");
      assertThat(merchant.invoices()).extracting("vanityIdString").containsExactly("1");
    }
  }

  @Test
  void oneOfNobodyOrOfAnotherMerchantIsNotFoundAlike() {
    Merchant merchant = app.merchant("live", CATALOG);
    Merchant other = app.merchant("live", CATALOG);
    String id = merchant.invoiceOf(subscribe(merchant, "pro").get("id")).at("id");

    for (String each : List.of(id, "inv_00000000000000000000000000", "1", merchant.id())) {
      assertThat(other.get("/external/invoices/" + each + "/with-line-items").problem())
          .isEqualTo("404 invoice_not_found []");
    }
    assertThat(merchant.get("/external/invoices//with-line-items").problem())
        .isEqualTo("400 validation_failed [?invoiceId min_length]");
    assertThat(merchant.get("/external/invoices/" + id + "/with-line-items?page=1").problem())
        .isEqualTo("400 validation_failed [?page unknown_parameter]");
  }
}
