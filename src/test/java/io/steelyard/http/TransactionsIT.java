package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The ledger of a customer's units. */
class TransactionsIT {
  private static final String NOW = "2040-01-31T12:00:00.000Z";

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
  void aPlansAllocationIsATransactionThatNamesItsBlockInvoiceAndPlan() {
    Map<String, Object> customer = merchant.createCustomer("acme");

    Answer answer = transactions("acme", "");

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.object()).containsOnlyKeys("results", "count", "pages", "currentPage");
    Map<String, Object> transaction = answer.at("results.0");
    assertThat(transaction)
        .containsEntry("type", "planAllocation")
        .containsEntry("amount", 1000)
        .containsEntry("merchantId", merchant.id())
        .containsEntry("billableId", null)
        .containsEntry("billable", null)
        .containsEntry("eventId", null)
        .containsEntry("createdAt", NOW)
        .containsEntry("updatedAt", NOW);
    Map<String, Object> invoice =
        merchant.invoiceOf(Answer.at(customer, "subscriptions.0.id")).object();
    assertThat(Answer.<Map<String, Object>>at(transaction, "allocationBlock"))
        .containsEntry("id", transaction.get("allocationBlockId"))
        .containsEntry("amount", 1000)
        .containsEntry("customPricingUnitId", unit)
        .containsEntry("customPricingUnit", Map.of("displayName", "Credits"))
        .containsEntry("invoice", Map.of("id", invoice.get("id"), "vanityId", 1))
        .containsEntry(
            "subscription", Map.of("billingCadence", "monthly", "plan", Map.of("name", "Pro")));
  }

  @Test
  void whatPlansAndHandsGiveIsOneListInBothOrders() {
    String customer = (String) merchant.createCustomer("acme").get("id");
    for (int i = 1; i <= 6; i++) {
      if (i % 2 == 0) {
        merchant.at("2040-02-0%dT00:00:00Z".formatted(i));
      }
      merchant.allocate(customer, unit, Integer.toString(i), null);
    }

    Answer all = transactions("acme", "?pageSize=100&order=asc");
    List<Map<String, Object>> up = all.at("results");
    List<Map<String, Object>> down = transactions("acme", "?pageSize=100").at("results");
    List<Map<String, Object>> paged = new ArrayList<>();
    for (int page = 1; page <= 4; page++) {
      Answer answer = transactions("acme", "?order=asc&pageSize=2&page=" + page);
      assertThat(List.<Integer>of(answer.at("count"), answer.at("pages"), answer.at("currentPage")))
          .containsExactly(7, 4, page);
      paged.addAll(answer.at("results"));
    }

    assertThat(up).extracting("amount").containsExactly(1000, 1, 2, 3, 4, 5, 6);
    assertThat(down).isEqualTo(up.reversed());
    assertThat(paged).isEqualTo(up);
  }

  @Test
  void usageIsATransactionOfItsEventAndBillableAndLowersTheBalance() throws Exception {
    String customer = (String) merchant.createCustomer("acme").get("id");
    Map<String, Object> event =
        merchant.event(customer, "tokens", 50, null, Instant.parse(NOW).plusMillis(1));

    merchant.call("POST", "/external/event").json(event).send(202);

    Map<String, Object> usage =
        Merchant.eventually(() -> usage("acme"), each -> !each.get("totalUsed").equals(0));
    assertThat(usage)
        .containsAllEntriesOf(amounts(1000, new BigDecimal("0.1"), new BigDecimal("999.9")));
    Answer transactions = transactions("acme", "");
    assertThat(transactions.<Integer>at("count")).isEqualTo(2);
    Map<String, Object> drawn = transactions.at("results.0");
    assertThat(drawn)
        .containsEntry("type", "usage")
        .containsEntry("amount", new BigDecimal("-0.1"))
        .containsEntry("billable", Map.of("id", drawn.get("billableId"), "name", "Tokens"));
    assertThat(drawn.get("eventId").toString()).startsWith("evt_");
    assertThat(drawn.get("allocationBlock"))
        .isEqualTo(transactions.<Object>at("results.1.allocationBlock"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "pageSize=0        | ?pageSize range",
        "pageSize=101      | ?pageSize range",
        "page=0            | ?page range",
        "order=upward      | ?order enum",
        "orderBy=createdAt | ?orderBy unknown_parameter",
        "type=usage        | ?type unknown_parameter",
      })
  void transactionsTakeNoOtherParameters(String query, String fault) {
    merchant.createCustomer("acme");

    assertThat(transactions("acme", "?" + query).problem())
        .isEqualTo("400 validation_failed [" + fault + "]");
  }
}
