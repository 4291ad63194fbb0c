package io.steelyard.http;

import static io.steelyard.support.Merchant.atOnce;
import static io.steelyard.support.Merchant.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.RawHttp;
import io.steelyard.support.TableLock;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.sql.Connection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an Idempotency-Key does for those who use the external API. */
class IdempotencyIT {
  private static final String CUSTOMERS = "/external/customers";
  private static final String REUSED = "422 idempotency_key_reused []";
  private static final String IN_USE = "409 idempotency_key_in_use []";

  private static TestApp app;
  private static Merchant merchant;
  private static String plan;

  @BeforeAll
  static void start() {
    app =
        TestApp.start(
            Map.of(
                "events.lookEveryMs", "200",
                "database.lockTimeoutMs", "8000",
                "database.statementTimeoutMs", "9000"));
    merchant = app.merchant("live", Merchant.CATALOG);
    plan = merchant.planId(Merchant.CATALOG, "pro");
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static Answer post(Merchant by, String path, String key, Object body) {
    return by.call("POST", path).header("Idempotency-Key", key).json(body).send();
  }

  private static Answer create(String key, String externalId) {
    return post(merchant, CUSTOMERS, key, Map.of("externalId", externalId));
  }

  private static String key() {
    return UUID.randomUUID().toString();
  }

  private static String name() {
    return "acme-" + UUID.randomUUID();
  }

  private static String count(String sql) {
    return Tables.query(app.database(), "SELECT count(*) FROM " + sql).getFirst();
  }

  private static String customers(String externalId) {
    return count("customer WHERE external_id = '" + externalId + "'");
  }

  /** The rows whose answer names the customer. */
  private static String keysOf(String externalId) {
    return "idempotency_key WHERE convert_from(answer, 'UTF8') LIKE '%" + externalId + "%'";
  }

  private static void isReplayOf(Answer first, Answer again) {
    assertThat(again.status()).isEqualTo(first.status());
    assertThat(again.text()).isEqualTo(first.text());
    assertThat(again.header("content-type")).isEqualTo(first.header("content-type"));
    assertThat(first.header("idempotent-replayed")).isNull();
    assertThat(again.header("idempotent-replayed")).isEqualTo("true");
    assertThat(again.header("x-request-id")).isNotEqualTo(first.header("x-request-id"));
  }

  @Test
  void aCustomerIsCreatedOnceAndItsAnswerRepeated() {
    String key = key();
    String name = name();

    Answer first = create(key, name);
    Answer again = create(key, name);

    assertThat(first.status()).as(first.text()).isEqualTo(201);
    isReplayOf(first, again);
    assertThat(customers(name)).isEqualTo("1");
    assertThat(create(key(), name).problem()).isEqualTo("409 external_id_taken []");
  }

  @Test
  void subscriptionsAreCreatedOnce() {
    String customer = merchant.customerId(name());
    List<?> body = List.of(Map.of("customerId", customer, "planId", plan));
    String key = key();

    Answer first = post(merchant, "/external/subscriptions/bulk", key, body);
    Answer again = post(merchant, "/external/subscriptions/bulk", key, body);

    assertThat(first.status()).as(first.text()).isEqualTo(201);
    isReplayOf(first, again);
    assertThat(count("subscription WHERE id = '" + uuid(first) + "'")).isEqualTo("1");
    assertThat(merchant.get("/external/subscriptions?customerId=" + customer).<Object>at("count"))
        .isEqualTo(2); // with the one of the default plan
  }

  private static String uuid(Answer subscriptions) {
    return Id.parse(IdKind.SUBSCRIPTION, subscriptions.<String>at("0.id"))
        .orElseThrow()
        .uuid()
        .toString();
  }

  /** Another has changed the customer meanwhile: a repeated upsert would undo that. */
  @Test
  void anUpsertIsNotCarriedOutAgain() {
    String name = name();
    String key = key();
    List<?> body = List.of(Map.of("externalId", name, "email", "old@acme.example"));

    Answer first = post(merchant, CUSTOMERS + "/upsert/bulk", key, body);
    merchant.post(
        CUSTOMERS + "/upsert/bulk",
        List.of(Map.of("externalId", name, "email", "new@acme.example")));
    Answer again = post(merchant, CUSTOMERS + "/upsert/bulk", key, body);

    assertThat(first.status()).isEqualTo(200);
    isReplayOf(first, again);
    assertThat(merchant.get(CUSTOMERS + "?externalId=" + name).<String>at("results.0.email"))
        .isEqualTo("new@acme.example");
  }

  @Test
  void theSameRequestMayBeWrittenDifferently() {
    String key = key();
    String name = name();
    Map<String, Object> body = new LinkedHashMap<>(Map.of("externalId", name));
    body.put("name", "Acme");
    Answer first = post(merchant, CUSTOMERS, key, body);

    Answer again =
        merchant
            .call("POST", CUSTOMERS)
            .header("idempotency-KEY", key)
            .json("{ \"name\" : \"\\u0041cme\",\n\"externalId\":\"" + name + "\"}")
            .send();

    isReplayOf(first, again);
  }

  @Test
  void anotherBodyIsRefusedAndTheFirstIsStillRepeated() {
    String key = key();
    String name = name();
    String other = name();
    Answer first = create(key, name);

    assertThat(create(key, other).problem()).isEqualTo(REUSED);

    assertThat(customers(other)).isEqualTo("0");
    isReplayOf(first, create(key, name));
  }

  @Test
  void anotherPathOfTheSameOperationIsAnotherRequest() {
    merchant.connect("CardGateway");
    String one = name();
    String two = name();
    merchant.createCustomer(one);
    merchant.createCustomer(two);
    String key = key();
    Map<String, String> body = Map.of("successUrl", "https://shop.example/done");

    assertThat(post(merchant, session(one), key, body).status()).isEqualTo(201);

    assertThat(post(merchant, session(two), key, body).problem()).isEqualTo(REUSED);
  }

  private static String session(String externalId) {
    return CUSTOMERS + "/external-id/" + externalId + "/card-gateway/checkout-sessions/setup";
  }

  @Test
  void anotherOperationAndAnotherMerchantHaveKeysOfTheirOwn() {
    Merchant stranger = app.merchant("test", Merchant.CATALOG);
    String key = key();
    String name = name();

    Answer mine = create(key, name);
    Answer theirs = post(stranger, CUSTOMERS, key, Map.of("externalId", name));
    Answer upserted =
        post(merchant, CUSTOMERS + "/upsert/bulk", key, List.of(Map.of("externalId", name)));

    assertThat(theirs.status()).isEqualTo(201);
    assertThat(theirs.header("idempotent-replayed")).isNull();
    assertThat(theirs.<String>at("id")).isNotEqualTo(mine.<String>at("id"));
    assertThat(upserted.status()).isEqualTo(200);
    assertThat(upserted.header("idempotent-replayed")).isNull();
    isReplayOf(theirs, post(stranger, CUSTOMERS, key, Map.of("externalId", name)));
  }

  @Test
  void fiftyAtOnceAreOneEffect() {
    String key = key();
    String name = name();

    List<Answer> answers = atOnce(50, i -> create(key, name));

    List<Answer> made = answers.stream().filter(each -> each.status() == 201).toList();
    assertThat(made.stream().filter(each -> each.header("idempotent-replayed") == null)).hasSize(1);
    assertThat(made).extracting(Answer::text).containsOnly(made.getFirst().text());
    assertThat(answers.stream().filter(each -> each.status() != 201).toList())
        .allSatisfy(
            each -> {
              assertThat(each.problem()).isEqualTo(IN_USE);
              assertThat(each.header("retry-after")).isEqualTo("1");
            });
    assertThat(customers(name)).isEqualTo("1");
    assertThat(create(key, name).text()).isEqualTo(made.getFirst().text());
  }

  @Test
  void whoComesWhileTheFirstIsUnderWayIsToldSoAtOnce() throws Exception {
    String customer = merchant.customerId(name());
    List<?> body = List.of(Map.of("customerId", customer, "planId", plan));
    String key = key();
    try (Connection lock = Tables.connect(app.database())) {
      lock.setAutoCommit(false);
      lock.createStatement().execute("LOCK TABLE subscription IN SHARE MODE"); // readers go on
      CompletableFuture<Answer> first =
          CompletableFuture.supplyAsync(
              () -> post(merchant, "/external/subscriptions/bulk", key, body));
      TableLock.awaitWaiting(app.database(), 1);

      Answer second = post(merchant, "/external/subscriptions/bulk", key, body);

      assertThat(second.problem()).isEqualTo(IN_USE);
      assertThat(second.header("retry-after")).isEqualTo("1");
      lock.rollback();
      assertThat(first.get().status()).isEqualTo(201);
      isReplayOf(first.get(), post(merchant, "/external/subscriptions/bulk", key, body));
    }
  }

  @Test
  void aRefusalLeavesTheKeyFree() {
    String key = key();
    String taken = name();
    String name = name();
    merchant.createCustomer(taken);

    assertThat(create(key, taken).problem()).isEqualTo("409 external_id_taken []");
    assertThat(create(key, taken).header("idempotent-replayed")).isNull();
    assertThat(post(merchant, CUSTOMERS, key, Map.of("externalId", 5)).status()).isEqualTo(400);
    assertThat(count(keysOf(taken))).isEqualTo("0");

    assertThat(create(key, name).status()).isEqualTo(201);
  }

  /** The row cannot be stored: nothing else of the transaction is either. */
  @Test
  void withoutTheStoredAnswerThereIsNoEffect() {
    String key = key();
    String name = name();
    PostgresSupport.execute(
        app.database(),
        "ALTER TABLE idempotency_key ADD CONSTRAINT broken CHECK (expires_at < now()) NOT VALID");
    try {
      assertThat(create(key, name).status()).isEqualTo(500);
      assertThat(customers(name)).isEqualTo("0");
    } finally {
      PostgresSupport.execute(app.database(), "ALTER TABLE idempotency_key DROP CONSTRAINT broken");
    }

    Answer then = create(key, name);

    assertThat(then.status()).isEqualTo(201);
    assertThat(then.header("idempotent-replayed")).isNull();
  }

  /** The effect cannot be stored: neither is its answer. */
  @Test
  void withoutTheEffectThereIsNoStoredAnswer() {
    String key = key();
    String name = name();
    PostgresSupport.execute(
        app.database(),
        "ALTER TABLE customer ADD CONSTRAINT broken CHECK (external_id <> '" + name + "')");
    String before = count("idempotency_key");
    try {
      assertThat(create(key, name).status()).isEqualTo(500);
      assertThat(count("idempotency_key")).isEqualTo(before);
    } finally {
      PostgresSupport.execute(app.database(), "ALTER TABLE customer DROP CONSTRAINT broken");
    }
    assertThat(create(key, name).status()).isEqualTo(201);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 255})
  void aKeyMayBeShortOrLong(int length) {
    String key = "~".repeat(length - 1) + "!";
    assertThat(create(key, name()).status()).isEqualTo(201);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "two words", "long"})
  void whatIsNoKeyIsRefusedByName(String bad) {
    String key = bad.equals("long") ? "x".repeat(256) : bad;
    String name = name();

    Answer answer = create(key, name);

    assertThat(answer.problem()).isEqualTo("400 validation_failed [?idempotency-key format]");
    assertThat(customers(name)).isEqualTo("0");
  }

  @Test
  void aKeyOfOtherLettersThanAsciiIsNone() {
    String body = "{\"externalId\":\"" + name() + "\"}";
    try (RawHttp connection = RawHttp.connect(app.port())) {
      RawHttp.Response response =
          connection
              .send(
                  "POST %s HTTP/1.1\nhost: localhost\nx-api-key: %s\nidempotency-key: z\u00fcrich\ncontent-type: application/json\ncontent-length: %d\n\n"
                          .formatted(CUSTOMERS, merchant.key(), body.length())
                      + body)
              .read();
      assertThat(response.status()).isEqualTo(400);
    }
  }

  @Test
  void twoKeysAreNone() {
    Answer answer =
        merchant
            .call("POST", CUSTOMERS)
            .header("idempotency-key", "a")
            .header("idempotency-key", "a")
            .json(Map.of("externalId", name()))
            .send();

    assertThat(answer.problem()).isEqualTo("400 validation_failed [?idempotency-key repeated]");
  }

  @Test
  void aKeyIsFreeOnceItsDayIsOverAndIsDeletedThen() throws Exception {
    String key = key();
    String name = name();
    create(key, name);
    assertThat(count(keysOf(name))).isEqualTo("1");

    PostgresSupport.execute(
        app.database(),
        "UPDATE "
            + keysOf(name)
                .replace("WHERE", "SET expires_at = expires_at - interval '1 day' WHERE"));

    assertThat(create(key, name).problem()).isEqualTo("409 external_id_taken []");
    assertThat(eventually(() -> count(keysOf(name)), "0"::equals)).isEqualTo("0");
    assertThat(create(key, name()).status()).isEqualTo(201);
  }

  @Test
  void theAnswerStaysAsItWasWhateverBecameOfTheThing() {
    String customer = merchant.customerId(name());
    List<?> body =
        List.of(
            Map.of("customerId", customer, "planId", plan, "startDate", "2090-01-01T00:00:00Z"));
    String key = key();
    Answer first = post(merchant, "/external/subscriptions/bulk", key, body);
    merchant.call("DELETE", "/external/subscriptions/" + first.<String>at("0.id")).send();

    isReplayOf(first, post(merchant, "/external/subscriptions/bulk", key, body));
  }
}
