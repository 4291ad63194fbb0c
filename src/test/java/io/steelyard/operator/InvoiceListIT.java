package io.steelyard.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class InvoiceListIT {
  private static final int CUSTOMERS = 5;

  private static TestApp app;
  private static Merchant merchant;
  private static final List<Map<String, Object>> customers = new ArrayList<>();

  @BeforeAll
  static void start() {
    app = TestApp.start();
    merchant = app.merchant("test", Merchant.CATALOG);
    for (int i = 0; i < CUSTOMERS; i++) {
      customers.add(merchant.createCustomer("customer-" + i));
    }
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static Answer list(String query) {
    return merchant.operator("GET", "/invoices" + query).send();
  }

  private static List<Object> all(String query, String field) {
    Answer page = list(query);
    assertThat(page.status()).as(page.text()).isEqualTo(200);
    List<Map<String, Object>> results = page.at("results");
    return results.stream().map(invoice -> invoice.get(field)).toList();
  }

  @Test
  void theNewestComeFirstAndNumbersHaveNoGaps() {
    assertThat(all("", "vanityId")).containsExactly(5, 4, 3, 2, 1);
    assertThat(all("?order=asc", "vanityIdString")).containsExactly("1", "2", "3", "4", "5");
    assertThat(all("", "total")).allMatch(total -> total.toString().equals("49"));
  }

  @Test
  void pagesHoldEveryInvoiceOnce() {
    List<Object> seen = new ArrayList<>();
    for (int page = 1; page <= 3; page++) {
      seen.addAll(all("?pageSize=2&order=asc&page=" + page, "vanityId"));
    }
    assertThat(seen).containsExactly(1, 2, 3, 4, 5);
    assertThat(list("?pageSize=2").object())
        .containsEntry("count", 5)
        .containsEntry("pages", 3)
        .containsEntry("currentPage", 1);
    assertThat(list("?page=9").object())
        .containsEntry("count", 5)
        .containsEntry("results", List.of());
  }

  @Test
  void filtersPickACustomersOrASubscriptionsInvoices() {
    Map<String, Object> customer = customers.get(2);
    String subscription = Answer.at(customer, "subscriptions.0.id");

    assertThat(all("?customerId=" + customer.get("id"), "vanityId")).containsExactly(3);
    assertThat(all("?subscriptionId=" + subscription, "customerId"))
        .containsExactly(customer.get("id"));
    assertThat(all("?customerId=nobody", "id")).isEmpty();
    assertThat(all("?customerId=" + subscription, "id")).isEmpty();
    assertThat(
            all(
                "?customerId=" + customers.get(1).get("id") + "&subscriptionId=" + subscription,
                "id"))
        .isEmpty();
  }

  @Test
  void theStatusFilterKnowsEveryStatusAndNoOther() {
    assertThat(all("?status=test", "id")).hasSize(CUSTOMERS);
    assertThat(all("?status=void", "id")).isEmpty();
    Answer refused = list("?status=lost");
    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.faults()).containsExactly("?status enum");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"createdAt", "dueDate", "id", "issueDate", "status", "updatedAt", "vanityId"})
  void everyDocumentedOrderIsAnOrder(String field) {
    List<Object> up = all("?order=asc&orderBy=" + field, "vanityId");
    List<Object> down = new ArrayList<>(all("?order=desc&orderBy=" + field, "vanityId"));
    Collections.reverse(down);

    assertThat(up).hasSize(CUSTOMERS).isEqualTo(down);
  }

  /** Of a merchant of its own: 24 invoices of few statuses and dates, some without one. */
  @ParameterizedTest
  @ValueSource(
      strings = {"createdAt", "dueDate", "id", "issueDate", "status", "updatedAt", "vanityId"})
  void everyOrderIsByTheFieldThenTheIdAndPagesKeepToIt(String field) {
    Merchant many = app.merchant("test", Merchant.CATALOG);
    for (int i = 0; i < 24; i++) {
      many.createCustomer("customer-" + i);
    }
    Tables.query(
        app.database(),
        """
        UPDATE invoice
           SET status = (ARRAY['paid', 'void', 'issued'])[1 + vanity_id % 3],
               due_date = CASE WHEN vanity_id % 4 > 0
                               THEN timestamptz '2040-01-01Z' + vanity_id % 4 * interval '1 day' END,
               issue_date = CASE WHEN vanity_id % 5 > 0
                                 THEN timestamptz '2040-02-01Z' - vanity_id % 5 * interval '1 ms' END,
               created_at = timestamptz '2039-01-01Z' + vanity_id % 2 * interval '1 s',
               updated_at = timestamptz '2039-02-01Z' + vanity_id % 7 * interval '1 s'
         WHERE merchant_id = (SELECT merchant_id FROM invoice ORDER BY id DESC LIMIT 1)
        RETURNING id
        """);
    Comparator<Map<String, Object>> byField =
        field.equals("vanityId")
            ? Comparator.comparing(each -> (Integer) each.get(field))
            : Comparator.comparing(
                each -> (String) each.get(field), Comparator.nullsLast(Comparator.naturalOrder()));
    Comparator<Map<String, Object>> ascending =
        byField.thenComparing(each -> (String) each.get("id"));

    for (String order : List.of("asc", "desc")) {
      String query = "/invoices?orderBy=" + field + "&order=" + order;
      List<Map<String, Object>> all =
          many.operator("GET", query + "&pageSize=100").send(200).at("results");
      List<Map<String, Object>> paged = new ArrayList<>();
      for (int page = 1; page <= 4; page++) {
        Answer answer = many.operator("GET", query + "&pageSize=7&page=" + page).send(200);
        paged.addAll(answer.at("results"));
      }

      assertThat(all)
          .hasSize(24)
          .isSortedAccordingTo(order.equals("asc") ? ascending : ascending.reversed());
      assertThat(paged).isEqualTo(all);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "page=0, ?page range",
    "page=x, ?page type",
    "pageSize=101, ?pageSize range",
    "pageSize=, ?pageSize min_length",
    "order=up, ?order enum",
    "orderBy=total, ?orderBy enum",
    "orderBy=VanityId, ?orderBy enum",
    "orderBy=vanity_id, ?orderBy enum",
    "orderBy=, ?orderBy min_length",
    "customerId=, ?customerId min_length",
    "colour=red, ?colour unknown_parameter",
    "page=1&page=2, ?page repeated",
    "customerId=%ff, ?customerId encoding"
  })
  void aBadParameterIsNamed(String query, String fault) {
    Answer refused = list("?" + query);

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.faults()).containsExactly(fault);
  }

  @Test
  void aMerchantSeesItsOwnOnly() {
    Merchant other = app.merchant("test", Merchant.CATALOG);

    assertThat(other.operator("GET", "/invoices").send(200).object())
        .containsEntry("count", 0)
        .containsEntry("pages", 0);
    assertThat(
            other
                .operator("GET", "/invoices?customerId=" + customers.get(0).get("id"))
                .send(200)
                .<Object>at("count"))
        .isEqualTo(0);
  }
}
