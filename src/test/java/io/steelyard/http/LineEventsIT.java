package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.math.BigDecimal;
import java.math.MathContext;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which events a line was computed from. */
class LineEventsIT extends MeteredCustomer {
  // Shorter than the database's own limits of a statement and of a wait for a lock.
  private static final int IMPATIENCE_MS = 800;

  /** The calculation as a reader of the rules would do it, over nothing but the events. */
  private static BigDecimal calculate(String calculation, List<Map<String, Object>> events) {
    if (calculation.equals("count")) {
      return BigDecimal.valueOf(events.size());
    }
    if (calculation.equals("uniqueCount")) {
      return BigDecimal.valueOf(values(events).stream().map(Object::toString).distinct().count());
    }
    List<BigDecimal> numbers =
        values(events).stream().map(value -> new BigDecimal(value.toString())).toList();
    BigDecimal sum = numbers.stream().reduce(BigDecimal.ZERO, BigDecimal::add);
    return switch (calculation) {
      case "sum" -> sum;
      case "max" -> numbers.stream().max(Comparator.naturalOrder()).orElseThrow();
      case "min" -> numbers.stream().min(Comparator.naturalOrder()).orElseThrow();
      case "average" -> sum.divide(BigDecimal.valueOf(numbers.size()), MathContext.DECIMAL64);
      case "latest" -> numbers.getLast();
      default -> throw new AssertionError(calculation);
    };
  }

  @ParameterizedTest
  @CsvSource({
    "sum, 22.5, 5",
    "count, 7, 7",
    "max, 7.5, 5",
    "min, 2, 5",
    "average, 4.5, 5",
    "uniqueCount, 5, 6",
    "latest, 2, 5",
  })
  void theCalculationOverTheEventsIsTheQuantityOfTheLine(
      String calculation, BigDecimal expected, int events) throws Exception {
    Map<String, Object> twice = event("use", MARCH, 5);
    count(
        List.of(
            event("use", MARCH.minusMillis(1), 100),
            twice,
            twice,
            event("use", MARCH.plusMillis(1), 5),
            event("use", MID_MARCH, 7.5),
            event("use", MID_MARCH.plusSeconds(1), "3"),
            event("use", MID_MARCH.plusSeconds(2), null),
            event("use", MID_MARCH.plusSeconds(3), "abc"),
            event("other", MID_MARCH.plusSeconds(4), 50),
            event("use", APRIL.minusMillis(1), 2),
            event("use", APRIL, 1000),
            event("use", APRIL.plusMillis(1), 1000)));
    String somebodyElse = customer;
    customer = merchant.customerId("somebody else");
    count(event("use", MID_MARCH, 70));
    customer = somebodyElse;
    count(twice);
    invoices.open(1, APRIL, MAY);
    String invoice = invoices.invoice(1, "arrears", 0);

    List<Map<String, Object>> found = events(invoice, calculation);

    assertThat(found).hasSize(events);
    assertThat(calculate(calculation, found))
        .isEqualByComparingTo(quantity(line(invoice, calculation)))
        .isEqualByComparingTo(expected);
    assertThat(found.getFirst())
        .containsEntry("customerId", customer)
        .containsEntry("eventName", "use")
        .containsEntry("generatedAt", "2040-03-01T00:00:00.000Z")
        .containsEntry("userId", null)
        .containsEntry("data", Map.of("v", 5))
        .containsEntry(
            "id",
            new Id(IdKind.EVENT, UUID.fromString((String) twice.get("idempotencyKey"))).toString());
    assertThat(found.getLast()).containsEntry("generatedAt", "2040-03-31T23:59:59.999Z");
  }

  @Test
  void rulesThatAllowAnyNameFindTheEventsOfAnyName() throws Exception {
    Map<String, Object> bot = event("third", MID_MARCH, 3);
    bot.put("userId", "bot-7");
    Map<String, Object> human = event("third", MID_MARCH, 4);
    human.put("userId", "bo");
    count(List.of(event("use", MARCH, 1), event("other", MARCH.plusSeconds(1), 2), bot, human));
    invoices.open(1, APRIL, MAY);
    String invoice = invoices.invoice(1, "arrears", 0);

    assertThat(values(events(invoice, "either"))).isEqualTo(List.of(1, 2, 3));
    assertThat(quantity(line(invoice, "either"))).isEqualByComparingTo("3");
    assertThat(events(invoice, "either").getLast()).containsEntry("userId", "bot-7");
  }

  @Test
  void pagesAreInOrderAndHoldEveryEventOnce() throws Exception {
    List<Map<String, Object>> sent = new ArrayList<>();
    IntStream.range(0, 25)
        .forEach(i -> sent.add(event(i % 5 == 4 ? "other" : "use", MARCH.plusSeconds(i / 8), i)));
    count(sent);
    invoices.open(1, APRIL, MAY);
    String invoice = invoices.invoice(1, "arrears", 0);
    Object line = line(invoice, "count").get("id");
    List<String> expected =
        sent.stream()
            .filter(event -> event.get("eventName").equals("use"))
            .sorted(
                Comparator.comparing(
                        (Map<String, Object> event) -> event.get("generatedAt").toString())
                    .thenComparing(event -> event.get("idempotencyKey").toString()))
            .map(event -> event.get("idempotencyKey").toString())
            .toList();

    for (String order : List.of("asc", "desc")) {
      List<String> found = new ArrayList<>();
      for (int page = 1; page <= 5; page++) {
        Answer answer = ask(invoice, line, "?pageSize=6&page=" + page + "&order=" + order);
        assertThat(answer.<Integer>at("count")).isEqualTo(20);
        assertThat(answer.<Integer>at("pages")).isEqualTo(4);
        assertThat(answer.<Integer>at("currentPage")).isEqualTo(page);
        List<Map<String, Object>> results = answer.at("results");
        assertThat(results).hasSize(page < 4 ? 6 : page == 4 ? 2 : 0);
        results.forEach(event -> found.add(key(event)));
      }
      assertThat(found).isEqualTo(order.equals("asc") ? expected : expected.reversed());
    }
    assertThat(ask(invoice, line, "").<List<Map<String, Object>>>at("results"))
        .hasSize(20)
        .first()
        .satisfies(event -> assertThat(key(event)).isEqualTo(expected.getLast()));
    Answer last = ask(invoice, line, "?page=2147483647&pageSize=100");
    assertThat(last.<List<?>>at("results")).isEmpty();
    assertThat(last.<Integer>at("count")).isEqualTo(20);
  }

  private static String key(Map<String, Object> event) {
    return Id.parse(IdKind.EVENT, (String) event.get("id")).orElseThrow().uuid().toString();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "?orderBy=createdAt",
        "?order=up",
        "?page=0",
        "?pageSize=0",
        "?pageSize=101",
        "?x=1",
        "?page=1&page=1"
      })
  void aWrongParameterIsRefused(String query) {
    String invoice = Objects.requireNonNull(merchant.invoices().getFirst().get("id")).toString();

    assertThat(ask(invoice, "li_x", query).status()).isEqualTo(400);
  }

  @Test
  void aLineOfAFixedPriceHasNoEvents() throws Exception {
    count(event("use", MID_MARCH, 4));
    String first = merchant.invoices().getFirst().get("id").toString();

    Answer answer = ask(first, line(first, "All (monthly)").get("id"), "");

    assertThat(answer.object())
        .isEqualTo(Map.of("results", List.of(), "count", 0, "pages", 0, "currentPage", 1));
  }

  @Test
  void aLineWithoutUsageHasNoEvents() {
    invoices.open(1, APRIL, MAY);
    String invoice = invoices.invoice(1, "arrears", 0);

    for (String calculation : CALCULATIONS) {
      assertThat(events(invoice, calculation)).isEmpty();
      assertThat(quantity(line(invoice, calculation))).isZero();
    }
  }

  @Test
  void aLineIsFoundOnItsOwnInvoiceOnly() {
    invoices.open(1, APRIL, MAY);
    String first = invoices.invoice(1, "arrears", 0);
    String second = invoices.invoice(2, "adjustment", 0);
    Object line = line(first, "sum").get("id");

    assertThat(ask(first, line, "").status()).isEqualTo(200);
    assertThat(ask(second, line, "").problem()).isEqualTo("404 line_item_not_found []");
    assertThat(ask("inv_x", line, "").problem()).isEqualTo("404 invoice_not_found []");
    Merchant other = app.merchant("test", CATALOG);
    assertThat(
            other.get("/external/invoices/" + first + "/line-items/" + line + "/events").problem())
        .isEqualTo("404 invoice_not_found []");
  }

  @Test
  void changedRulesCountFromTheNextPeriodOn() throws Exception {
    count(event("use", MARCH, 4));
    merchant.applyCatalog(
        CATALOG.replaceFirst(
            "value: use(?s)(.*?)calculation: sum", "value: new$1calculation: max"));
    count(List.of(event("use", MID_MARCH, 3), event("new", MID_MARCH, 90)));
    invoices.open(1, APRIL, MAY);
    count(List.of(event("use", APRIL, 8), event("new", APRIL, 5), event("new", APRIL, 6)));
    invoices.open(2, MAY, MAY.plusSeconds(30 * 86_400));
    String first = invoices.invoice(1, "arrears", 0);
    String second = invoices.invoice(2, "arrears", 1);

    assertThat(values(events(first, "sum"))).isEqualTo(List.of(4, 3));
    assertThat(quantity(line(first, "sum"))).isEqualByComparingTo("7");
    assertThat(values(events(second, "sum"))).containsExactlyInAnyOrder(5, 6);
    assertThat(quantity(line(second, "sum"))).isEqualByComparingTo("6");
  }

  @Test
  void whoAsksForMoreThanCanBeReadInTimeIsTold() throws Exception {
    invoices.open(1, APRIL, MAY);
    String invoice = invoices.invoice(1, "arrears", 0);
    Object line = line(invoice, "sum").get("id");
    try (TestApp impatient =
            TestApp.start(app.database(), Map.of("timeouts.requestMs", "" + IMPATIENCE_MS));
        Connection connection = connect()) {
      connection.setAutoCommit(false);
      connection.createStatement().execute("LOCK TABLE event IN ACCESS EXCLUSIVE MODE");

      Answer answer =
          new Merchant(impatient, merchant.id(), merchant.key())
              .get("/external/invoices/" + invoice + "/line-items/" + line + "/events");

      assertThat(answer.problem()).isEqualTo("504 timeout []");
    }
    assertThat(ask(invoice, line, "").status()).isEqualTo(200);
  }
}
