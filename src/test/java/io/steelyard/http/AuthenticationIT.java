package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.config.Config;
import io.steelyard.json.Json;
import io.steelyard.merchant.ApiKeys;
import io.steelyard.support.Merchant;
import io.steelyard.support.Operations;
import io.steelyard.support.Operations.Operation;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.RawHttp;
import io.steelyard.support.TableLock;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import io.steelyard.support.TestApp.Call;
import io.steelyard.support.TestConfig;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Who is let in, and what the others are told. */
@Isolated // its times are those of a machine of its own
class AuthenticationIT {
  private static final int CACHE_MS = 2000;
  private static final Map<String, String> ANY =
      Map.ofEntries(
          Map.entry("id", "x"),
          Map.entry("externalId", "x"),
          Map.entry("customPricingUnitId", "x"),
          Map.entry("invoiceId", "x"),
          Map.entry("subscriptionId", "x"),
          Map.entry("lineItemId", "x"),
          Map.entry("keyId", "x"),
          Map.entry("gateway", "CardGateway"),
          Map.entry("sessionId", "x"),
          Map.entry("customerId", "x"),
          Map.entry("month", "2040-01"));

  private static TestApp app;
  private static Merchant merchant;

  @BeforeAll
  static void start() {
    String encryptionKey = java.util.Base64.getEncoder().encodeToString(new byte[32]);
    app =
        TestApp.start(
            Map.of("keys.cacheMs", "" + CACHE_MS, "security.encryptionKey", encryptionKey));
    merchant = app.merchant("test", null);
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  static List<Operation> externalOperations() {
    return Operations.external();
  }

  static List<Operation> operatorOperations() {
    return Operations.operator();
  }

  private static Map<String, Object> newKey(String type) {
    return merchant.operator("POST", "/api-keys").json(Map.of("type", type)).send(201).object();
  }

  private static String withoutRequestId(Answer answer) {
    return answer.text().replace(answer.header("x-request-id"), "?");
  }

  @ParameterizedTest
  @MethodSource("externalOperations")
  void everyoneWithoutAValidKeyIsToldTheSame(Operation operation) {
    Map<String, Object> revoked = newKey("secret");
    merchant.operator("DELETE", "/api-keys/" + revoked.get("id")).send(204);
    String key = merchant.key();
    List<UnaryOperator<Call>> strangers =
        List.of(
            call -> call,
            call -> call.header("x-api-key", ""),
            call -> call.header("x-api-key", "unknown"),
            call -> call.header("x-api-key", key.substring(0, key.length() - 1)),
            call -> call.header("x-api-key", key.substring(0, key.length() - 6)),
            call -> call.header("x-api-key", key + "x"),
            call -> call.header("x-api-key", key.toUpperCase(java.util.Locale.ROOT)),
            call -> call.header("x-api-key", key + "," + key),
            call -> call.header("x-api-key", "x".repeat(10_000)),
            call -> call.header("x-api-key", (String) revoked.get("key")),
            call -> call.header("x-api-key", key).header("x-api-key", key),
            call -> call.header("x-api-key", key).header("x-api-key", "other"),
            call -> call.header("authorization", "Bearer " + key),
            call -> call.header("authorization", "Bearer " + TestApp.OPERATOR_TOKEN));
    List<Answer> answers = new ArrayList<>();
    strangers.forEach(
        stranger ->
            answers.add(
                stranger.apply(app.external(operation.method(), operation.with(ANY))).send()));
    answers.add(app.external(operation.method(), operation.with(ANY) + "?x-api-key=" + key).send());

    assertThat(answers).extracting(Answer::status).containsOnly(401);
    assertThat(answers)
        .extracting(AuthenticationIT::withoutRequestId)
        .containsOnly(withoutRequestId(answers.get(0)));
    assertThat(answers)
        .extracting(answer -> answer.header("www-authenticate"))
        .containsOnly("ApiKey");
  }

  @ParameterizedTest
  @MethodSource("externalOperations")
  void aPublishableKeyIsKnownButNotEnough(Operation operation) {
    Answer answer =
        app.external(operation.method(), operation.with(ANY))
            .key((String) newKey("publishable").get("key"))
            .send(403);

    assertThat(answer.<String>at("code")).isEqualTo("wrong_key_type");
  }

  @ParameterizedTest
  @MethodSource("externalOperations")
  void strangersAreRefusedBeforeTheirBodyIsRead(Operation operation) {
    try (RawHttp http = RawHttp.connect(app.port())) {
      http.send(
          operation.method()
              + " "
              + operation.with(ANY)
              + " HTTP/1.1\nHost: a\nX-Api-Key: x\nContent-Length: 1000000\n\n{");

      assertThat(http.read().status()).isEqualTo(401);
      assertThat(http.isClosedByServer()).isTrue();
    }
  }

  @ParameterizedTest
  @MethodSource("externalOperations")
  void aPublishableKeyIsRefusedBeforeItsBodyIsRead(Operation operation) {
    try (RawHttp http = RawHttp.connect(app.port())) {
      http.send(
          operation.method()
              + " "
              + operation.with(ANY)
              + " HTTP/1.1\nHost: a\nX-Api-Key: "
              + newKey("publishable").get("key")
              + "\nContent-Length: 1000000\n\n{");

      assertThat(http.read().status()).isEqualTo(403);
      assertThat(http.isClosedByServer()).isTrue();
    }
  }

  @Test
  void aMistypedKeyIsRefusedWithoutTheDatabase() throws Exception {
    String mistyped = merchant.key().replaceAll(".$", merchant.key().endsWith("a") ? "b" : "a");
    TableLock lock = TableLock.of(app.database(), "api_key");
    try {
      app.external("GET", "/external/customers").key(mistyped).send(401);
    } finally {
      lock.release();
    }
  }

  @Test
  void aKeyFromBeforeThereWereChecksumsGoesOnWorking() {
    String key = "sk_test_" + "Old".repeat(15).substring(2);
    PostgresSupport.execute(
        app.database(),
        "INSERT INTO api_key (id, merchant_id, type, key_hash, created_at)"
            + " SELECT gen_random_uuid(), merchant_id, type, decode('%s', 'hex'), created_at"
                .formatted(HexFormat.of().formatHex(ApiKeys.hash(key)))
            + " FROM api_key LIMIT 1");

    app.external("GET", "/external/customers").key(key).send(200);
  }

  @Test
  void aRevokedKeyIsRefusedAtOnceThoughItWasJustUsed() {
    Map<String, Object> key = newKey("secret");
    for (int i = 0; i < 4; i++) { // every instance of the HTTP verticle knows it
      app.external("GET", "/external/customers").key((String) key.get("key")).send(200);
    }
    merchant.operator("DELETE", "/api-keys/" + key.get("id")).send(204);
    merchant.operator("DELETE", "/api-keys/" + key.get("id")).send(204);

    Instant revoked = Instant.now();
    for (int i = 0; i < 8; i++) {
      app.external("GET", "/external/customers").key((String) key.get("key")).send(401);
    }
    assertThat(Duration.between(revoked, Instant.now())).isLessThan(Duration.ofMillis(CACHE_MS));
    merchant.call("GET", "/external/customers").send(200);
  }

  @Test
  void aRevocationThatNobodyHeardOfTakesEffectWhenTheCacheEnds() throws Exception {
    String key = (String) newKey("secret").get("key");
    Call call = app.external("GET", "/external/customers").key(key);
    call.send(200);
    PostgresSupport.execute(
        app.database(), "UPDATE api_key SET revoked_at = now() WHERE name IS NULL");
    try {
      Instant revoked = Instant.now();
      Answer last = Merchant.eventually(call::send, answer -> answer.status() == 401);

      assertThat(last.status()).isEqualTo(401);
      assertThat(Duration.between(revoked, Instant.now())).isLessThan(Duration.ofSeconds(5));
    } finally {
      PostgresSupport.execute(app.database(), "UPDATE api_key SET revoked_at = NULL");
    }
  }

  @Test
  void byDefaultAKeyIsTrustedForLessThanTheFiveSecondsPromised() {
    Config config = TestConfig.with(Map.of("operator.token", TestApp.OPERATOR_TOKEN));

    assertThat(config.keys().cacheMs()).isBetween(1, 4500);
  }

  @Test
  void secretsAreNowhereInTheDatabase() {
    String gatewaySecret = "whsec_do-not-keep-me-in-plain";
    String key = (String) newKey("secret").get("key");
    app.external("GET", "/external/customers").key(key).send(200);
    merchant
        .operator("PUT", "/gateway-connections/CardGateway")
        .json(Map.of("kind", "http", "baseUrl", "https://a.example", "secret", gatewaySecret))
        .send(200);

    String everything = Json.encodeText(Tables.dump(app.database()));

    assertThat(everything).contains("https://a.example");
    for (String secret : List.of(key, merchant.key(), gatewaySecret, TestApp.OPERATOR_TOKEN)) {
      byte[] bytes = secret.getBytes(StandardCharsets.UTF_8);
      assertThat(everything)
          .doesNotContain(secret)
          .doesNotContain(HexFormat.of().formatHex(bytes))
          .doesNotContain(java.util.Base64.getEncoder().encodeToString(bytes));
    }
  }

  @ParameterizedTest
  @MethodSource("operatorOperations")
  void theOperatorApiNeedsTheOperatorsToken(Operation operation) {
    String path = operation.with(ANY);
    String token = TestApp.OPERATOR_TOKEN;
    List<Answer> answers = new ArrayList<>();
    answers.add(app.management(operation.method(), path).send());
    for (String value :
        List.of(
            "",
            "Bearer",
            "Bearer ",
            "Bearer wrong",
            "Bearer " + token + "x",
            "Bearer " + token.substring(1),
            "Basic " + token,
            token,
            "Bearer " + merchant.key())) {
      answers.add(app.management(operation.method(), path).header("authorization", value).send());
    }
    answers.add(app.operator(operation.method(), path).header("authorization", "Bearer x").send());
    answers.add(app.management(operation.method(), path).key(merchant.key()).send());

    assertThat(answers).extracting(Answer::status).containsOnly(401);
    assertThat(answers)
        .extracting(AuthenticationIT::withoutRequestId)
        .containsOnly(withoutRequestId(answers.get(0)));
  }

  @ParameterizedTest
  @MethodSource("operatorOperations")
  void theOperatorApiIsNotOnTheExternalPort(Operation operation) {
    assertNothingThere(
        app.external(operation.method(), operation.with(ANY))
            .header("authorization", "Bearer " + TestApp.OPERATOR_TOKEN)
            .key(merchant.key()));
  }

  @ParameterizedTest
  @MethodSource("externalOperations")
  void theExternalApiIsNotOnTheManagementPort(Operation operation) {
    assertNothingThere(app.operator(operation.method(), operation.with(ANY)).key(merchant.key()));
  }

  @Test
  void healthAndMetricsAreOnTheManagementPortOnly() {
    for (String path : List.of("/metrics", "/health", "/health/live", "/health/ready")) {
      assertNothingThere(app.external("GET", path).key(merchant.key()));
      assertThat(app.management("GET", path).undocumented().send().status())
          .isEqualTo(path.equals("/health") ? 404 : 200);
    }
  }

  private static void assertNothingThere(Call call) {
    Answer answer = call.undocumented().send(404);
    assertThat(answer.<String>at("code")).isEqualTo("route_not_found");
  }
}
