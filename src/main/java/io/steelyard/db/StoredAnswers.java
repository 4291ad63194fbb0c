package io.steelyard.db;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.IdempotencyKey;
import io.steelyard.bus.Replayed;
import io.steelyard.bus.Reply;
import io.steelyard.db.Idempotency.Outcome;
import io.steelyard.db.IdempotencyStore.Claim;
import io.steelyard.db.IdempotencyStore.Stored;
import io.steelyard.json.Json;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/** What a stored key means to a request that carries it, and in what form an answer is stored. */
final class StoredAnswers {
  private static final int RETRY_AFTER_S = 1;

  /** In place of a merchant, for what the operator asks for none. */
  private static final UUID OPERATOR = new UUID(0, 0);

  private static final Failure IN_FLIGHT =
      new Failure.Conflict(
          "idempotency_key_in_use",
          "A request with this Idempotency-Key is under way. Try again.",
          RETRY_AFTER_S);

  private static final Failure OTHER_REQUEST =
      new Failure.Rejected(
          "idempotency_key_reused",
          "Another request was sent with this Idempotency-Key in the last 24 hours.");

  private static final Failure UNREADABLE =
      new Failure.Conflict(
          "stored_answer_unreadable",
          "The request took effect before, but its answer was sealed with another encryption key.");

  private static final Failure NO_ENCRYPTION_KEY =
      new Failure.Rejected(
          "encryption_key_missing",
          "An answer that shows an API key can be stored only with security.encryptionKey"
              + " configured. Send no Idempotency-Key.");

  private final SecretBox secrets;
  private final Counter replayed;
  private final Counter inFlight;
  private final Counter otherRequest;

  StoredAnswers(SecretBox secrets, MeterRegistry metrics) {
    this.secrets = secrets;
    this.replayed = counter("replayed", metrics);
    this.inFlight = counter("in_flight", metrics);
    this.otherRequest = counter("other_request", metrics);
  }

  private static Counter counter(String outcome, MeterRegistry metrics) {
    return Counter.builder("steelyard.idempotency.repeats")
        .description("Requests whose Idempotency-Key had been sent before")
        .tag("outcome", outcome)
        .register(metrics);
  }

  /** Whose the call's key is. */
  static UUID owner(Call call) {
    return call.merchant() == null ? OPERATOR : call.merchantId();
  }

  /**
   * Empty when the request is to be carried out.
   *
   * @param others whether one before it in its own transaction has the key
   */
  Optional<Outcome> settle(
      Claim claim, boolean others, UUID owner, IdempotencyKey key, Instant now) {
    Stored stored = claim.stored().orElse(null);
    if (stored != null && !stored.request().equals(key.request())) {
      otherRequest.increment();
      return Optional.of(Outcome.refused(OTHER_REQUEST));
    }
    if (stored != null && stored.answer() != null) {
      replayed.increment();
      return Optional.of(replay(stored, owner, key));
    }
    boolean asking = stored != null && stored.claimedUntil().isAfter(now);
    return claim.held() && !others && !asking ? Optional.empty() : Optional.of(inFlight());
  }

  Outcome inFlight() {
    inFlight.increment();
    return Outcome.refused(IN_FLIGHT);
  }

  private Outcome replay(Stored stored, UUID owner, IdempotencyKey key) {
    if (!stored.sealed()) {
      return Outcome.of(new Replayed(new String(stored.answer(), StandardCharsets.UTF_8)));
    }
    return secrets
        .open(owner, use(key), stored.answer())
        .map(json -> Outcome.of(new Replayed(json)))
        .orElseGet(() -> Outcome.refused(UNREADABLE));
  }

  private static String use(IdempotencyKey key) {
    return "answer/" + key.id();
  }

  /** Whether answers are stored sealed. */
  boolean sealed() {
    return secrets.hasKey();
  }

  /**
   * @throws io.steelyard.bus.FailureException when it must not be stored; the effect is then undone
   */
  byte[] toStore(UUID owner, IdempotencyKey key, Reply reply) {
    if (secrets.hasKey()) {
      return secrets.seal(owner, use(key), Json.encodeText(reply.shown()));
    }
    if (reply.showsSecret()) {
      throw NO_ENCRYPTION_KEY.asException();
    }
    return Json.encode(reply.shown()).getBytes();
  }
}
