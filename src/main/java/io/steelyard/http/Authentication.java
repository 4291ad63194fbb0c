package io.steelyard.http;

import io.netty.util.Attribute;
import io.netty.util.AttributeKey;
import io.steelyard.bus.Address;
import io.steelyard.bus.Bus;
import io.steelyard.bus.Call;
import io.steelyard.config.Config;
import io.steelyard.domain.KeyType;
import io.steelyard.merchant.ApiKeys;
import io.steelyard.merchant.MerchantMessages.Authenticate;
import io.steelyard.merchant.MerchantMessages.Authenticated;
import io.steelyard.web.Gate;
import io.steelyard.web.Refusal;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.impl.ConnectionBase;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Admits who carries a secret key. A key that was known is trusted for {@code keys.cacheMs} without
 * asking again, and forgotten at once when its revocation is broadcast. Whose merchant has sent too
 * many requests is refused here, before anything of the body is read.
 */
final class Authentication implements Gate {
  private static final CharSequence API_KEY = HttpHeaders.createOptimized("x-api-key");
  private static final AttributeKey<Last> LAST = AttributeKey.valueOf("steelyard.last-key");

  private final Bus bus;
  private final Config config;
  private final RateLimits limits;
  private final Map<ByteBuffer, Known> cache;

  /** Lookups under way; no more than requests in flight, which are bounded. */
  private final Map<ByteBuffer, Future<Authenticated>> pending = new HashMap<>();

  private record Known(Authenticated key, long readAtNanos) {}

  /**
   * The key that a connection's last request carried, so that the next one's need not be hashed
   * where it is the same. Only a key that came over this very connection is compared with, all of
   * it in the same time wherever it differs: nobody learns from it of a key that he has not sent.
   */
  private record Last(byte[] sent, ByteBuffer hash) {
    boolean is(byte[] key) {
      return MessageDigest.isEqual(sent, key);
    }
  }

  Authentication(Vertx vertx, Bus bus, Config config, RateLimits limits) {
    this.limits = limits;
    this.bus = bus;
    this.config = config;
    int entriesMax = config.keys().cacheEntries();
    this.cache =
        new LinkedHashMap<>(16, 0.75f, true) {
          private static final long serialVersionUID = 1L;

          @Override
          protected boolean removeEldestEntry(Map.Entry<ByteBuffer, Known> eldest) {
            return size() > entriesMax;
          }
        };
    vertx.eventBus().<String>consumer(Address.KEY_REVOKED, message -> forget(message.body()));
  }

  private void forget(String keyId) {
    cache.values().removeIf(known -> keyId.equals(String.valueOf(known.key().keyId())));
  }

  @Override
  public Future<Call> admit(HttpServerRequest request, String requestId) {
    List<String> keys = request.headers().getAll(API_KEY);
    if (keys.size() != 1) {
      return unauthenticated();
    }
    ByteBuffer hash = hash(keys.get(0), request.connection());
    if (hash == null) {
      return unauthenticated();
    }
    Known known = cache.get(hash);
    if (known != null && isFresh(known)) {
      return admit(known.key(), request, requestId);
    }
    return lookUp(hash, requestId)
        .compose(
            answer ->
                answer.merchant() == null ? unauthenticated() : admit(answer, request, requestId));
  }

  /** Null where the text cannot be a key. */
  private static ByteBuffer hash(String key, HttpConnection connection) {
    byte[] sent = key.getBytes(StandardCharsets.UTF_8);
    Attribute<Last> last = ((ConnectionBase) connection).channel().attr(LAST);
    Last before = last.get();
    if (before != null && before.is(sent)) {
      return before.hash();
    }
    if (!ApiKeys.hasForm(key)) {
      return null;
    }
    ByteBuffer hash = ByteBuffer.wrap(ApiKeys.hash(key));
    last.set(new Last(sent, hash));
    return hash;
  }

  /** One question at a time for one key, whose answer is for all who wait. */
  private Future<Authenticated> lookUp(ByteBuffer cacheKey, String requestId) {
    Future<Authenticated> asked = pending.get(cacheKey);
    if (asked != null) {
      return asked;
    }
    Future<Authenticated> asking =
        bus.ask(new Authenticate(cacheKey.array()), call(requestId, null));
    pending.put(cacheKey, asking);
    return asking.onComplete(
        outcome -> {
          pending.remove(cacheKey);
          if (outcome.failed()) {
            return;
          }
          if (outcome.result().merchant() == null) {
            cache.remove(cacheKey);
          } else {
            cache.put(cacheKey, new Known(outcome.result(), System.nanoTime()));
          }
        });
  }

  private boolean isFresh(Known known) {
    return System.nanoTime() - known.readAtNanos() < config.keys().cacheMs() * 1_000_000L;
  }

  private Future<Call> admit(Authenticated key, HttpServerRequest request, String requestId) {
    if (key.type() != KeyType.SECRET) {
      return Refusal.closing(403, "wrong_key_type", "This API needs a key of type secret.")
          .failed();
    }
    return limits.request(request, call(requestId, key.merchant()));
  }

  private Call call(String requestId, Call.Merchant merchant) {
    return Call.within(requestId, merchant, config.timeouts().requestMs());
  }

  /** One and the same answer for a missing, empty, unknown and revoked key. */
  private static Future<Call> unauthenticated() {
    return Refusal.closing(401, "unauthenticated", "A valid x-api-key header is required.")
        .with("www-authenticate", "ApiKey")
        .failed();
  }
}
