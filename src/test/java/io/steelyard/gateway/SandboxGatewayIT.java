package io.steelyard.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.db.Ids;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.gateway.CardGateway.CustomerDetails;
import io.steelyard.gateway.CardGateway.SetupRequest;
import io.steelyard.gateway.GatewayMessages.CheckoutSession;
import io.steelyard.merchant.MerchantClock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SandboxGatewayIT {
  private static final long CREATED = GatewayFixture.NOW.getEpochSecond();
  private static final long EXPIRES = CREATED + GatewayFixture.CHECKOUT_TTL_MS / 1000;
  private static final Id CUSTOMER = Ids.next(IdKind.CUSTOMER);
  private static final SetupRequest SETUP =
      new SetupRequest(CUSTOMER, "sbx_cus_1", "https://shop.example/done");

  private static Vertx vertx;
  private static GatewayFixture fixture;
  private Call.Merchant merchant;
  private SandboxGateway gateway;

  @BeforeAll
  static void start() {
    vertx = Vertx.vertx();
    fixture = new GatewayFixture(vertx);
  }

  @AfterAll
  static void stop() {
    vertx.close().await();
  }

  @BeforeEach
  void merchant() {
    merchant = fixture.merchant();
    gateway = gatewayOf(merchant);
  }

  @Test
  void customerIdFollowsFromMerchantAndIdempotencyKey() {
    CustomerDetails details = new CustomerDetails(CUSTOMER, null, null);

    String id = gateway.createCustomer(details, "customer:1").await();

    assertThat(id).matches("sbx_cus_[0-9a-f]{32}");
    assertThat(gateway.createCustomer(details, "customer:1").await()).isEqualTo(id);
    assertThat(gateway.createCustomer(details, "customer:2").await()).isNotEqualTo(id);
    assertThat(gatewayOf(fixture.merchant()).createCustomer(details, "customer:1").await())
        .isNotEqualTo(id);
  }

  @Test
  void opensSessionAsTheInterfaceDocumentsIt() {
    CheckoutSession session = gateway.createSetupSession(SETUP, "setup:1").await();

    assertThat(session.id()).matches("sbx_cs_[0-9a-f]{32}");
    assertThat(session.setup_intent()).matches("sbx_seti_[0-9a-f]{32}");
    assertThat(session)
        .isEqualTo(
            new CheckoutSession(
                session.id(),
                "checkout.session",
                "http://127.0.0.1:8080/sandbox/checkout/" + merchant.id() + "/" + session.id(),
                "open",
                "setup",
                "sbx_cus_1",
                "https://shop.example/done",
                session.setup_intent(),
                "no_payment_required",
                CREATED,
                EXPIRES,
                false,
                "usd",
                Map.of("customerId", CUSTOMER.toString())));
  }

  @Test
  void sameIdempotencyKeyGivesTheSameSessionWhateverHappenedToIt() {
    CheckoutSession first = gateway.createSetupSession(SETUP, "setup:1").await();

    assertThat(gateway.createSetupSession(SETUP, "setup:1").await()).isEqualTo(first);
    assertThat(gateway.createSetupSession(SETUP, "setup:2").await().id()).isNotEqualTo(first.id());

    CheckoutSession completed = gateway.complete(first.id()).await();
    assertThat(gateway.createSetupSession(SETUP, "setup:1").await()).isEqualTo(completed);
  }

  @Test
  void concurrentRequestsUnderOneKeyOpenOneSession() {
    Future<CheckoutSession> first = gateway.createSetupSession(SETUP, "setup:1");
    Future<CheckoutSession> second = gateway.createSetupSession(SETUP, "setup:1");

    assertThat(second.await()).isEqualTo(first.await());
  }

  @Test
  void completesAnOpenSessionOnce() {
    String id = gateway.createSetupSession(SETUP, "setup:1").await().id();

    assertThat(gateway.complete(id).await().status()).isEqualTo("complete");
    assertThat(failure(gateway.complete(id))).isEqualTo(notOpen());
  }

  @Test
  void sessionExpiresAtItsVeryExpiry() {
    String early = gateway.createSetupSession(SETUP, "setup:1").await().id();
    String late = gateway.createSetupSession(SETUP, "setup:2").await().id();

    fixture.setClock(merchant, GatewayFixture.NOW.plusMillis(GatewayFixture.CHECKOUT_TTL_MS - 1));
    assertThat(gateway.complete(early).await().status()).isEqualTo("complete");

    fixture.setClock(merchant, GatewayFixture.NOW.plusMillis(GatewayFixture.CHECKOUT_TTL_MS));
    assertThat(failure(gateway.complete(late))).isEqualTo(notOpen());
    assertThat(gateway.createSetupSession(SETUP, "setup:2").await().status()).isEqualTo("expired");
  }

  @Test
  void sessionOfAnotherMerchantIsUnknown() {
    String id = gateway.createSetupSession(SETUP, "setup:1").await().id();

    assertThat(failure(gatewayOf(fixture.merchant()).complete(id)))
        .isEqualTo(Failure.notFound("checkout_session"));
    assertThat(failure(gateway.complete("sbx_cs_none")))
        .isEqualTo(Failure.notFound("checkout_session"));
  }

  private static SandboxGateway gatewayOf(Call.Merchant merchant) {
    return new SandboxGateway(
        new SandboxGateway.Setting(
            fixture.pool,
            new MerchantClock(Clock.systemUTC()),
            () -> "http://127.0.0.1:8080/",
            GatewayFixture.CHECKOUT_TTL_MS),
        GatewayFixture.call(merchant));
  }

  private static Failure notOpen() {
    return new Failure.Conflict("session_not_open", "The checkout session is complete or expired.");
  }

  private static Failure failure(Future<?> future) {
    return catchThrowableOfType(FailureException.class, future::await).failure();
  }
}
