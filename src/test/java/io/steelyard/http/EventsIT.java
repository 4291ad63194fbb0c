package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Events from the request that brings them to the balance that they change. */
class EventsIT {
  private static final String PATH = "/external/event";

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
  void newMerchant() {
    merchant = app.merchant("test", Merchant.CATALOG);
    customer = (String) merchant.createCustomer("acme").get("id");
  }

  private void assertAccepted(Object body, int accepted, int duplicates) {
    assertThat(merchant.call("POST", PATH).json(body).send(202).text())
        .isEqualTo("{\"accepted\":%d,\"duplicates\":%d}".formatted(accepted, duplicates));
  }

  private Map<String, Object> tokens(long count, String key) {
    return merchant.event(customer, "tokens", count, key);
  }

  private String json(String members) {
    return "{\"customerId\":\"%s\",\"eventName\":\"tokens\",%s}".formatted(customer, members);
  }

  private Answer usage() {
    return merchant.get(
        "/external/customers/external-id/acme/customPricingUnits/%s/usage"
            .formatted(merchant.unitId(Merchant.CATALOG)));
  }

  private static String number(Answer answer, String name) {
    return String.valueOf(answer.<Object>at(name));
  }

  private void assertUsed(String used) throws Exception {
    Answer seen =
        Merchant.eventually(this::usage, answer -> number(answer, "totalUsed").equals(used));
    assertThat(number(seen, "totalUsed")).isEqualTo(used);
  }

  private List<Map<String, Object>> transactions() {
    return merchant
        .get("/external/customers/external-id/acme/transactions?pageSize=100&order=asc")
        .at("results");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/external/event", "/external/event/"})
  void anEventOrAnArrayOfThemIsAcceptedWithAndWithoutTheSlash(String path) {
    assertThat(merchant.call("POST", path).json(tokens(1, "a")).send(202).text())
        .isEqualTo("{\"accepted\":1,\"duplicates\":0}");
    assertThat(
            merchant
                .call("POST", path)
                .json(List.of(tokens(1, "a"), tokens(1, "b"), tokens(1, "c")))
                .send(202)
                .text())
        .isEqualTo("{\"accepted\":2,\"duplicates\":1}");
  }

  @Test
  void aKeyCountsOnceInOneBodyAndAcrossBodiesWhateverElseIsInTheEvent() throws Exception {
    assertAccepted(List.of(tokens(1000, "k"), tokens(1000, "k"), tokens(7000, "k")), 1, 2);
    assertAccepted(tokens(5000, "k"), 0, 1);
    assertAccepted(merchant.event("somebody", "other", 1, "k"), 0, 1);

    assertUsed("2");
  }

  @Test
  void twoHundredConcurrentSendsOfOneKeyCountOnce() throws Exception {
    String key = UUID.randomUUID().toString();
    Object body = tokens(1000, key);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<CompletableFuture<Answer>> sends =
          IntStream.range(0, 200)
              .mapToObj(
                  i ->
                      CompletableFuture.supplyAsync(
                          () -> merchant.call("POST", PATH).json(body).send(202), threads))
              .toList();
      int accepted = sends.stream().mapToInt(one -> one.join().<Integer>at("accepted")).sum();
      int duplicates = sends.stream().mapToInt(one -> one.join().<Integer>at("duplicates")).sum();

      assertThat(accepted).isEqualTo(1);
      assertThat(duplicates).isEqualTo(199);
    }
    assertUsed("2");
  }

  @Test
  void withoutAKeyThePayloadDecidesHoweverItIsWritten() throws Exception {
    Instant soon = Instant.now().truncatedTo(ChronoUnit.SECONDS).plusSeconds(2);
    String at = "\"generatedAt\":\"%s\"".formatted(soon);
    assertAcceptedText(json(at + ",\"data\":{\"count\":1000,\"a\":{\"x\":1,\"y\":[1,2]}}"), 1);
    assertAcceptedText(
        json("\"data\":{\"a\":{\"y\":[1.0,2],\"x\":1e0},\"count\":1000.0}," + at), 0);
    assertAcceptedText(
        json(
            at.replace("Z", ".000+00:00")
                + ",\"data\":{\"count\":1e3,\"a\":{\"y\":[1,2],\"x\":1}}"),
        0);
    assertUsed("2");
    assertAcceptedText(json(at + ",\"data\":{\"count\":1000,\"a\":{\"x\":1,\"y\":[2,1]}}"), 1);
    assertAcceptedText(json(at + ",\"data\":{\"count\":1000},\"userId\":\"u\""), 1);
    assertUsed("6");
  }

  private void assertAcceptedText(String body, int accepted) {
    assertThat(merchant.call("POST", PATH).json(body).send(202).<Integer>at("accepted"))
        .as(body)
        .isEqualTo(accepted);
  }

  @Test
  void aBatchWithABadEventStoresNothingAndNamesEachBadOne() {
    Map<String, Object> unnamed = new HashMap<>(tokens(1, "x"));
    unnamed.remove("eventName");
    Map<String, Object> late = new HashMap<>(tokens(1, "y"));
    late.put("generatedAt", "2100-01-01T00:00:00Z");
    Map<String, Object> misspelt = new HashMap<>(tokens(1, "z"));
    misspelt.put("idempotencykey", "z");
    long before = Tables.counts(app.database()).get("event_batch");

    Answer answer =
        merchant
            .call("POST", PATH)
            .json(List.of(tokens(1, "a"), unnamed, tokens(1, "b"), late, misspelt))
            .send(400);

    assertThat(answer.faults())
        .containsExactlyInAnyOrder(
            "/1/eventName required", "/3/generatedAt range", "/4/idempotencykey unknown_property");
    assertThat(Tables.counts(app.database())).containsEntry("event_batch", before);
    assertAccepted(List.of(tokens(1, "a"), tokens(1, "b")), 2, 0);
  }

  @Test
  void tenThousandEventsAreABatchAndOneMoreIsNot() throws Exception {
    List<Map<String, Object>> events = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      events.add(tokens(1, "batch-" + i));
    }
    assertAccepted(events, 10_000, 0);
    assertAccepted(events, 0, 10_000);
    events.add(tokens(1, "one more"));
    assertThat(merchant.call("POST", PATH).json(events).send(400).faults())
        .containsExactly(" max_items");

    assertUsed("20");
  }

  @Test
  void anUnknownCustomerIsAcceptedAndKept() {
    String unknown = "cus_01jd3c5m8y6cq643dzvmxxqkfb";
    assertAccepted(
        List.of(
            merchant.event(unknown, "tokens", 1, "unknown-1"),
            merchant.event("acme", "tokens", 1, "unknown-2")),
        2,
        0);
    assertAccepted(merchant.event(unknown, "tokens", 1, "unknown-1"), 0, 1);

    assertThat(
            Tables.query(app.database(), "SELECT count(*) FROM event WHERE customer_ref = 'acme'"))
        .containsExactly("1");
  }

  @Test
  void usageIsSeenAsABalanceAndATransaction() throws Exception {
    assertAccepted(tokens(2500, "seen"), 1, 0);
    assertUsed("5");

    Answer usage = usage();
    assertThat(number(usage, "totalAllocated")).isEqualTo("1000");
    assertThat(number(usage, "remaining")).isEqualTo("995");
    assertThat(number(usage, "nextExpiring.amountRemaining")).isEqualTo("995");
    assertThat(transactions())
        .last()
        .satisfies(
            drawn -> {
              assertThat(drawn).containsEntry("type", "usage").containsEntry("amount", -5);
              assertThat((String) drawn.get("eventId")).startsWith("evt_");
              assertThat(Answer.<String>at(drawn, "billable.name")).isEqualTo("Tokens");
              assertThat(Answer.<Object>at(drawn, "billable.id"))
                  .isEqualTo(drawn.get("billableId"));
              assertThat(Answer.<String>at(drawn, "allocationBlock.customPricingUnit.displayName"))
                  .isEqualTo("Credits");
            });
  }

  @Test
  void usageBeyondWhatIsAllocatedNeverMakesABalanceNegative() throws Exception {
    assertAccepted(List.of(tokens(400_000, "a"), tokens(400_000, "b")), 2, 0);

    Answer seen =
        Merchant.eventually(this::usage, answer -> number(answer, "remaining").equals("0"));
    assertThat(number(seen, "remaining")).isEqualTo("0");
    assertAccepted(tokens(1000, "c"), 1, 0);
    List<Object> amounts = new ArrayList<>();
    transactions().forEach(one -> amounts.add(one.get("amount")));
    Collections.sort(amounts, (a, b) -> Integer.compare((Integer) a, (Integer) b));
    assertThat(amounts).containsExactly(-800, -200, 1000);
  }

  @Test
  void eventsOfAnEarlierOrLaterPeriodDoNotCountInThisOne() throws Exception {
    Instant now = Instant.now();
    assertAccepted(
        List.of(
            merchant.event(customer, "tokens", 7000, "late", now.minus(90, ChronoUnit.DAYS)),
            merchant.event(customer, "tokens", 7000, "early", now.plus(90, ChronoUnit.DAYS)),
            tokens(1000, "now")),
        3,
        0);

    assertUsed("2");
    Thread.sleep(500); // what would be folded wrongly is folded by now
    assertThat(number(usage(), "totalUsed")).isEqualTo("2");
  }

  @Test
  void dataIsBoundedAndTheRestOfTheEventIsNotItsMeasure() {
    Map<String, Object> event = tokens(1, "large");
    Map<String, Object> data = new HashMap<>();
    event.put("data", data);
    for (int i = 0; i < 8; i++) {
      data.put("member-" + i, "x".repeat(8000));
    }
    assertAccepted(event, 1, 0);
    data.put("member-8", "x".repeat(8000));
    assertThat(merchant.call("POST", PATH).json(event).send(400).faults())
        .containsExactly("/data max_bytes");
  }
}
