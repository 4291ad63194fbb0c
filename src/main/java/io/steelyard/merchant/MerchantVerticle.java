package io.steelyard.merchant;

import io.steelyard.bus.Address;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.Reply;
import io.steelyard.db.Idempotency;
import io.steelyard.db.Ids;
import io.steelyard.db.Pools;
import io.steelyard.db.Sql;
import io.steelyard.db.StoreVerticle;
import io.steelyard.domain.Environment;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.KeyType;
import io.steelyard.domain.Paging;
import io.steelyard.json.Json;
import io.steelyard.merchant.MerchantMessages.ApiKeyCreated;
import io.steelyard.merchant.MerchantMessages.ApiKeyPage;
import io.steelyard.merchant.MerchantMessages.ApiKeyRevoked;
import io.steelyard.merchant.MerchantMessages.ApiKeyView;
import io.steelyard.merchant.MerchantMessages.Authenticate;
import io.steelyard.merchant.MerchantMessages.Authenticated;
import io.steelyard.merchant.MerchantMessages.ClockSet;
import io.steelyard.merchant.MerchantMessages.CreateApiKey;
import io.steelyard.merchant.MerchantMessages.CreateMerchant;
import io.steelyard.merchant.MerchantMessages.FindMerchant;
import io.steelyard.merchant.MerchantMessages.FoundMerchant;
import io.steelyard.merchant.MerchantMessages.ListApiKeys;
import io.steelyard.merchant.MerchantMessages.ListMerchants;
import io.steelyard.merchant.MerchantMessages.MerchantCreated;
import io.steelyard.merchant.MerchantMessages.MerchantPage;
import io.steelyard.merchant.MerchantMessages.RevokeApiKey;
import io.steelyard.merchant.MerchantMessages.SetClock;
import io.steelyard.merchant.MerchantStore.NewKey;
import io.steelyard.merchant.MerchantStore.StoredKey;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import java.security.MessageDigest;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** Makes merchants and keys, says whose a key is, and sets the clocks of test merchants. */
public final class MerchantVerticle extends StoreVerticle<MerchantMessages<?>> {
  /** Events end here too; a clock far beyond would open periods without end. */
  private static final Instant CLOCK_END = Instant.parse("2100-01-01T00:00:00Z");

  /** For what is written down at the end. */
  private static final long LAST_USES_MS = 1000;

  private static final ZoneId UTC = ZoneId.of("UTC");

  private final Pools pools;
  private final MerchantClock clock;
  private final Idempotency idempotency;
  private final MerchantStore store = new MerchantStore();
  private final ApiKeyStore keys = new ApiKeyStore();
  private final long lastUseMs;

  /** For what every request waits for. */
  private Pool control;

  private KeyUses uses;
  private long usesTimer;

  /**
   * @param lastUseMs how often it is written down when keys were last used
   */
  public MerchantVerticle(
      Settings settings,
      Pools pools,
      MerchantClock clock,
      Idempotency idempotency,
      long lastUseMs) {
    super(Address.MERCHANT, settings, pools);
    this.pools = pools;
    this.clock = clock;
    this.idempotency = idempotency;
    this.lastUseMs = lastUseMs;
  }

  @Override
  protected Future<?> open() {
    control = pools.control(vertx);
    return super.open()
        .onSuccess(
            opened -> {
              uses = new KeyUses(keys, pool, lastUseMs);
              usesTimer = uses.start(vertx);
            });
  }

  @Override
  protected Future<?> close() {
    vertx.cancelTimer(usesTimer);
    return uses.write()
        .timeout(LAST_USES_MS, TimeUnit.MILLISECONDS)
        .otherwiseEmpty() // a database that is away must not hold up the stop
        .eventually(control::close)
        .eventually(super::close);
  }

  @Override
  protected Future<? extends Reply> handle(MerchantMessages<?> message, Call call) {
    return switch (message) {
      case CreateMerchant create -> create(create, call);
      case FindMerchant find -> find(find.id());
      case ListMerchants list -> list(list.paging());
      case CreateApiKey create -> createKey(create, call);
      case ListApiKeys list -> listKeys(list.paging(), call);
      case RevokeApiKey revoke -> revokeKey(revoke.keyId(), call);
      case Authenticate authenticate -> authenticate(authenticate.keyHash());
      case SetClock set -> setClock(set.now().truncatedTo(ChronoUnit.MILLIS), call);
    };
  }

  private Future<Reply> create(CreateMerchant create, Call call) {
    ZoneId zone = create.timezone() == null ? UTC : create.timezone();
    Call.Merchant merchant =
        new Call.Merchant(Ids.next(IdKind.MERCHANT), create.environment(), zone);
    String key = ApiKeys.generate(create.environment(), KeyType.SECRET);
    NewKey stored = newKey(KeyType.SECRET, null, key);
    Instant now = clock.systemNow();
    MerchantCreated created =
        new MerchantCreated(
            merchant.id(),
            create.name(),
            create.environment(),
            zone,
            new ApiKeyView(stored.id(), KeyType.SECRET, key));
    return idempotency.once(
        pool,
        call,
        tx ->
            store
                .insert(tx, merchant, create.name(), now)
                .compose(done -> store.insertKey(tx, merchant.id().uuid(), stored, now))
                .map(created));
  }

  private static NewKey newKey(KeyType type, String name, String key) {
    return new NewKey(Ids.next(IdKind.API_KEY), type, name, ApiKeys.hash(key));
  }

  private Future<FoundMerchant> find(String text) {
    UUID id = Sql.uuid(IdKind.MERCHANT, text);
    if (id == null) {
      return FailureException.failed(Failure.notFound("merchant"));
    }
    return store
        .merchant(control, id)
        .compose(
            found ->
                found.isPresent()
                    ? Future.succeededFuture(new FoundMerchant(found.get()))
                    : FailureException.failed(Failure.notFound("merchant")));
  }

  private Future<MerchantPage> list(Paging paging) {
    return store
        .count(pool)
        .compose(
            count ->
                store
                    .page(pool, paging)
                    .map(
                        page -> new MerchantPage(page, count, paging.pages(count), paging.page())));
  }

  private Future<Reply> createKey(CreateApiKey create, Call call) {
    String key = ApiKeys.generate(call.merchant().environment(), create.type());
    NewKey stored = newKey(create.type(), create.name(), key);
    Instant now = clock.systemNow();
    ApiKeyCreated created = new ApiKeyCreated(stored.id(), create.type(), create.name(), key, now);
    return idempotency.once(
        pool, call, tx -> store.insertKey(tx, call.merchantId(), stored, now).map(created));
  }

  private Future<ApiKeyPage> listKeys(Paging paging, Call call) {
    return keys.count(pool, call.merchantId())
        .compose(
            count ->
                keys.page(pool, call.merchantId(), paging)
                    .map(page -> new ApiKeyPage(page, count, paging.pages(count), paging.page())));
  }

  /** A repeated revocation is announced again: the first announcement may have been lost. */
  private Future<ApiKeyRevoked> revokeKey(String text, Call call) {
    UUID uuid = Sql.uuid(IdKind.API_KEY, text);
    if (uuid == null) {
      return FailureException.failed(Failure.notFound("key"));
    }
    Id id = new Id(IdKind.API_KEY, uuid);
    return store
        .revokeKey(pool, call.merchantId(), uuid, clock.systemNow())
        .compose(
            known -> {
              if (!known) {
                return FailureException.failed(Failure.notFound("key"));
              }
              vertx.eventBus().publish(Address.KEY_REVOKED, id.toString());
              return Future.succeededFuture(new ApiKeyRevoked(id));
            });
  }

  /**
   * Callers ask for a key in use as often as what they remember of it ends, every few seconds:
   * often enough to know its last use by, and no request has to tell of it.
   */
  private Future<Authenticated> authenticate(byte[] hash) {
    return store
        .keyByHash(control, hash)
        .map(
            found ->
                found
                    // the index has compared with early exit; this comparison has none
                    .filter(key -> MessageDigest.isEqual(key.hash(), hash))
                    .map(this::authenticated)
                    .orElse(new Authenticated(null, null, null)));
  }

  private Authenticated authenticated(StoredKey key) {
    uses.note(key.merchant().id(), key.id(), clock.systemNow());
    return new Authenticated(key.merchant(), key.id(), key.type());
  }

  private Future<ClockSet> setClock(Instant now, Call call) {
    if (call.merchant().environment() == Environment.LIVE) {
      return FailureException.failed(
          new Failure.Conflict("live_merchant_clock", "The clock of a live merchant is real."));
    }
    if (!now.isBefore(CLOCK_END)) {
      return FailureException.failed(
          Failure.invalid("/now", "out_of_range", "must be before " + CLOCK_END));
    }
    return store
        .setClock(pool, call.merchantId(), now, clock.systemNow())
        .compose(
            set ->
                set.isPresent()
                    ? Future.succeededFuture(new ClockSet(set.get()))
                    : refuseClock(call));
  }

  private Future<ClockSet> refuseClock(Call call) {
    return clock
        .now(pool, call)
        .compose(
            current ->
                FailureException.failed(
                    new Failure.Conflict(
                        "clock_backwards",
                        "The clock stands at %s and only goes forwards."
                            .formatted(Json.timestamp(current)))));
  }
}
