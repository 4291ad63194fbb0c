package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a bulk creation of subscriptions refuses, naming every place. */
class SubscriptionRefusalsIT {
  private static final String PATH = "/external/subscriptions/bulk";
  private static final String NOW = "2040-01-31T12:00:00.000Z";
  private static final int BULK_MAX = 6;
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
        %s
      """;
  private static final String OLD = CATALOG.formatted("- {externalId: old, name: Old}");
  private static final String CURRENT = CATALOG.formatted("");

  private static TestApp app;

  private Merchant merchant;
  private String customer;

  @BeforeAll
  static void start() {
    app = TestApp.start(Map.of("limits.subscriptionsPerBulk", Integer.toString(BULK_MAX)));
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  @BeforeEach
  void merchantWithACustomer() {
    merchant = app.merchant("test", "America/New_York", CURRENT).at(NOW);
    customer = merchant.customerId("acme");
  }

  private String plan(String externalId) {
    return merchant.planId(CURRENT, externalId);
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

  private int count() {
    return merchant.call("GET", "/external/subscriptions").send(200).at("count");
  }

  @Test
  void aCadenceThePlanHasNoFixedPriceForIsRefusedForItWouldBillNothing() {
    assertThat(
            merchant
                .post(
                    PATH,
                    List.of(
                        body("once", "billingCadence", "monthly"),
                        body("late", "billingCadence", "oneTime")))
                .problem())
        .isEqualTo(
            "422 cadence_not_offered [/0/billingCadence cadence_not_offered,"
                + " /1/billingCadence cadence_not_offered]");
  }

  @ParameterizedTest
  @CsvSource({
    "2040-03-01T00:00:00Z, 2040-03-01T00:00:00Z",
    "2040-03-01T00:00:00Z, 2040-02-28T00:00:00Z",
    "2040-03-01, 2040-03-01T05:00:00Z",
    ", 2040-01-31T12:00:00Z",
    ", 2040-01-01"
  })
  void itCannotEndBeforeItBeganNorThen(String start, String end) {
    Map<String, Object> body = body("all", "endDate", end);
    if (start != null) {
      body.put("startDate", start);
    }

    assertThat(merchant.post(PATH, List.of(body)).problem())
        .isEqualTo("422 end_before_start [/0/endDate end_before_start]");
  }

  @Test
  void whatIsImpossibleIsNamedForEveryElementAndNothingIsCreated() {
    Merchant other = app.merchant("test", CURRENT);
    Map<String, Object> foreign = body("all");
    foreign.put("customerId", other.customerId("acme"));
    foreign.put("planId", other.planId(CURRENT, "all"));
    Map<String, Object> nonsense = body("all", "endDate", "2000-01-01");
    nonsense.put("customerId", "acme");
    nonsense.put("planId", customer);

    Answer answer = merchant.post(PATH, List.of(body("all"), foreign, body("once"), nonsense));

    assertThat(answer.status()).isEqualTo(422);
    assertThat(answer.faults())
        .containsExactly(
            "/1/customerId unknown_customer",
            "/1/planId unknown_plan",
            "/3/customerId unknown_customer",
            "/3/planId unknown_plan",
            "/3/endDate end_before_start");
    assertThat(count()).isZero();
    assertThat(merchant.invoices()).isEmpty();
  }

  @Test
  void anArchivedPlanIsRefused() {
    String old = merchant.planId(OLD, "old");
    merchant.applyCatalog(CURRENT);
    Map<String, Object> body = body("all");
    body.put("planId", old);

    assertThat(merchant.post(PATH, List.of(body)).problem())
        .isEqualTo("422 plan_archived [/0/planId plan_archived]");
  }

  @Test
  void chargingByItselfNeedsTheCardGatewayAndAConnectionToIt() {
    Map<String, Object> charge =
        body("all", "autoChargeInvoice", true, "paymentGateway", "CardGateway");
    Map<String, Object> noGateway = body("all", "autoChargeInvoice", true);
    Map<String, Object> ledger =
        body("all", "autoChargeInvoice", true, "paymentGateway", "LedgerA");

    assertThat(merchant.post(PATH, List.of(charge)).problem())
        .isEqualTo("422 gateway_not_connected [/0/autoChargeInvoice gateway_not_connected]");
    merchant.connect("LedgerA");
    assertThat(merchant.post(PATH, List.of(charge)).status()).isEqualTo(422);

    merchant.connect("CardGateway");
    assertThat(merchant.post(PATH, List.of(charge, ledger, noGateway)).problem())
        .isEqualTo(
            "422 auto_charge_needs_card_gateway"
                + " [/1/autoChargeInvoice auto_charge_needs_card_gateway,"
                + " /2/autoChargeInvoice auto_charge_needs_card_gateway]");
    assertThat(merchant.subscribe(charge)).containsEntry("autoChargeInvoice", true);

    merchant.operator("DELETE", "/gateway-connections/CardGateway").send(204);
    assertThat(merchant.post(PATH, List.of(charge)).status()).isEqualTo(422);
    assertThat(count()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({
    "customerId, , type",
    "customerId, '', min_length",
    "planId, '', min_length",
    "planId, 5, type",
    "startDate, 2040-02-30, format",
    "startDate, 0000-12-31, format",
    "startDate, 0000-01-01T00:00:00+00:01, format",
    "endDate, 9999-12-31T23:59:59-00:01, format",
    "startDate, 2040-01-01T00:00:00, format",
    "endDate, tomorrow, format",
    "endDate, '', format",
    "invoiceGenerationStartDate, 2040-01-01, format",
    "currency, EUR, enum",
    "netTerms, net15, enum",
    "paymentGateway, Cash, enum",
    "billingCadence, weekly, enum",
    "autoSyncInvoice, 'true', type",
    "status, active, unknown_property",
    "isTrial, 5, unknown_property"
  })
  void aMisshapenElementIsRefusedAtThePlaceOfTheFault(String field, String value, String code) {
    Map<String, Object> body = body("all");
    body.put(field, "5".equals(value) ? 5 : value);

    assertThat(merchant.post(PATH, List.of(body("all"), body)).problem())
        .isEqualTo("400 validation_failed [/1/%s %s]".formatted(field, code));
    assertThat(count()).isZero();
  }

  @Test
  void aBodyHoldsOneElementToTheLimitAndEachNeedsCustomerAndPlan() {
    assertThat(merchant.post(PATH, List.of(Map.of())).faults())
        .containsExactlyInAnyOrder("/0/customerId required", "/0/planId required");
    assertThat(merchant.post(PATH, List.of()).problem())
        .isEqualTo("400 validation_failed [ min_items]");
    assertThat(merchant.post(PATH, body("all")).problem())
        .isEqualTo("400 validation_failed [ type]");
    assertThat(merchant.post(PATH, Collections.nCopies(BULK_MAX + 1, body("all"))).problem())
        .isEqualTo("400 validation_failed [ max_items]");
    assertThat(count()).isZero();
    assertThat(merchant.post(PATH, Collections.nCopies(BULK_MAX, body("all"))).list())
        .hasSize(BULK_MAX)
        .extracting("id")
        .doesNotHaveDuplicates();
    assertThat(merchant.invoices()).extracting("vanityId").containsExactly(1, 2, 3, 4, 5, 6);
  }
}
