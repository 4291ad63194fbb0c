package io.steelyard.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.steelyard.bus.Bus;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.IdempotencyKey;
import io.steelyard.bus.RecordCodec;
import io.steelyard.bus.Replayed;
import io.steelyard.bus.Reply;
import io.steelyard.bus.Request;
import io.steelyard.bus.ServiceVerticle.Settings;
import io.steelyard.customer.CustomerMessages;
import io.steelyard.db.Idempotency;
import io.steelyard.db.SecretBox;
import io.steelyard.db.SqlFailures;
import io.steelyard.domain.Id;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.gateway.GatewayMessages.CheckoutSession;
import io.steelyard.gateway.GatewayMessages.CompleteSandboxSession;
import io.steelyard.gateway.GatewayMessages.ConnectGateway;
import io.steelyard.gateway.GatewayMessages.ConnectionView;
import io.steelyard.gateway.GatewayMessages.CreateSetupSession;
import io.steelyard.gateway.GatewayMessages.DisconnectGateway;
import io.steelyard.json.Json;
import io.steelyard.merchant.MerchantClock;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.sqlclient.Tuple;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class GatewayVerticleIT {
  private static final PaymentGateway CARD = PaymentGateway.CARD_GATEWAY;
  private static final String SECRET = "sk_test_51Secret";
  private static final String KEY = Base64.getEncoder().encodeToString(new byte[32]);
  private static final Settings SETTINGS =
      new Settings(64, new SimpleMeterRegistry(), SqlFailures::of);

  private static Vertx vertx;
  private static GatewayFixture fixture;
  private static Bus bus;
  private static String deployment;
  private Call.Merchant merchant;

  @BeforeAll
  static void start() {
    vertx = Vertx.vertx();
    new RecordCodec(List.of(GatewayMessages.class, CustomerMessages.class)).register(vertx);
    fixture = new GatewayFixture(vertx);
    bus = new Bus(vertx, true);
    vertx.deployVerticle(new CustomersDouble(SETTINGS, fixture.pools)).await();
    deploy(KEY);
  }

  @AfterAll
  static void stop() {
    vertx.close().await();
  }

  @BeforeEach
  void merchant() {
    merchant = fixture.merchant();
  }

  @Test
  void connectsSandboxAndShowsIt() {
    ConnectionView view = ask(sandbox());

    assertThat(view)
        .isEqualTo(
            new ConnectionView(CARD, "sandbox", null, GatewayFixture.NOW, GatewayFixture.NOW));
    assertThat(connected(CARD)).isTrue();
    assertThat(connected(PaymentGateway.LEDGER_A)).isFalse();
  }

  @Test
  void connectionOfOneMerchantIsNoneOfAnothers() {
    ask(sandbox());
    Call.Merchant other = fixture.merchant();

    assertThat(GatewayStore.isConnected(fixture.pool, other.id().uuid(), CARD).await()).isFalse();
    assertThat(failure(new DisconnectGateway(CARD), other))
        .isEqualTo(Failure.notFound("gateway_connection"));
    assertThat(connected(CARD)).isTrue();
  }

  @Test
  void reconnectingReplacesTheConnectionAndKeepsItsBirth() {
    ask(new ConnectGateway(CARD, "http", "https://pay.example/", SECRET));
    fixture.setClock(merchant, GatewayFixture.NOW.plusSeconds(60));

    ConnectionView view = ask(sandbox());

    assertThat(view)
        .isEqualTo(
            new ConnectionView(
                CARD, "sandbox", null, GatewayFixture.NOW, GatewayFixture.NOW.plusSeconds(60)));
    assertThat(storedSecret()).isNull();
  }

  @Test
  void secretIsStoredSealedAndNeitherShownNorPrinted() {
    ConnectGateway message = new ConnectGateway(CARD, "http", "https://pay.example/api/", SECRET);

    ConnectionView view = ask(message);

    assertThat(view.baseUrl()).isEqualTo("https://pay.example/api");
    assertThat(new String(storedSecret(), StandardCharsets.ISO_8859_1)).doesNotContain(SECRET);
    assertThat(new SecretBox(KEY).open(merchant.id().uuid(), CARD.wire(), storedSecret()))
        .contains(SECRET);
    assertThat(message.toString() + view).doesNotContain(SECRET);
  }

  @Test
  void ledgersCanBeConnectedInEitherKind() {
    ask(new ConnectGateway(PaymentGateway.LEDGER_A, "sandbox", null, null));
    ask(new ConnectGateway(PaymentGateway.LEDGER_B, "http", "https://books.example", SECRET));

    assertThat(connected(PaymentGateway.LEDGER_A)).isTrue();
    assertThat(connected(PaymentGateway.LEDGER_B)).isTrue();
  }

  @Test
  void everyFaultOfAConnectionIsPointedAt() {
    assertThat(pointers(new ConnectGateway(CARD, "sandbox", "https://pay.example", SECRET)))
        .containsExactly("/baseUrl", "/secret");
    assertThat(pointers(new ConnectGateway(CARD, "http", null, null)))
        .containsExactly("/baseUrl", "/secret");
    assertThat(pointers(new ConnectGateway(CARD, "http", "https://u:p@pay.example", "a\nb")))
        .containsExactly("/baseUrl", "/secret");
    assertThat(pointers(new ConnectGateway(CARD, "carrier-pigeon", null, null)))
        .containsExactly("/kind");
    assertThat(connected(CARD)).isFalse();
  }

  @Test
  void disconnectsOnce() {
    ask(sandbox());

    assertThat(ask(new DisconnectGateway(CARD)).gateway()).isEqualTo(CARD);
    assertThat(connected(CARD)).isFalse();
    assertThat(failure(new DisconnectGateway(CARD), merchant))
        .isEqualTo(Failure.notFound("gateway_connection"));
  }

  @Test
  void withoutEncryptionKeyOnlyASandboxCanBeConnected() {
    deploy(null);
    try {
      ask(sandbox());

      Failure failure =
          failure(new ConnectGateway(CARD, "http", "https://pay.example", SECRET), merchant);
      assertThat(failure).isInstanceOf(Failure.Rejected.class);
      assertThat(failure.code()).isEqualTo("encryption_key_missing");
    } finally {
      deploy(KEY);
    }
  }

  @Test
  void secretThatNoLongerOpensIsNoValidConnection() {
    fixture.customer(merchant, "c1", "cus_9");
    ask(new ConnectGateway(CARD, "http", "http://127.0.0.1:1", SECRET));
    deploy(
        Base64.getEncoder()
            .encodeToString(
                "another key of 32 bytes, exactly".getBytes(StandardCharsets.US_ASCII)));
    try {
      assertThat(failure(setup("c1"), merchant).code()).isEqualTo("gateway_not_connected");
    } finally {
      deploy(KEY);
    }
  }

  @Test
  void unknownCustomerIsRefusedBeforeAMissingConnection() {
    fixture.customer(merchant, "c1", null);

    assertThat(failure(setup("nobody"), merchant)).isEqualTo(Failure.notFound("customer"));
    Failure failure = failure(setup("c1"), merchant);
    assertThat(failure).isInstanceOf(Failure.Rejected.class);
    assertThat(failure.code()).isEqualTo("gateway_not_connected");
  }

  @Test
  void connectedLedgerIsNoCardGateway() {
    fixture.customer(merchant, "c1", null);
    ask(new ConnectGateway(PaymentGateway.LEDGER_A, "sandbox", null, null));

    assertThat(failure(setup("c1"), merchant).code()).isEqualTo("gateway_not_connected");
  }

  @Test
  void successUrlMustBeAnAddressOnTheWeb() {
    assertThat(pointers(new CreateSetupSession("c1", null, null, null)))
        .containsExactly("/successUrl");
    assertThat(pointers(new CreateSetupSession("c1", "javascript:alert(1)", null, null)))
        .containsExactly("/successUrl");
  }

  @Test
  void sandboxSessionMakesTheCustomerKnownOnceAndCanBeCompleted() {
    Id customer = fixture.customer(merchant, "c1", null);
    ask(sandbox());

    CheckoutSession first = ask(setup("c1"));
    CheckoutSession second = ask(setup("c1"));

    assertThat(first.customer()).isEqualTo(fixture.cardGatewayId(customer));
    assertThat(second.customer()).isEqualTo(first.customer());
    assertThat(second.id()).isNotEqualTo(first.id());
    assertThat(first.url())
        .isEqualTo("http://localhost:1234/sandbox/checkout/" + merchant.id() + "/" + first.id());
    assertThat(ask(new CompleteSandboxSession(first.id())).status()).isEqualTo("complete");
    assertThat(failure(new CompleteSandboxSession(first.id()), merchant).code())
        .isEqualTo("session_not_open");
  }

  @Test
  void httpSessionCreatesTheCustomerWithItsOwnNameAndEmail() {
    Id customer = fixture.customer(merchant, "c1", null);
    GatewayDouble server = connectHttp();

    CheckoutSession session = ask(setup("c1"));

    assertThat(session.id()).isEqualTo("cs_1");
    assertThat(fixture.cardGatewayId(customer)).isEqualTo("cus_9");
    assertThat(server.asked()).hasSize(2);
    GatewayDouble.Asked made = server.asked().get(0);
    assertThat(made.headers())
        .containsEntry("authorization", "Bearer " + SECRET)
        .containsEntry("idempotency-key", "customer:" + customer);
    assertThat(made.form()).containsEntry("email", "ann@shop.example").containsEntry("name", "Ann");
    assertThat(server.asked().get(1).form()).containsEntry("customer", "cus_9");
  }

  @Test
  void nameAndEmailOfTheRequestGoBeforeTheCustomersOwn() {
    fixture.customer(merchant, "c1", null);
    GatewayDouble server = connectHttp();

    ask(new CreateSetupSession("c1", "https://shop.example/done", "new@shop.example", "Anna"));

    assertThat(server.asked().get(0).form())
        .containsEntry("email", "new@shop.example")
        .containsEntry("name", "Anna");
  }

  @Test
  void knownCustomerIsNotCreatedAgainAndEachRequestHasAKeyOfItsOwn() {
    fixture.customer(merchant, "c1", "cus_known");
    GatewayDouble server = connectHttp();

    ask(setup("c1"));
    ask(setup("c1"));

    assertThat(server.asked())
        .hasSize(2)
        .allSatisfy(asked -> assertThat(asked.form()).containsEntry("customer", "cus_known"))
        .extracting(asked -> asked.headers().get("idempotency-key"))
        .doesNotHaveDuplicates();
  }

  @Test
  void refusalAndAbsenceOfTheGatewayReachTheCaller() {
    fixture.customer(merchant, "c1", "cus_known");
    GatewayDouble server = connectHttp();
    server.then(402, "{\"error\":{\"message\":\"No.\"}}");

    assertThat(failure(setup("c1"), merchant))
        .isEqualTo(new Failure.Rejected("gateway_refused", "The card gateway refused: No."));
    server.goAway();
    assertThat(failure(setup("c1"), merchant).code()).isEqualTo("gateway_unavailable");
  }

  @Test
  void concurrentFirstSessionsOfOneCustomerEndWithOneStoredIdThatAllUse() {
    Id customer = fixture.customer(merchant, "c1", null);
    GatewayDouble server = connectHttp();
    server.makeCustomersTogether(8);

    List<Future<CheckoutSession>> sessions =
        IntStream.range(0, 8)
            .mapToObj(i -> bus.ask(setup("c1"), GatewayFixture.call(merchant)))
            .toList();
    Future.join(sessions).await();

    String stored = fixture.cardGatewayId(customer);
    assertThat(stored).startsWith("cus_");
    assertThat(
            server.asked().stream()
                .filter(asked -> asked.line().endsWith("/sessions"))
                .map(asked -> asked.form().get("customer")))
        .hasSize(8)
        .containsOnly(stored);
  }

  private Future<Reply> once(String externalId, String key) {
    Call call =
        GatewayFixture.call(merchant)
            .with(IdempotencyKey.of("POST /setup", key, externalId, new byte[0]));
    return bus.askOnce(setup(externalId), call);
  }

  private String refusal(String externalId, String key) {
    return catchThrowableOfType(FailureException.class, () -> once(externalId, key).await())
        .failure()
        .code();
  }

  private static List<String> keysOf(GatewayDouble server) {
    return server.asked().stream().map(asked -> asked.headers().get("idempotency-key")).toList();
  }

  private static void fail(GatewayDouble server) {
    for (int i = 0; i < GatewayFixture.config().gateway().attemptsMax(); i++) {
      server.then(500, "");
    }
  }

  @Test
  void aSessionWithAKeyIsOpenedOnceAndItsAnswerStoredSealed() {
    fixture.customer(merchant, "c1", "cus_known");
    GatewayDouble server = connectHttp();

    CheckoutSession session = (CheckoutSession) once("c1", "k").await();
    Replayed again = (Replayed) once("c1", "k").await();

    assertThat(again.json()).isEqualTo(Json.encodeText(session));
    assertThat(server.asked()).hasSize(1);
    assertThat(refusal("c2", "k")).isEqualTo("idempotency_key_reused");
    byte[] stored =
        fixture
            .pool
            .preparedQuery("SELECT answer FROM idempotency_key WHERE merchant_id = $1")
            .execute(Tuple.of(merchant.id().uuid()))
            .await()
            .iterator()
            .next()
            .getBuffer(0)
            .getBytes();
    assertThat(new String(stored, StandardCharsets.ISO_8859_1)).doesNotContain("cs_1");
  }

  /** Whether the gateway opened a session is not known: it is asked again for the same one. */
  @Test
  void withoutAVerdictTheSameRequestGoesOnUnderTheSameKeyOfTheGateway() {
    fixture.customer(merchant, "c1", "cus_known");
    GatewayDouble server = connectHttp();
    fail(server);

    assertThat(refusal("c1", "k")).isEqualTo("gateway_unavailable");
    assertThat(refusal("c2", "k")).isEqualTo("idempotency_key_reused");
    once("c1", "k").await();
    assertThat(once("c1", "k").await()).isInstanceOf(Replayed.class);

    assertThat(keysOf(server)).hasSizeGreaterThan(1).containsOnly(keysOf(server).getFirst());
  }

  @Test
  void aRefusalLeavesTheKeyFreeForAnotherSession() {
    fixture.customer(merchant, "c1", "cus_known");
    fixture.customer(merchant, "c2", "cus_other");
    GatewayDouble server = connectHttp();
    server.then(402, "{\"error\":{\"message\":\"No.\"}}");

    assertThat(refusal("c1", "k")).isEqualTo("gateway_refused");
    assertThat(refusal("nobody", "k")).isEqualTo("customer_not_found");
    assertThat(once("c2", "k").await()).isInstanceOf(CheckoutSession.class);

    assertThat(keysOf(server)).hasSize(2).doesNotHaveDuplicates();
  }

  @Test
  void whileTheGatewayIsAskedTheKeyIsInUse() throws Exception {
    fixture.customer(merchant, "c1", "cus_known");
    GatewayDouble server = connectHttp();
    CompletableFuture<HttpServerResponse> held = new CompletableFuture<>();
    server.then(held::complete);

    Future<Reply> first = once("c1", "k");
    HttpServerResponse response = held.get(10, TimeUnit.SECONDS);
    assertThat(refusal("c1", "k")).isEqualTo("idempotency_key_in_use");
    response.end(GatewayDouble.SESSION);

    assertThat(first.await()).isInstanceOf(CheckoutSession.class);
    assertThat(once("c1", "k").await()).isInstanceOf(Replayed.class);
    assertThat(server.asked()).hasSize(1);
  }

  /** A process ended while it asked: nobody says so, the end of its time does. */
  @Test
  void whoAskedAndWasNotHeardOfAgainIsFollowedByTheSameRequest() {
    fixture.customer(merchant, "c1", "cus_known");
    GatewayDouble server = connectHttp();
    fail(server);
    assertThat(refusal("c1", "k")).isEqualTo("gateway_unavailable");
    claimUntil("now() + interval '5 seconds'");
    assertThat(refusal("c1", "k")).isEqualTo("idempotency_key_in_use");

    claimUntil("now() - interval '1 second'");

    assertThat(once("c1", "k").await()).isInstanceOf(CheckoutSession.class);
    assertThat(keysOf(server)).containsOnly(keysOf(server).getFirst());
  }

  private void claimUntil(String time) {
    fixture
        .pool
        .preparedQuery(
            "UPDATE idempotency_key SET claimed_until = " + time + " WHERE merchant_id = $1")
        .execute(Tuple.of(merchant.id().uuid()))
        .await();
  }

  private GatewayDouble connectHttp() {
    GatewayDouble server = new GatewayDouble(vertx);
    ask(new ConnectGateway(CARD, "http", server.baseUrl(), SECRET));
    return server;
  }

  private static ConnectGateway sandbox() {
    return new ConnectGateway(CARD, "sandbox", null, null);
  }

  private static CreateSetupSession setup(String externalId) {
    return new CreateSetupSession(externalId, "https://shop.example/done", null, null);
  }

  private <R extends Reply> R ask(Request<R> request) {
    return bus.ask(request, GatewayFixture.call(merchant)).await();
  }

  private static Failure failure(Request<?> request, Call.Merchant merchant) {
    return catchThrowableOfType(
            FailureException.class, () -> bus.ask(request, GatewayFixture.call(merchant)).await())
        .failure();
  }

  private List<String> pointers(Request<?> request) {
    return ((Failure.Invalid) failure(request, merchant))
        .faults().stream().map(Failure.Fault::pointer).toList();
  }

  private boolean connected(PaymentGateway gateway) {
    return GatewayStore.isConnected(fixture.pool, merchant.id().uuid(), gateway).await();
  }

  private byte[] storedSecret() {
    var secret =
        fixture
            .pool
            .preparedQuery("SELECT secret FROM gateway_connection WHERE merchant_id = $1")
            .execute(Tuple.of(merchant.id().uuid()))
            .await()
            .iterator()
            .next()
            .getBuffer(0);
    return secret == null ? null : secret.getBytes();
  }

  /** Replaces the verticle by one with this encryption key. */
  private static void deploy(String encryptionKey) {
    if (deployment != null) {
      vertx.undeploy(deployment).await();
    }
    deployment =
        vertx
            .deployVerticle(
                () ->
                    new GatewayVerticle(
                        SETTINGS,
                        GatewayFixture.config(),
                        fixture.pools,
                        new MerchantClock(Clock.systemUTC()),
                        bus,
                        new SecretBox(encryptionKey),
                        () -> "http://localhost:1234",
                        new Idempotency(
                            Clock.systemUTC()::instant,
                            new SecretBox(encryptionKey),
                            new SimpleMeterRegistry())),
                new DeploymentOptions().setInstances(2))
            .await();
  }
}
