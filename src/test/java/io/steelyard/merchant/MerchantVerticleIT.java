package io.steelyard.merchant;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.bus.Address;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.domain.Environment;
import io.steelyard.domain.KeyType;
import io.steelyard.merchant.MerchantMessages.ApiKeyCreated;
import io.steelyard.merchant.MerchantMessages.Authenticate;
import io.steelyard.merchant.MerchantMessages.Authenticated;
import io.steelyard.merchant.MerchantMessages.CreateApiKey;
import io.steelyard.merchant.MerchantMessages.CreateMerchant;
import io.steelyard.merchant.MerchantMessages.FindMerchant;
import io.steelyard.merchant.MerchantMessages.MerchantCreated;
import io.steelyard.merchant.MerchantMessages.RevokeApiKey;
import io.steelyard.merchant.MerchantMessages.SetClock;
import io.steelyard.support.MerchantServices;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class MerchantVerticleIT {
  private static final Instant FUTURE = Instant.parse("2090-01-01T00:00:00Z");
  private static final Authenticated NOBODY = new Authenticated(null, null, null);

  private static MerchantServices services;

  @BeforeAll
  static void start() {
    services = new MerchantServices();
  }

  @AfterAll
  static void stop() {
    services.close();
  }

  @Test
  void aNewMerchantHasAKeyThatNamesItAndAnInvoiceCounter() {
    MerchantCreated created =
        services.ask(new CreateMerchant("Acme", Environment.LIVE, ZoneId.of("Asia/Tokyo")), null);

    Authenticated owner = authenticate(created.apiKey().key());
    assertThat(owner.merchant())
        .isEqualTo(new Call.Merchant(created.id(), Environment.LIVE, ZoneId.of("Asia/Tokyo")));
    assertThat(owner.keyId()).isEqualTo(created.apiKey().id());
    assertThat(owner.type()).isEqualTo(KeyType.SECRET);
    assertThat(created.apiKey().key()).startsWith("sk_live_");
    List<Row> counter =
        services.rows(
            "SELECT last FROM invoice_number WHERE merchant_id = $1", created.id().uuid());
    assertThat(counter).extracting(row -> row.getLong("last")).containsExactly(0L);
    assertThat(services.ask(new FindMerchant(created.id().toString()), null).merchant())
        .isEqualTo(owner.merchant());
  }

  @Test
  void withoutATimezoneAMerchantIsInUtc() {
    MerchantCreated created =
        services.ask(new CreateMerchant("Acme", Environment.TEST, null), null);

    assertThat(created.timezone()).isEqualTo(ZoneId.of("UTC"));
  }

  @Test
  void theKeyItselfIsStoredNowhere() {
    MerchantCreated created =
        services.ask(new CreateMerchant("Acme", Environment.LIVE, null), null);

    List<Row> rows =
        services.rows(
            "SELECT k::text AS all_columns FROM api_key k WHERE merchant_id = $1",
            created.id().uuid());
    assertThat(rows).hasSize(1);
    assertThat(rows.getFirst().getString("all_columns"))
        .doesNotContain(created.apiKey().key())
        .doesNotContain(created.apiKey().key().substring("sk_live_".length()));
  }

  @Test
  void anUnknownKeyIsNobodys() {
    assertThat(authenticate("sk_live_unknown")).isEqualTo(NOBODY);
  }

  @Test
  void aPublishableKeyIsKnownForWhatItIs() {
    Call.Merchant merchant = services.merchant(Environment.TEST);

    ApiKeyCreated created =
        services.ask(new CreateApiKey(KeyType.PUBLISHABLE, "browser"), merchant);

    assertThat(created.key()).startsWith("pk_test_");
    assertThat(authenticate(created.key()))
        .isEqualTo(new Authenticated(merchant, created.id(), KeyType.PUBLISHABLE));
  }

  @Test
  void aRevokedKeyIsNobodysAndEveryNodeIsTold() throws InterruptedException {
    BlockingQueue<String> told = new LinkedBlockingQueue<>();
    services
        .vertx
        .eventBus()
        .<String>consumer(Address.KEY_REVOKED, message -> told.add(message.body()))
        .completion()
        .await();
    Call.Merchant merchant = services.merchant(Environment.LIVE);
    ApiKeyCreated kept = services.ask(new CreateApiKey(KeyType.SECRET, null), merchant);
    ApiKeyCreated revoked = services.ask(new CreateApiKey(KeyType.SECRET, null), merchant);

    services.ask(new RevokeApiKey(revoked.id().toString()), merchant);

    assertThat(authenticate(revoked.key())).isEqualTo(NOBODY);
    assertThat(authenticate(kept.key()).merchant()).isEqualTo(merchant);
    assertThat(told.poll(20, TimeUnit.SECONDS)).isEqualTo(revoked.id().toString());
    Row first = key(revoked);
    services.ask(new RevokeApiKey(revoked.id().toString()), merchant);
    assertThat(key(revoked).getOffsetDateTime("revoked_at"))
        .isEqualTo(first.getOffsetDateTime("revoked_at"));
  }

  @Test
  void aKeyOfAnotherMerchantCannotBeRevoked() {
    Call.Merchant owner = services.merchant(Environment.LIVE);
    Call.Merchant other = services.merchant(Environment.LIVE);
    ApiKeyCreated key = services.ask(new CreateApiKey(KeyType.SECRET, null), owner);

    Failure foreign = services.refusal(new RevokeApiKey(key.id().toString()), other);
    Failure unknown = services.refusal(new RevokeApiKey("no-key"), owner);

    assertThat(foreign).isEqualTo(Failure.notFound("key")).isEqualTo(unknown);
    assertThat(authenticate(key.key()).merchant()).isEqualTo(owner);
  }

  @Test
  void anUnknownMerchantIsNotFound() {
    Failure expected = Failure.notFound("merchant");

    assertThat(services.refusal(new FindMerchant("anything"), null)).isEqualTo(expected);
    assertThat(services.refusal(new FindMerchant("mer_00000000000000000000000000"), null))
        .isEqualTo(expected);
  }

  @Test
  void theClockOfATestMerchantStandsWhereItWasSet() {
    Call.Merchant merchant = services.merchant(Environment.TEST);

    assertThat(services.ask(new SetClock(FUTURE), merchant).now()).isEqualTo(FUTURE);
    assertThat(services.ask(new SetClock(FUTURE), merchant).now()).isEqualTo(FUTURE);
    assertThat(services.ask(new SetClock(FUTURE.plusNanos(1_999_999)), merchant).now())
        .isEqualTo(FUTURE.plusMillis(1));
  }

  @Test
  void theClockNeverGoesBack() {
    Call.Merchant merchant = services.merchant(Environment.TEST);
    Failure beforeToday = services.refusal(new SetClock(Instant.EPOCH), merchant);
    services.ask(new SetClock(FUTURE), merchant);

    Failure beforeItself = services.refusal(new SetClock(FUTURE.minusMillis(1)), merchant);

    assertThat(beforeToday.code()).isEqualTo("clock_backwards");
    assertThat(beforeItself.code()).isEqualTo("clock_backwards");
    assertThat(beforeItself.detail()).contains("2090-01-01T00:00:00.000Z");
  }

  @Test
  void theClockIsSetWithinBounds() {
    Call.Merchant merchant = services.merchant(Environment.TEST);

    Failure failure =
        services.refusal(new SetClock(Instant.parse("2100-01-01T00:00:00Z")), merchant);

    assertThat(failure).isInstanceOf(Failure.Invalid.class);
  }

  @Test
  void theClockOfALiveMerchantIsReal() {
    Call.Merchant merchant = services.merchant(Environment.LIVE);

    assertThat(services.refusal(new SetClock(FUTURE), merchant).code())
        .isEqualTo("live_merchant_clock");
  }

  @Test
  void ofConcurrentClocksTheLatestWins() {
    Call.Merchant merchant = services.merchant(Environment.TEST);
    List<? extends Future<?>> setting =
        IntStream.range(0, 20)
            .mapToObj(i -> services.asking(new SetClock(FUTURE.plusSeconds(i)), merchant))
            .toList();

    Future.join(setting).otherwiseEmpty().await();

    assertThat(services.refusal(new SetClock(FUTURE), merchant).detail())
        .contains("2090-01-01T00:00:19.000Z");
  }

  private static Authenticated authenticate(String key) {
    return services.ask(new Authenticate(ApiKeys.hash(key)), null);
  }

  private static Row key(ApiKeyCreated key) {
    return services
        .rows("SELECT revoked_at FROM api_key WHERE id = $1", key.id().uuid())
        .getFirst();
  }
}
