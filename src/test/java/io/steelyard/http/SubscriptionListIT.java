package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Paging through subscriptions, filtered and in every order. */
class SubscriptionListIT {
  private static final String PATH = "/external/subscriptions";
  private static final String CATALOG =
      """
      plans:
        - {externalId: one, name: One, basePrices: {monthly: 1}}
        - {externalId: two, name: Two, basePrices: {monthly: 2}}
      """;

  private static TestApp app;
  private static Merchant merchant;
  private static String firstCustomer;
  private static String planOne;
  private static String deleted;

  /** 8 active and 4 upcoming of two customers and two plans, and a deleted one. */
  @BeforeAll
  static void start() {
    app = TestApp.start();
    merchant = app.merchant("test", CATALOG).at("2040-01-01T00:00:00Z");
    firstCustomer = merchant.customerId("first");
    String second = merchant.customerId("second");
    planOne = merchant.planId(CATALOG, "one");
    String planTwo = merchant.planId(CATALOG, "two");
    for (int day = 0; day < 3; day++) {
      merchant.at("2040-01-0%dT00:00:00Z".formatted(day + 1));
      List<Map<String, Object>> body = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        Map<String, Object> subscription = new HashMap<>();
        subscription.put("customerId", i % 2 == 0 ? firstCustomer : second);
        subscription.put("planId", i == 0 ? planOne : planTwo);
        subscription.put("startDate", day == 2 ? "2040-05-0" + (i + 1) : "2039-12-2" + i);
        subscription.put("endDate", "2041-0" + (i + 1) + "-01");
        body.add(subscription);
      }
      merchant.call("POST", PATH + "/bulk").json(body).send(201);
    }
    Map<String, Object> upcoming =
        merchant.subscribe(
            Map.of("customerId", second, "planId", planOne, "startDate", "2050-01-01"));
    deleted = (String) upcoming.get("id");
    merchant.call("DELETE", PATH + "/" + deleted).send(204);
    Merchant other = app.merchant("live", CATALOG);
    other.subscribe(
        Map.of("customerId", other.customerId("first"), "planId", other.planId(CATALOG, "one")));
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static Answer list(String query) {
    return merchant.call("GET", PATH + "?" + query).send(200);
  }

  private static List<Map<String, Object>> results(String query) {
    return list(query).at("results");
  }

  @ParameterizedTest
  @ValueSource(strings = {"createdAt", "endDate", "id", "startDate", "status", "updatedAt"})
  void everyOrderGoesUpAndDownAndTiesBreakOnTheId(String field) {
    Comparator<Map<String, Object>> byField =
        Comparator.comparing(each -> (String) each.get(field));
    Comparator<Map<String, Object>> ascending =
        byField.thenComparing(each -> (String) each.get("id"));

    List<Map<String, Object>> up = results("pageSize=100&order=asc&orderBy=" + field);
    List<Map<String, Object>> down = results("pageSize=100&order=desc&orderBy=" + field);

    assertThat(up).hasSize(12).isSortedAccordingTo(ascending);
    assertThat(down).isEqualTo(up.reversed());
  }

  @Test
  void theNewestComeFirstAndEachIsAsReadById() {
    List<Map<String, Object>> results = results("pageSize=3");

    assertThat(results).isEqualTo(results("order=desc&orderBy=createdAt&pageSize=3"));
    assertThat(results)
        .allSatisfy(
            each -> assertThat(merchant.get(PATH + "/" + each.get("id")).object()).isEqualTo(each));
  }

  @ParameterizedTest
  @CsvSource({"status, asc", "status, desc", "endDate, asc", "endDate, desc"})
  void thePagesTogetherAreTheListAndOnePastTheEndIsEmpty(String field, String order) {
    String query = "orderBy=" + field + "&order=" + order;
    List<Map<String, Object>> paged = new ArrayList<>();
    for (int page = 1; page <= 3; page++) {
      Answer answer = list(query + "&pageSize=5&page=" + page);
      assertThat(List.<Integer>of(answer.at("count"), answer.at("pages"), answer.at("currentPage")))
          .containsExactly(12, 3, page);
      paged.addAll(answer.at("results"));
    }

    assertThat(paged).isEqualTo(results(query + "&pageSize=100"));
    assertThat(results(query + "&pageSize=5&page=4")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "status=active, 8",
    "status=pendingActivation, 4",
    "status=draft, 0",
    "status=ended, 0",
    "status=deleted, 1",
    "id=nonsense, 0",
    "customerId=nonsense, 0",
    "planId=nonsense, 0"
  })
  void filtersMatchWhole(String query, int count) {
    Answer answer = list(query);

    assertThat(answer.<Integer>at("count")).isEqualTo(count);
    assertThat((List<?>) answer.at("results")).hasSize(count);
  }

  @Test
  void severalFiltersMustAllMatch() {
    assertThat(results("customerId=" + firstCustomer)).hasSize(6);
    assertThat(results("planId=" + planOne)).hasSize(3);
    assertThat(results("customerId=" + firstCustomer + "&status=active&planId=" + planOne))
        .hasSize(2)
        .allSatisfy(
            each ->
                assertThat(each)
                    .containsEntry("customerId", firstCustomer)
                    .containsEntry("planId", planOne)
                    .containsEntry("status", "active"));
    assertThat(results("id=" + firstCustomer)).isEmpty();
  }

  @Test
  void aDeletedOneIsListedOnlyWhenAskedForAndStaysReadableById() {
    assertThat(results("id=" + deleted)).isEmpty();
    assertThat(results("status=deleted&id=" + deleted)).hasSize(1);
    assertThat(merchant.call("GET", PATH + "/" + deleted).send(200).<String>at("status"))
        .isEqualTo("deleted");
    assertThat(merchant.call("GET", PATH + "/" + deleted + "/expanded").send(200).<String>at("id"))
        .isEqualTo(deleted);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "pageSize=0      | ?pageSize range",
        "pageSize=101    | ?pageSize range",
        "page=0          | ?page range",
        "order=upward    | ?order enum",
        "orderBy=planId  | ?orderBy enum",
        "orderBy=vanityId | ?orderBy enum",
        "status=paused   | ?status enum",
        "status=Active   | ?status enum",
        "status=         | ?status min_length",
        "customerId=     | ?customerId min_length",
        "id=             | ?id min_length",
        "planId=         | ?planId min_length",
        "externalId=a    | ?externalId unknown_parameter",
      })
  void aParameterThatIsNotDocumentedSoIsRefused(String query, String fault) {
    assertThat(merchant.get(PATH + "?" + query).problem())
        .isEqualTo("400 validation_failed [" + fault + "]");
  }

  @Test
  void oneOfNobodyOrOfAnotherMerchantIsNotFoundAlike() {
    Merchant other = app.merchant("live", CATALOG);
    for (String id : List.of(deleted, "sub_00000000000000000000000000", "x", firstCustomer)) {
      for (String more : List.of("", "/expanded")) {
        assertThat(other.get(PATH + "/" + id + more).problem())
            .isEqualTo("404 subscription_not_found []");
      }
    }
    assertThat(other.get(PATH + "/").problem()).isEqualTo("400 validation_failed [?id min_length]");
    assertThat(other.get(PATH + "//expanded").problem())
        .isEqualTo("400 validation_failed [?id min_length]");
  }
}
