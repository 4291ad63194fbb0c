package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Paging through customers, filtered and in every order. */
class CustomerListIT {
  private static final String PATH = "/external/customers";
  private static final int COUNT = 23;

  private static TestApp app;
  private static Merchant merchant;

  /** 23 customers made at three times, with few names, and as many of another merchant. */
  @BeforeAll
  static void start() {
    app = TestApp.start();
    merchant = app.merchant("test", null);
    Merchant other = app.merchant("live", null);
    for (int day = 0; day < 3; day++) {
      merchant.at("2040-01-0%dT00:00:00Z".formatted(day + 1));
      List<Map<String, String>> body = new ArrayList<>();
      for (int i = day * 8; i < Math.min(COUNT, day * 8 + 8); i++) {
        body.add(
            Map.of(
                "externalId", "ext-" + i,
                "name", "Name " + i % 3,
                "email", "mail" + i % 5 + "@acme.example",
                "ledgerAId", "A-" + i % 4,
                "cardGatewayId", "gw-" + i % 7));
      }
      merchant.call("POST", PATH + "/upsert/bulk").json(body).send(200);
      other.call("POST", PATH + "/upsert/bulk").json(body).send(200);
    }
    merchant.at("2040-01-09T00:00:00Z");
    merchant
        .call("POST", PATH + "/upsert/bulk")
        .json(List.of(Map.of("externalId", "ext-4"), Map.of("externalId", "ext-20")))
        .send(200);
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

  private static List<Integer> numbers(Answer page) {
    return List.of(page.at("count"), page.at("pages"), page.at("currentPage"));
  }

  @Test
  void withoutParametersTheNewestTwentyCome() {
    Answer page = merchant.call("GET", PATH).send(200);

    assertThat(page.object()).containsOnlyKeys("results", "count", "pages", "currentPage");
    assertThat(numbers(page)).containsExactly(COUNT, 2, 1);
    List<Map<String, Object>> results = page.at("results");
    assertThat(results)
        .hasSize(20)
        .isEqualTo(results("order=desc&orderBy=createdAt&page=1&pageSize=20"));
    assertThat(results.getFirst()).containsEntry("createdAt", "2040-01-03T00:00:00.000Z");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"createdAt", "email", "id", "name", "ledgerAId", "cardGatewayId", "updatedAt"})
  void everyOrderGoesUpAndDownAndTiesBreakOnTheId(String field) {
    Comparator<Map<String, Object>> byField =
        Comparator.comparing(each -> (String) each.get(field));
    Comparator<Map<String, Object>> ascending =
        byField.thenComparing(each -> (String) each.get("id"));

    List<Map<String, Object>> up = results("pageSize=100&order=asc&orderBy=" + field);
    List<Map<String, Object>> down = results("pageSize=100&order=desc&orderBy=" + field);

    assertThat(up).hasSize(COUNT).isSortedAccordingTo(ascending);
    assertThat(down).isEqualTo(up.reversed());
  }

  @Test
  void thePagesTogetherAreTheList() {
    List<Map<String, Object>> paged = new ArrayList<>();
    for (int page = 1; page <= 4; page++) {
      Answer answer = list("orderBy=name&order=asc&pageSize=7&page=" + page);
      assertThat(numbers(answer)).containsExactly(COUNT, 4, page);
      paged.addAll(answer.at("results"));
    }

    assertThat(paged).isEqualTo(results("orderBy=name&order=asc&pageSize=100"));
  }

  @Test
  void aPagePastTheEndIsEmpty() {
    Answer past = list("page=4&pageSize=10");
    assertThat((List<?>) past.at("results")).isEmpty();
    assertThat(numbers(past)).containsExactly(COUNT, 3, 4);

    Answer far = list("page=2147483647&pageSize=100");
    assertThat((List<?>) far.at("results")).isEmpty();
    assertThat(numbers(far)).containsExactly(COUNT, 1, Integer.MAX_VALUE);
  }

  @Test
  void anEmptyListHasNoPages() {
    Answer none = app.merchant("live", null).call("GET", PATH).send(200);

    assertThat((List<?>) none.at("results")).isEmpty();
    assertThat(numbers(none)).containsExactly(0, 0, 1);
  }

  @ParameterizedTest
  @CsvSource({
    "externalId=ext-7, 1",
    "externalId=EXT-7, 0",
    "externalId=ext, 0",
    "ledgerAId=A-3, 5",
    "cardGatewayId=gw-6, 3",
    "email=mail4%40acme.example, 4",
    "name=Name%202, 7",
    "name=Name+2, 7",
    "name=Name%25, 0",
    "name=Name+1&email=mail1%40acme.example, 2",
    "name=Name+1&externalId=ext-2, 0",
    "id=cus_00000000000000000000000000, 0",
    "id=nonsense, 0"
  })
  void aFilterMatchesTheWholeValueAndSeveralMustAllMatch(String query, int count) {
    Answer page = list(query + "&pageSize=100");

    assertThat(numbers(page)).containsExactly(count, count == 0 ? 0 : 1, 1);
    List<Map<String, Object>> results = page.at("results");
    assertThat(results).hasSize(count);
    for (String filter : query.split("&")) {
      String[] pair = filter.split("=");
      String value = java.net.URLDecoder.decode(pair[1], java.nio.charset.StandardCharsets.UTF_8);
      assertThat(results).allSatisfy(each -> assertThat(each).containsEntry(pair[0], value));
    }
  }

  @Test
  void theFilterById() {
    Map<String, Object> one = results("externalId=ext-11").getFirst();

    assertThat(results("id=" + one.get("id"))).containsExactly(one);
    assertThat(results("name=Name+0&id=" + one.get("id"))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "pageSize=0            | ?pageSize range",
        "pageSize=101          | ?pageSize range",
        "pageSize=-1           | ?pageSize type",
        "pageSize=1.0          | ?pageSize type",
        "pageSize=ten          | ?pageSize type",
        "pageSize=             | ?pageSize min_length",
        "page=0                | ?page range",
        "page=2147483648       | ?page range",
        "page=99999999999999999999 | ?page range",
        "page=%2B1             | ?page type",
        "order=upward          | ?order enum",
        "order=ASC             | ?order enum",
        "order=                | ?order min_length",
        "orderBy=externalId    | ?orderBy enum",
        "orderBy=created_at    | ?orderBy enum",
        "orderBy=status        | ?orderBy enum",
        "orderBy=vanityId      | ?orderBy enum",
        "externalId=           | ?externalId min_length",
        "id=                   | ?id min_length",
        "ledgerAId=            | ?ledgerAId min_length",
        "cardGatewayId=        | ?cardGatewayId min_length",
        "email=                | ?email min_length",
        "name=                 | ?name min_length",
        "ledgerBId=B           | ?ledgerBId unknown_parameter",
        "page_size=5           | ?page_size unknown_parameter",
        "page=1&page=2         | ?page repeated",
        "name=%FF              | ?name encoding",
        "name=%00              | ?name encoding",
      })
  void aParameterThatIsNotDocumentedSoIsRefused(String query, String fault) {
    assertThat(merchant.get(PATH + "?" + query).problem())
        .isEqualTo("400 validation_failed [" + fault + "]");
  }

  @Test
  void everyFaultyParameterIsNamed() {
    assertThat(merchant.get(PATH + "?page=0&pageSize=101&order=up&orderBy=x&name=&foo=1").faults())
        .containsExactlyInAnyOrder(
            "?page range",
            "?pageSize range",
            "?order enum",
            "?orderBy enum",
            "?name min_length",
            "?foo unknown_parameter");
  }
}
