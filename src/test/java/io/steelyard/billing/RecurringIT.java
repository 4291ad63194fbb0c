package io.steelyard.billing;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Period after period: what is charged, when it becomes final, and what comes late. */
class RecurringIT {
  private static final String CATALOG =
      """
      billables:
        - slug: calls
          name: Calls
          eventQueryRules:
            conditions: [[{key: eventName, rule: matches, value: call}]]
            calculation: sum
            overProperty: data.count
      plans:
        - externalId: pro
          name: Pro
          netTerms: net30
          basePrices: {monthly: 49}
          prices:
            - {name: Calls, billable: calls, billingMode: arrears, priceType: tiered,
               rules: {quantity: 1, tiers: [{upTo: 10, price: 1}, {price: 0.5}]}}
      defaultPlan: pro
      """;

  private static TestApp app;

  @BeforeAll
  static void start() {
    app = TestApp.start(Map.of("billing.pollMs", "50", "billing.claimMax", "7"));
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static Merchant merchant() {
    return app.merchant("test", CATALOG).at("2040-01-31T12:00:00Z");
  }

  private static void use(Merchant merchant, String customer, long count, String at) {
    Answer answer =
        merchant.post(
            "/external/event/", merchant.event(customer, "call", count, null, Instant.parse(at)));
    assertThat(answer.status()).isEqualTo(202);
  }

  private static List<Map<String, Object>> lines(Merchant merchant, int invoice) {
    Object id = merchant.invoices().get(invoice).get("id");
    return merchant.get("/external/invoices/" + id + "/with-line-items").at("invoiceLineItems");
  }

  private static String line(Map<String, Object> line) {
    return line.get("startDate").toString().substring(0, 10)
        + ".."
        + line.get("endDate").toString().substring(0, 10)
        + " "
        + ((Map<?, ?>) line.get("details")).get("quantity")
        + " "
        + new BigDecimal(line.get("amount").toString()).setScale(2);
  }

  private static List<String> shown(Merchant merchant, int invoice) {
    return lines(merchant, invoice).stream().map(RecurringIT::line).toList();
  }

  @Test
  void eachBoundaryBillsTheNextPeriodAndTheUsageOfTheLast() {
    Merchant merchant = merchant();
    String customer = merchant.customerId("acme");
    use(merchant, customer, 12, "2040-02-29T11:59:59.999Z");
    use(merchant, customer, 3, "2040-02-29T12:00:00Z");

    merchant.at("2040-02-29T12:00:00Z");

    assertThat(merchant.invoices()).hasSize(2);
    assertThat(merchant.invoices().get(1)).containsEntry("status", "pending");
    assertThat(shown(merchant, 1))
        .containsExactly("2040-02-29..2040-03-31 1 49.00", "2040-01-31..2040-02-29 12 11.00");

    merchant.at("2040-03-01T00:00:00Z");

    assertThat(merchant.invoices().get(1))
        .containsEntry("status", "test")
        .containsEntry("issueDate", "2040-03-01T00:00:00.000Z")
        .containsEntry("dueDate", "2040-03-31T23:59:59.999Z")
        .containsEntry("total", 60);

    merchant.at("2040-04-01T12:00:00Z");
    assertThat(shown(merchant, 2))
        .containsExactly("2040-03-31..2040-04-30 1 49.00", "2040-02-29..2040-03-31 3 3.00");
  }

  @Test
  void lateUsageWithinTheGraceIsInTheInvoiceAndAfterItOnTheNext() {
    Merchant merchant = merchant();
    String customer = merchant.customerId("acme");
    use(merchant, customer, 8, "2040-02-01T00:00:00Z");
    merchant.at("2040-02-29T18:00:00Z");
    use(merchant, customer, 1, "2040-02-02T00:00:00Z");
    merchant.at("2040-03-01T01:00:00Z");
    assertThat(shown(merchant, 1))
        .containsExactly("2040-02-29..2040-03-31 1 49.00", "2040-01-31..2040-02-29 9 9.00");

    use(merchant, customer, 5, "2040-02-03T00:00:00Z");
    merchant.at("2040-04-01T12:00:00Z");

    assertThat(shown(merchant, 2))
        .containsExactly(
            "2040-03-31..2040-04-30 1 49.00",
            "2040-02-29..2040-03-31 0 0.00",
            "2040-01-31..2040-02-29 14 3.00"); // 10 x 1 + 4 x 0.5, of which 9 were billed
  }

  @Test
  void aSleepOfThreeMonthsMakesThreeInvoicesInOrder() {
    Merchant merchant = merchant();
    String customer = merchant.customerId("acme");
    use(merchant, customer, 1, "2040-02-10T00:00:00Z");
    use(merchant, customer, 2, "2040-03-10T00:00:00Z");
    use(merchant, customer, 3, "2040-04-10T00:00:00Z");

    merchant.at("2040-05-01T12:00:00Z");

    assertThat(merchant.invoices()).hasSize(4);
    assertThat(shown(merchant, 1)).contains("2040-01-31..2040-02-29 1 1.00");
    assertThat(shown(merchant, 2)).contains("2040-02-29..2040-03-31 2 2.00");
    assertThat(shown(merchant, 3)).contains("2040-03-31..2040-04-30 3 3.00");
    assertThat(merchant.invoices().get(3)).containsEntry("issueDate", "2040-05-01T00:00:00.000Z");
  }

  @Test
  void afterItsEndOnlyUsageIsBilledAndLateUsageOnAnInvoiceOfItsOwn() {
    Merchant merchant = merchant();
    String customer = merchant.customerId("acme");
    String id = (String) merchant.invoices().getFirst().get("subscriptionId");
    merchant.post(
        "/external/subscriptions/" + id + "/cancel", Map.of("externalCustomerId", "acme"));
    use(merchant, customer, 4, "2040-02-10T00:00:00Z");
    merchant.at("2040-03-01T12:00:00Z");
    assertThat(merchant.invoices()).hasSize(2);
    assertThat(shown(merchant, 1)).containsExactly("2040-01-31..2040-02-29 4 4.00");

    use(merchant, customer, 6, "2040-02-11T00:00:00Z");
    merchant.at("2040-03-02T00:00:00Z");
    merchant.at("2040-03-03T00:00:00Z");

    assertThat(merchant.invoices()).hasSize(3);
    assertThat(shown(merchant, 2)).containsExactly("2040-01-31..2040-02-29 10 6.00");
  }

  @Test
  void thePreviewIsWhatTheInvoiceBecomes() {
    Merchant merchant = merchant();
    String customer = merchant.customerId("acme");
    String id = (String) merchant.invoices().getFirst().get("subscriptionId");
    use(merchant, customer, 12, "2040-02-10T00:00:00Z");
    merchant.at("2040-02-20T00:00:00Z");
    Answer preview = merchant.get("/external/subscriptions/" + id + "/upcoming-invoice");
    List<Map<String, Object>> upcoming = preview.at("invoiceLineItems");

    merchant.at("2040-03-01T12:00:00Z");

    assertThat(upcoming.stream().map(RecurringIT::line).toList()).isEqualTo(shown(merchant, 1));
  }
}
