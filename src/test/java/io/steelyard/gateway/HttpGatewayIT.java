package io.steelyard.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.config.Config;
import io.steelyard.domain.Environment;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.gateway.CardGateway.CustomerDetails;
import io.steelyard.gateway.CardGateway.SetupRequest;
import io.steelyard.gateway.GatewayMessages.CheckoutSession;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
@Isolated("it measures tenths of a second")
class HttpGatewayIT {
  private static final String SECRET = "sk_test_51Secret";
  private static final Id CUSTOMER = new Id(IdKind.CUSTOMER, new UUID(3, 4));
  private static final CustomerDetails DETAILS =
      new CustomerDetails(CUSTOMER, "a+b@shop.example", "Ann & Co");
  private static final SetupRequest SETUP =
      new SetupRequest(CUSTOMER, "cus_9", "https://shop.example/done?a=1&b=2");
  private static final int CALL_TIMEOUT_MS = 5000;
  private static final int SHORT_MS = 300;

  private final Vertx vertx = Vertx.vertx();
  private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
  private GatewayDouble server;
  private GatewayHttp http;

  @BeforeEach
  void start() {
    server = new GatewayDouble(vertx);
    http = http(CALL_TIMEOUT_MS);
  }

  private GatewayHttp http(int callTimeoutMs) {
    return new GatewayHttp(vertx, new Config.Gateway(callTimeoutMs, 3, 20, 86_400_000), metrics);
  }

  /** One that is answered in time must not be cut off by a machine that stands still a moment. */
  private void waitOnly(int callTimeoutMs) {
    http.close().await();
    http = http(callTimeoutMs);
  }

  @AfterEach
  void stop() {
    http.close().await();
    vertx.close().await();
  }

  @Test
  void createsCustomerAsTheProtocolWantsIt() {
    String id = gateway(10_000).createCustomer(DETAILS, "customer:1").await();

    assertThat(id).isEqualTo("cus_9");
    GatewayDouble.Asked asked = server.asked().get(0);
    assertThat(asked.line()).isEqualTo("POST /api/v1/customers");
    assertThat(asked.headers())
        .containsEntry("authorization", "Bearer " + SECRET)
        .containsEntry("idempotency-key", "customer:1")
        .containsEntry("content-type", "application/x-www-form-urlencoded");
    assertThat(asked.form())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "email", "a+b@shop.example",
                "name", "Ann & Co",
                "metadata[customerId]", CUSTOMER.toString()));
  }

  @Test
  void leavesOutWhatIsNotKnownOfTheCustomer() {
    gateway(10_000).createCustomer(new CustomerDetails(CUSTOMER, null, null), "k").await();

    assertThat(server.asked().get(0).form()).containsOnlyKeys("metadata[customerId]");
  }

  @Test
  void createsSetupSessionAsTheProtocolWantsIt() {
    CheckoutSession session = gateway(10_000).createSetupSession(SETUP, "setup:1").await();

    GatewayDouble.Asked asked = server.asked().get(0);
    assertThat(asked.line()).isEqualTo("POST /api/v1/checkout/sessions");
    assertThat(asked.headers()).containsEntry("idempotency-key", "setup:1");
    assertThat(asked.form())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "mode", "setup",
                "currency", "usd",
                "payment_method_types[0]", "card",
                "customer", "cus_9",
                "success_url", "https://shop.example/done?a=1&b=2",
                "metadata[customerId]", CUSTOMER.toString()));
    assertThat(session)
        .isEqualTo(
            new CheckoutSession(
                "cs_1",
                "checkout.session",
                "https://pay.example/cs_1",
                "open",
                "setup",
                "cus_9",
                "https://shop.example/done",
                "seti_1",
                "no_payment_required",
                1_700_000_000L,
                1_700_086_400L,
                true,
                "usd",
                Map.of("customerId", "c")));
  }

  @Test
  void toleratesAbsentCurrencyAndMetadata() {
    server.then(
        200,
        GatewayDouble.SESSION
            .replace("\"currency\":\"usd\"", "\"currency\":null")
            .replace("\"metadata\":{\"customerId\":\"c\"},", ""));

    CheckoutSession session = gateway(10_000).createSetupSession(SETUP, "k").await();

    assertThat(session.currency()).isNull();
    assertThat(session.metadata()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {409, 429, 500, 502, 503})
  void repeatsWhatMayPassUnderTheSameIdempotencyKey(int status) {
    server.then(status, "{\"error\":{\"message\":\"later\"}}");

    String id = gateway(10_000).createCustomer(DETAILS, "customer:1").await();

    assertThat(id).isEqualTo("cus_9");
    assertThat(server.asked())
        .hasSize(2)
        .allSatisfy(
            asked -> assertThat(asked.headers()).containsEntry("idempotency-key", "customer:1"));
    assertThat(server.asked().get(0).body()).isEqualTo(server.asked().get(1).body());
    assertThat(metrics.get("steelyard.gateway.retries").counter().count()).isEqualTo(1);
  }

  @Test
  void repeatsAfterConnectionWasCutWithoutAnswer() {
    server.then(response -> response.reset());

    assertThat(gateway(10_000).createCustomer(DETAILS, "k").await()).isEqualTo("cus_9");
    assertThat(server.asked()).hasSize(2);
  }

  @Test
  void repeatsAfterAnAttemptWithoutAnswerInTime() {
    waitOnly(1000);
    server.then(response -> {});

    assertThat(gateway(10_000).createCustomer(DETAILS, "k").await()).isEqualTo("cus_9");
    assertThat(server.asked()).hasSize(2);
  }

  @Test
  void givesUpAfterTheLastAttempt() {
    server.then(500, "").then(500, "").then(500, "").then(200, GatewayDouble.CUSTOMER);

    assertUnavailable(failure(gateway(10_000).createCustomer(DETAILS, "k")));
    assertThat(server.asked()).hasSize(3);
    assertThat(metrics.get("steelyard.gateway.unavailable").counter().count()).isEqualTo(1);
  }

  @Test
  void isUnavailableWhenNobodyListens() {
    server.goAway();

    assertUnavailable(failure(gateway(10_000).createCustomer(DETAILS, "k")));
  }

  @Test
  void waitsAsLongAsTheGatewayAsks() {
    server.then(response -> response.setStatusCode(429).putHeader("Retry-After", "1").end("{}"));
    long startedNs = System.nanoTime();

    gateway(10_000).createCustomer(DETAILS, "k").await();

    assertThat(System.nanoTime() - startedNs).isGreaterThan(990_000_000L);
  }

  @Test
  void doesNotWaitPastTheDeadlineThoughTheGatewayAsks() {
    server.then(response -> response.setStatusCode(429).putHeader("Retry-After", "60").end("{}"));
    long startedNs = System.nanoTime();

    assertUnavailable(failure(gateway(5000).createCustomer(DETAILS, "k")));
    assertThat(System.nanoTime() - startedNs).isLessThan(4_000_000_000L);
    assertThat(server.asked()).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({"400", "401", "402", "403", "404"})
  void refusalCarriesTheGatewaysWordsAndIsNotRepeated(int status) {
    server.then(status, "{\"error\":{\"type\":\"card_error\",\"message\":\"No such thing.\"}}");

    Failure failure = failure(gateway(10_000).createSetupSession(SETUP, "k"));

    assertThat(failure)
        .isEqualTo(
            new Failure.Rejected("gateway_refused", "The card gateway refused: No such thing."));
    assertThat(server.asked()).hasSize(1);
  }

  @Test
  void refusalWithoutJsonIsARefusalStill() {
    server.then(400, "<html>");

    assertThat(failure(gateway(10_000).createCustomer(DETAILS, "k")))
        .isInstanceOf(Failure.Rejected.class);
  }

  @Test
  void refusalIsCutAndNeverShowsTheSecretOrControlCharacters() {
    String message = "x".repeat(190) + SECRET + "\\r\\n" + "y".repeat(300);
    server.then(401, "{\"error\":{\"message\":\"" + message + "\"}}");

    FailureException thrown = thrown(gateway(10_000).createCustomer(DETAILS, "k"));

    String words = thrown.failure().detail().replace("The card gateway refused: ", "");
    assertThat(words).hasSize(200).startsWith("x".repeat(190) + "[secret]").endsWith("  ");
    assertThat(thrown.toString()).doesNotContain(SECRET);
  }

  @Test
  void customerWhoseDetailsChangedSinceALostAttemptIsMadeUnderAKeyOfItsOwn() {
    server.then(
        400, "{\"error\":{\"type\":\"idempotency_error\",\"message\":\"other parameters\"}}");

    String id = gateway(10_000).createCustomer(DETAILS, "customer:1").await();

    assertThat(id).isEqualTo("cus_9");
    assertThat(server.asked().get(0).headers()).containsEntry("idempotency-key", "customer:1");
    assertThat(server.asked().get(1).headers().get("idempotency-key"))
        .startsWith("customer:1:")
        .hasSizeGreaterThan("customer:1:".length());
  }

  @Test
  void customerIdThatIsTooLongToKeepIsUnavailable() {
    server.then(200, "{\"id\":\"" + "c".repeat(513) + "\"}");

    Failure failure = failure(gateway(10_000).createCustomer(DETAILS, "k"));

    assertThat(failure.code()).isEqualTo("gateway_unavailable");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "not json",
        "[]",
        "null",
        "{}",
        "{\"id\":\"\"}",
        "{\"id\":7}",
        "{\"id\":\"cus_1\"} {}",
        "{\"id\":\"cus_1\",\"id\":\"cus_2\"}",
      })
  void customerAnswerThatIsNotUnderstoodIsUnavailableAtOnce(String body) {
    server.then(200, body);

    assertUnavailable(failure(gateway(10_000).createCustomer(DETAILS, "k")));
    assertThat(server.asked()).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({
    "\"status\":\"open\", \"status\":\"paused\"",
    "\"mode\":\"setup\", \"mode\":\"payment\"",
    "\"no_payment_required\", \"later\"",
    "\"checkout.session\", \"session\"",
    "https://pay.example/cs_1, javascript:alert(1)",
    "1700000000, \"soon\"",
    "1700086400, 1.5",
    "true, \"yes\"",
    "\"usd\", 840",
    "{\"customerId\":\"c\"}, []",
  })
  void sessionAnswerOutsideTheDocumentedValuesIsUnavailable(String from, String to) {
    String altered = GatewayDouble.SESSION.replace(from, to);
    assertThat(altered).isNotEqualTo(GatewayDouble.SESSION);
    server.then(200, altered);

    assertUnavailable(failure(gateway(10_000).createSetupSession(SETUP, "k")));
  }

  @ParameterizedTest
  @ValueSource(ints = {301, 302, 303, 307, 308})
  void redirectsAreNotFollowed(int status) {
    server.then(
        response ->
            response
                .setStatusCode(status)
                .putHeader("Location", server.baseUrl() + "/elsewhere")
                .end());

    assertUnavailable(failure(gateway(10_000).createCustomer(DETAILS, "k")));
    assertThat(server.asked()).hasSize(1);
  }

  @Test
  void slowAnswerEndsBeforeTheDeadline() {
    waitOnly(SHORT_MS);
    int deadlineMs = 400;
    int limitMs = deadlineMs - 10; // not with it
    long tookMs = msOfSlowAnswer(deadlineMs);
    for (int i = 0; i < 4 && tookMs >= limitMs; i++) { // the machine may have stood still
      tookMs = msOfSlowAnswer(deadlineMs);
    }

    assertThat(tookMs).isLessThan(limitMs);
  }

  private long msOfSlowAnswer(int deadlineMs) {
    server.then(response -> {}).then(response -> {}).then(response -> {});
    long startedNs = System.nanoTime();
    assertUnavailable(failure(gateway(deadlineMs).createCustomer(DETAILS, "k")));
    return (System.nanoTime() - startedNs) / 1_000_000;
  }

  @Test
  void answerThatTricklesInIsCutOffLikeNone() {
    waitOnly(SHORT_MS);
    for (int i = 0; i < 3; i++) {
      server.then(
          response -> {
            response.setChunked(true).write("{");
            long timer = vertx.setPeriodic(20, tick -> response.write(" "));
            response.closeHandler(closed -> vertx.cancelTimer(timer));
          });
    }
    long startedNs = System.nanoTime();

    assertUnavailable(failure(gateway(10_000).createCustomer(DETAILS, "k")));
    assertThat(System.nanoTime() - startedNs).isLessThan(3_000_000_000L);
  }

  @Test
  void answerOfTooManyBytesIsNotRead() {
    String huge = "{\"id\":\"cus_1\",\"x\":\"" + "x".repeat(300_000) + "\"}";
    server.then(200, huge).then(200, huge).then(200, huge);

    assertUnavailable(failure(gateway(10_000).createCustomer(DETAILS, "k")));
  }

  @Test
  void doesNotCallWhenNoTimeIsLeft() {
    assertUnavailable(failure(gateway(1).createCustomer(DETAILS, "k")));
    assertThat(server.asked()).isEmpty();
  }

  private CardGateway gateway(long remainingMs) {
    Call.Merchant merchant =
        new Call.Merchant(
            new Id(IdKind.MERCHANT, new UUID(1, 2)), Environment.LIVE, ZoneOffset.UTC);
    Call call = new Call("req-1", merchant, System.currentTimeMillis() + remainingMs);
    return new HttpGateway(http, new HttpGateway.Account(server.baseUrl() + "/api", SECRET), call);
  }

  private static void assertUnavailable(Failure failure) {
    assertThat(failure)
        .isEqualTo(
            new Failure.Unavailable(
                "gateway_unavailable", "The card gateway gives no usable answer.", 5));
  }

  private static Failure failure(Future<?> future) {
    return thrown(future).failure();
  }

  private static FailureException thrown(Future<?> future) {
    return catchThrowableOfType(FailureException.class, future::await);
  }
}
