package io.steelyard.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.steelyard.bus.Call;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.IdempotencyKey;
import io.steelyard.bus.Replayed;
import io.steelyard.bus.Reply;
import io.steelyard.db.Idempotency.Outcome;
import io.steelyard.domain.Environment;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.support.MerchantServices;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Keys, answers and effects in one transaction, by a clock that the test sets. */
@Timeout(60)
class IdempotencyIT {
  private static final Instant START = Instant.parse("2026-05-01T12:00:00Z");
  private static final String KEY = Base64.getEncoder().encodeToString(new byte[32]);
  private static final String OTHER_KEY =
      Base64.getEncoder().encodeToString("0123456789abcdef0123456789abcdef".getBytes());

  private static MerchantServices services;

  private final AtomicReference<Instant> now = new AtomicReference<>(START);
  private final Idempotency idempotency = with(null);
  private final Call.Merchant merchant =
      new Call.Merchant(
          new Id(IdKind.MERCHANT, UUID.randomUUID()), Environment.LIVE, ZoneOffset.UTC);

  record Made(String name) implements Reply {}

  record Secret(String key) implements Reply {
    @Override
    public boolean showsSecret() {
      return true;
    }
  }

  @BeforeAll
  static void start() {
    services = new MerchantServices();
    services.pool.query("CREATE TABLE made (name text CHECK (name <> 'broken'))").execute().await();
  }

  @AfterAll
  static void stop() {
    services.close();
  }

  /** Those of all merchants are deleted once they have expired. */
  @BeforeEach
  void forget() {
    services.pool.query("DELETE FROM idempotency_key").execute().await();
  }

  private Idempotency with(String encryptionKey) {
    return new Idempotency(now::get, new SecretBox(encryptionKey), new SimpleMeterRegistry());
  }

  private Call call(String key, String body) {
    Call call = Call.within("req-1", merchant, 10_000);
    return key == null
        ? call
        : call.with(IdempotencyKey.of("POST /made", key, "", body.getBytes()));
  }

  private static Future<Made> make(SqlConnection tx, String name) {
    return tx.preparedQuery("INSERT INTO made (name) VALUES ($1)")
        .execute(Tuple.of(name))
        .map(new Made(name));
  }

  private Reply once(String key, String name) {
    return idempotency.once(services.pool, call(key, name), tx -> make(tx, name)).await();
  }

  private String refusal(String key, String name) {
    return catchThrowableOfType(FailureException.class, () -> once(key, name)).failure().code();
  }

  private static long made(String name) {
    return services.rows("SELECT count(*) FROM made WHERE name = $1", name).getFirst().getLong(0);
  }

  private long keys() {
    return services
        .rows("SELECT count(*) FROM idempotency_key WHERE merchant_id = $1", merchant.id().uuid())
        .getFirst()
        .getLong(0);
  }

  @Test
  void aKeyIsKeptForADayAndIsFreeAfterIt() {
    once("k", "day");
    now.set(START.plus(Idempotency.KEPT).minusMillis(1));
    assertThat(once("k", "day")).isEqualTo(new Replayed("{\"name\":\"day\"}"));
    assertThat(refusal("k", "another")).isEqualTo("idempotency_key_reused");
    assertThat(made("day")).isEqualTo(1);

    now.set(START.plus(Idempotency.KEPT));
    assertThat(once("k", "next")).isEqualTo(new Made("next"));

    assertThat(once("k", "next")).isInstanceOf(Replayed.class);
    assertThat(keys()).isEqualTo(1);
  }

  @Test
  void onlyTheExpiredAreDeletedAndNotMoreAtOnceThanToldTo() {
    for (int i = 0; i < 5; i++) {
      once("old-" + i, "old");
    }
    now.set(START.plusSeconds(1));
    once("young", "young");
    IdempotencyStore store = new IdempotencyStore();
    Instant end = START.plus(Idempotency.KEPT);

    assertThat(store.deleteExpired(services.pool, end.minusMillis(1), 9).await()).isZero();
    assertThat(store.deleteExpired(services.pool, end, 3).await()).isEqualTo(3);
    assertThat(store.deleteExpired(services.pool, end, 3).await()).isEqualTo(2);

    assertThat(keys()).isEqualTo(1);
    assertThat(once("young", "young")).isInstanceOf(Replayed.class);
  }

  /** It is being replaced: who deletes neither waits for it nor deletes what comes in its place. */
  @Test
  void anExpiredKeyInUseIsLeftAlone() throws Exception {
    once("k", "first");
    now.set(START.plus(Idempotency.KEPT));
    Promise<Void> stored = Promise.promise();
    Promise<Void> goOn = Promise.promise();
    IdempotencyStore store = new IdempotencyStore();
    IdempotencyKey key = call("k", "again").idempotencyKey();
    Future<Void> replacing =
        services.pool.withTransaction(
            tx ->
                store
                    .put(
                        tx,
                        merchant.id().uuid(),
                        List.of(new IdempotencyStore.Answered(key, "{}".getBytes())),
                        false,
                        now.get().plus(Idempotency.KEPT))
                    .onSuccess(done -> stored.complete())
                    .compose(done -> goOn.future()));
    stored.future().await(10, TimeUnit.SECONDS);

    assertThat(store.deleteExpired(services.pool, now.get(), 9).await(5, TimeUnit.SECONDS))
        .isZero();

    goOn.complete();
    replacing.await();
    assertThat(once("k", "again")).isEqualTo(new Replayed("{}"));
  }

  @Test
  void whatIsUnderWayIsToldAtOnceAndCostsItsNeighboursNothing() throws Exception {
    Promise<Void> begun = Promise.promise();
    Promise<Void> goOn = Promise.promise();
    Future<Reply> first =
        idempotency.once(
            services.pool,
            call("busy", "slow"),
            tx ->
                make(tx, "slow")
                    .compose(
                        made -> {
                          begun.complete();
                          return goOn.future().map(made);
                        }));
    begun.future().await(10, TimeUnit.SECONDS);
    once("known", "known");

    List<Outcome> outcomes =
        together(
                call("busy", "slow"),
                call("known", "known"),
                call("known", "other body"),
                call(null, "keyless"),
                call("new", "new"),
                call("new", "new"),
                call("taken", "taken"))
            .await(5, TimeUnit.SECONDS);

    assertThat(outcomes.stream().map(IdempotencyIT::text))
        .containsExactly(
            "idempotency_key_in_use",
            "again {\"name\":\"known\"}",
            "idempotency_key_reused",
            "made",
            "made",
            "idempotency_key_in_use",
            "taken");
    goOn.complete();
    assertThat(first.await()).isEqualTo(new Made("slow"));
    assertThat(once("busy", "slow")).isInstanceOf(Replayed.class);
    assertThat(once("new", "new")).isEqualTo(new Replayed("{\"name\":\"member\"}"));
    assertThat(once("taken", "taken")).isEqualTo(new Made("taken"));
    assertThat(made("member")).isEqualTo(2);
  }

  /** Makes a member of each that is to be carried out, but for one whose name is taken. */
  private Future<List<Outcome>> together(Call... calls) {
    IdempotencyKey taken = call("taken", "taken").idempotencyKey();
    return idempotency.together(
        services.pool,
        List.of(calls),
        (tx, members) -> {
          Future<List<Outcome>> outcomes = Future.succeededFuture(List.of());
          for (int i : members) {
            outcomes =
                outcomes.compose(
                    before ->
                        (taken.equals(calls[i].idempotencyKey())
                                ? Future.succeededFuture(Outcome.refused(conflict()))
                                : make(tx, "member").map(Outcome::of))
                            .map(each -> append(before, each)));
          }
          return outcomes;
        });
  }

  private static io.steelyard.bus.Failure conflict() {
    return new io.steelyard.bus.Failure.Conflict("taken", "taken");
  }

  private static List<Outcome> append(List<Outcome> before, Outcome each) {
    return java.util.stream.Stream.concat(before.stream(), java.util.stream.Stream.of(each))
        .toList();
  }

  private static String text(Outcome outcome) {
    if (outcome.failure() != null) {
      return outcome.failure().code();
    }
    return outcome.reply() instanceof Replayed again ? "again " + again.json() : "made";
  }

  @Test
  void aFailedEffectLeavesNothing() {
    assertThat(catchThrowableOfType(Exception.class, () -> once("k", "broken"))).isNotNull();

    assertThat(keys()).isZero();
    assertThat(once("k", "mended")).isEqualTo(new Made("mended"));
  }

  @Test
  void withAnEncryptionKeyNothingReadableIsStored() {
    Call call = call("k", "sealed");
    Idempotency sealing = with(KEY);
    sealing.once(services.pool, call, tx -> make(tx, "readable")).await();

    byte[] stored =
        services
            .rows("SELECT answer FROM idempotency_key WHERE merchant_id = $1", merchant.id().uuid())
            .getFirst()
            .getBuffer(0)
            .getBytes();
    assertThat(new String(stored, java.nio.charset.StandardCharsets.ISO_8859_1))
        .doesNotContain("readable");
    assertThat(sealing.once(services.pool, call, tx -> make(tx, "readable")).await())
        .isEqualTo(new Replayed("{\"name\":\"readable\"}"));
    for (Idempotency other : List.of(with(OTHER_KEY), with(null))) {
      assertThat(
              catchThrowableOfType(
                      FailureException.class,
                      () -> other.once(services.pool, call, tx -> make(tx, "twice")).await())
                  .failure()
                  .code())
          .isEqualTo("stored_answer_unreadable");
    }
    assertThat(made("twice")).isZero();
  }

  @Test
  void aSecretIsStoredSealedOrNotAtAll() {
    Call call = call("k", "secret");

    assertThat(
            catchThrowableOfType(
                    FailureException.class,
                    () ->
                        idempotency
                            .once(
                                services.pool,
                                call,
                                tx -> make(tx, "with secret").map(new Secret("sk")))
                            .await())
                .failure()
                .code())
        .isEqualTo("encryption_key_missing");
    assertThat(made("with secret")).isZero();
    assertThat(keys()).isZero();

    Idempotency sealing = with(KEY);
    for (Reply expected : List.of(new Secret("sk"), new Replayed("{\"key\":\"sk\"}"))) {
      assertThat(
              sealing
                  .once(services.pool, call, tx -> make(tx, "with secret").map(new Secret("sk")))
                  .await())
          .isEqualTo(expected);
    }
    assertThat(made("with secret")).isEqualTo(1);
  }
}
