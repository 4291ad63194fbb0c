package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Creating a customer with all that its default plan brings, and reading it. */
class CustomersIT {
  private static final String NOW = "2040-01-31T12:00:00.000Z";
  private static final String TRIAL =
      """
      billables:
        - {slug: seats, name: Seats}
      plans:
        - externalId: pro
          name: Pro
          trialDays: 14
          chargeForUsageBasedPricesDuringTrial: %s
          basePrices: {monthly: 49}
          prices:
            - {name: Seats, billable: seats, billingMode: advance, priceType: unit,
               rules: {quantity: 5, price: 10}}
      defaultPlan: pro
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

  private static Map<String, Object> everyField(String externalId) {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("externalId", externalId);
    body.put("name", "Åcme 日本 🚀 \"quoted\" \\ \u0001");
    body.put("email", "ada+billing@acme.example");
    for (String kind : List.of("billing", "shipping")) {
      body.put(kind + "Address1", kind + " 1");
      body.put(kind + "Address2", kind + " 2");
      body.put(kind + "City", kind + " city");
      body.put(kind + "Country", kind + " country");
      body.put(kind + "State", kind + " state");
    }
    body.put("billingZipCode", "62701");
    body.put("shippingZipCode", "62701-1234");
    body.put("ledgerAId", "A-1");
    body.put("cardGatewayId", "gw_1");
    body.put("ledgerBId", "B-1");
    return body;
  }

  @Test
  void everyFieldIsStoredAndAnsweredAndReadBackWithoutLedgerBId() {
    Merchant merchant = app.merchant("live", null);
    Map<String, Object> body = everyField("acme");

    Answer created = merchant.call("POST", "/external/customers").json(body).send(201);

    assertThat(created.object())
        .containsAllEntriesOf(body)
        .containsEntry("merchantId", merchant.id());
    assertThat(created.header("x-request-id")).isNotBlank();
    assertThat(created.header("content-type")).startsWith("application/json");
    Map<String, Object> read =
        merchant.call("GET", "/external/customers/" + created.at("id")).send(200).object();
    body.remove("ledgerBId");
    assertThat(read).containsAllEntriesOf(body).doesNotContainKey("ledgerBId");
    for (String field : List.of("id", "merchantId", "createdAt", "updatedAt")) {
      assertThat(read.get(field)).isEqualTo(created.object().get(field)).isNotNull();
    }
  }

  @Test
  void anExternalIdIsEnoughAndAllElseMayBeNull() {
    Merchant merchant = app.merchant("test", null).at(NOW);
    Map<String, Object> nulls = new HashMap<>(everyField("nulls"));
    nulls.replaceAll((field, value) -> field.equals("externalId") ? value : null);

    Map<String, Object> small = merchant.createCustomer("small");
    Map<String, Object> empty =
        merchant.call("POST", "/external/customers").json(nulls).send(201).object();

    assertThat(empty).containsAllEntriesOf(nulls);
    nulls.put("externalId", "small");
    assertThat(small)
        .containsAllEntriesOf(nulls)
        .containsAllEntriesOf(
            Map.of(
                "createdAt", NOW,
                "updatedAt", NOW,
                "subscriptions", List.of(),
                "activeSubscriptions", List.of(),
                "upcomingSubscriptions", List.of(),
                "conditionalBillableAccess", List.of(),
                "customPricingUnits", List.of(),
                "customerPrivatePlans", List.of(),
                "isEligibleForTrial", true));
  }

  @Test
  void theDefaultPlanBringsSubscriptionAccessAndBalance() {
    Merchant merchant = app.merchant("test", Merchant.CATALOG).at(NOW);

    Map<String, Object> created = merchant.createCustomer("acme");

    Map<String, Object> subscription = Answer.at(created, "subscriptions.0");
    assertThat(subscription)
        .containsEntry("customerId", created.get("id"))
        .containsEntry("merchantId", merchant.id())
        .containsEntry("status", "active")
        .containsEntry("startDate", NOW)
        .containsEntry("endDate", null)
        .containsEntry("billingCadence", "monthly")
        .containsEntry("currency", "USD")
        .containsEntry("netTerms", "net30")
        .containsEntry("paymentGateway", null)
        .containsEntry("allowCustomerChanges", true)
        .containsEntry("autoChargeInvoice", false)
        .containsEntry("autoSyncInvoice", false)
        .containsEntry("autoSendInvoice", false)
        .containsEntry("isTrial", false)
        .containsEntry("chargeForUsageBasedPricesDuringTrial", null);
    Map<String, Object> plan = Answer.at(subscription, "plan");
    assertThat(plan)
        .containsEntry("id", subscription.get("planId"))
        .containsEntry("externalId", "pro")
        .containsEntry("name", "Pro")
        .containsEntry("description", "For teams")
        .containsEntry("status", "available")
        .doesNotContainKeys("prices", "basePlanPriceQuarterly", "basePlanPriceAnnually");
    assertThat(plan.get("basePlanPriceId")).isEqualTo(Answer.at(plan, "basePlanPrice.id"));
    assertThat(created)
        .containsEntry("activeSubscriptions", List.of(subscription))
        .containsEntry("subscriptions", List.of(subscription))
        .containsEntry("upcomingSubscriptions", List.of())
        .containsEntry("isEligibleForTrial", true)
        .containsEntry(
            "customPricingUnits",
            List.of(
                Map.of("customPricingUnitId", merchant.unitId(Merchant.CATALOG), "balance", 1000)));
    List<Map<String, Object>> access = Answer.at(created, "conditionalBillableAccess");
    assertThat(access)
        .hasSize(2)
        .allSatisfy(
            each ->
                assertThat(each)
                    .containsEntry("access", true)
                    .containsEntry("invalidated", false)
                    .containsEntry("startDate", NOW)
                    .containsEntry("endDate", null)
                    .containsEntry("currentUsage", 0)
                    .containsEntry("customerId", created.get("id"))
                    .containsEntry("merchantId", merchant.id())
                    .containsEntry("subscriptionId", subscription.get("id")));
  }

  @Test
  void theFirstInvoiceAndTheUnitsAreThereWithTheAnswer() {
    Merchant merchant = app.merchant("live", Merchant.CATALOG);

    Map<String, Object> created = merchant.createCustomer("acme");

    Map<String, Object> invoice = merchant.invoices().getFirst();
    assertThat(invoice)
        .containsEntry("vanityId", 1)
        .containsEntry("customerId", created.get("id"))
        .containsEntry("subscriptionId", Answer.at(created, "subscriptions.0.id"));
    Answer transactions =
        merchant.call("GET", "/external/customers/external-id/acme/transactions").send(200);
    assertThat(transactions.<Object>at("count")).isEqualTo(1);
    assertThat(transactions.<Object>at("results.0.allocationBlock.invoice"))
        .isEqualTo(Map.of("id", invoice.get("id"), "vanityId", 1));
  }

  @ParameterizedTest
  @CsvSource({"false, 0", "true, 10"})
  void aTrialLastsItsDaysChargesNoFixedPriceAndUsesUpTheEligibility(
      boolean chargeUsage, int advance) {
    Merchant merchant = app.merchant("test", TRIAL.formatted(chargeUsage)).at(NOW);

    Map<String, Object> created = merchant.createCustomer("acme");

    assertThat(created).containsEntry("isEligibleForTrial", false);
    Map<String, Object> subscription = Answer.at(created, "activeSubscriptions.0");
    assertThat(subscription)
        .containsEntry("isTrial", true)
        .containsEntry("chargeForUsageBasedPricesDuringTrial", chargeUsage)
        .containsEntry("status", "active");
    Answer invoice = merchant.invoiceOf(subscription.get("id"));
    List<Map<String, Object>> lines = invoice.at("invoiceLineItems");
    assertThat(lines).extracting("amount").containsExactly(0, advance);
    assertThat(lines)
        .extracting("endDate")
        .containsExactly("2040-02-14T12:00:00.000Z", "2040-02-14T12:00:00.000Z");
    assertThat((String) invoice.at("status")).isEqualTo(advance == 0 ? "paid" : "test");
  }

  @Test
  void anExternalIdIsTakenOnceForEachMerchantAndARefusalCostsNoInvoiceNumber() {
    Merchant merchant = app.merchant("live", Merchant.CATALOG);
    Merchant other = app.merchant("live", null);
    merchant.createCustomer("acme");

    assertThat(merchant.post("/external/customers", Map.of("externalId", "acme")).problem())
        .isEqualTo("409 external_id_taken []");

    other.createCustomer("acme");
    merchant.createCustomer("Acme");
    assertThat(merchant.invoices()).extracting("vanityId").containsExactly(1, 2);
    assertThat(merchant.get("/external/subscriptions").<Integer>at("count")).isEqualTo(2);
  }

  @Test
  void ofConcurrentCreationsOfOneExternalIdExactlyOneWins() {
    Merchant merchant = app.merchant("live", Merchant.CATALOG);

    List<Integer> statuses =
        Merchant.atOnce(12, i -> merchant.post("/external/customers", Map.of("externalId", "acme")))
            .stream()
            .map(Answer::status)
            .sorted()
            .toList();

    assertThat(statuses.getFirst()).isEqualTo(201);
    assertThat(statuses.subList(1, 12)).containsOnly(409);
    assertThat(merchant.invoices()).extracting("vanityId").containsExactly(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "subscription",
        "subscription_period",
        "billable_access",
        "allocation_block",
        "credit_transaction",
        "invoice",
        "invoice_line_item",
        "transition"
      })
  void aCreationThatFailsAtAnyOfItsStepsStoresNothing(String table) {
    Merchant merchant = app.merchant("live", Merchant.CATALOG);
    PostgresSupport.execute(
        app.database(),
        "ALTER TABLE %s ADD CONSTRAINT broken CHECK (merchant_id <> '%s') NOT VALID"
            .formatted(table, uuid(merchant)));

    Answer failed = merchant.post("/external/customers", Map.of("externalId", "acme"));
    PostgresSupport.execute(app.database(), "ALTER TABLE " + table + " DROP CONSTRAINT broken");

    assertThat(failed.text()).doesNotContain("broken", table, "io.steelyard");
    storedNothing(merchant, failed);
    merchant.createCustomer("acme");
    assertThat(merchant.invoices()).extracting("vanityId").containsExactly(1);
  }

  @Test
  void withoutANumberForItsInvoiceACreationStoresNothing() {
    Merchant merchant = app.merchant("live", Merchant.CATALOG);
    PostgresSupport.execute(
        app.database(),
        "DELETE FROM invoice_number WHERE merchant_id = '%s'".formatted(uuid(merchant)));

    storedNothing(merchant, merchant.post("/external/customers", Map.of("externalId", "acme")));
  }

  private static UUID uuid(Merchant merchant) {
    return Id.parse(IdKind.MERCHANT, merchant.id()).orElseThrow().uuid();
  }

  private static void storedNothing(Merchant merchant, Answer failed) {
    assertThat(failed.problem()).isEqualTo("500 internal []");
    for (String table :
        List.of(
            "customer",
            "subscription",
            "subscription_period",
            "billable_access",
            "invoice",
            "allocation_block",
            "credit_transaction",
            "invoice_line_item",
            "transition")) {
      String rows = "SELECT count(*) FROM %s WHERE merchant_id = '%s'";
      assertThat(Tables.query(app.database(), rows.formatted(table, uuid(merchant))))
          .as(table)
          .containsExactly("0");
    }
  }

  @Test
  void aCustomerOfNobodyOrOfAnotherMerchantIsNotFoundAlike() {
    Merchant merchant = app.merchant("live", null);
    String foreign = app.merchant("live", null).customerId("acme");

    for (String id :
        List.of(foreign, "cus_00000000000000000000000000", "acme", "a%20b%2Fc", merchant.id())) {
      assertThat(merchant.get("/external/customers/" + id).problem())
          .isEqualTo("404 customer_not_found []");
    }
    assertThat(merchant.get("/external/customers/").problem())
        .isEqualTo("400 validation_failed [?id min_length]");
    assertThat(merchant.get("/external/customers/" + foreign + "?expand=1").problem())
        .isEqualTo("400 validation_failed [?expand unknown_parameter]");
  }
}
