package io.steelyard.db;

import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.IdempotencyKey;
import io.steelyard.bus.Reply;
import io.steelyard.db.Idempotency.Outcome;
import io.steelyard.db.IdempotencyStore.Claim;
import io.steelyard.db.IdempotencyStore.Stored;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requests with an idempotency key whose effect is elsewhere, and so outside of any transaction.
 * What was begun is stored with the id under which the effect is known there, and until when
 * somebody is at it.
 */
final class Attempts {
  private static final Logger LOG = LoggerFactory.getLogger(Attempts.class);

  private final Supplier<Instant> now;
  private final StoredAnswers answers;
  private final IdempotencyStore store;

  Attempts(Supplier<Instant> now, StoredAnswers answers, IdempotencyStore store) {
    this.now = now;
    this.answers = answers;
    this.store = store;
  }

  /** As {@link Idempotency#asked}. */
  Future<Reply> asked(
      Pool pool, Call call, Function<UUID, ? extends Future<? extends Reply>> asking) {
    if (call.idempotencyKey() == null) {
      return asking.apply(Ids.nextUuid()).map(reply -> reply);
    }
    UUID owner = StoredAnswers.owner(call);
    return Transactions.run(pool, tx -> begin(tx, call, owner))
        .compose(
            begun ->
                begun.settled() == null
                    ? ask(pool, call, owner, begun.attempt(), asking)
                    : begun.settled().toFuture());
  }

  /**
   * @param settled null when the gateway is to be asked
   */
  private record Begun(Outcome settled, UUID attempt) {}

  private Future<Begun> begin(SqlConnection tx, Call call, UUID owner) {
    IdempotencyKey key = call.idempotencyKey();
    Instant at = now.get();
    return store
        .claim(tx, owner, List.of(key.id()), at)
        .compose(
            claims -> {
              Claim claim = claims.get(key.id());
              Optional<Outcome> settled = answers.settle(claim, false, owner, key, at);
              if (settled.isPresent()) {
                return Future.succeededFuture(new Begun(settled.get(), null));
              }
              UUID attempt = claim.stored().map(Stored::attempt).orElseGet(Ids::nextUuid);
              Instant until = at.plusMillis(call.remainingMs());
              Instant expiresAt =
                  claim.stored().map(Stored::expiresAt).orElse(at.plus(Idempotency.KEPT));
              return store
                  .begin(tx, owner, key, attempt, until, expiresAt)
                  .map(new Begun(null, attempt));
            });
  }

  private Future<Reply> ask(
      Pool pool,
      Call call,
      UUID owner,
      UUID attempt,
      Function<UUID, ? extends Future<? extends Reply>> asking) {
    IdempotencyKey key = call.idempotencyKey();
    return asking
        .apply(attempt)
        .transform(
            asked -> {
              if (asked.failed()) {
                return failed(pool, owner, key, attempt, asked.cause());
              }
              Reply reply = asked.result();
              return store
                  .finish(
                      pool,
                      owner,
                      key.id(),
                      attempt,
                      answers.toStore(owner, key, reply),
                      answers.sealed())
                  .map(reply);
            });
  }

  /** A refusal leaves the key free; without a verdict only the same request may go on with it. */
  private Future<Reply> failed(
      Pool pool, UUID owner, IdempotencyKey key, UUID attempt, Throwable cause) {
    Future<Void> freed =
        isRefusal(cause)
            ? store.forget(pool, owner, key.id(), attempt)
            : store.release(pool, owner, key.id(), attempt, now.get());
    return freed
        .onFailure(error -> LOG.warn("an idempotency key stays claimed for a while", error))
        .transform(done -> Future.failedFuture(cause));
  }

  private static boolean isRefusal(Throwable cause) {
    return cause instanceof FailureException known
        && switch (known.failure()) {
          case Failure.Invalid invalid -> true;
          case Failure.NotFound missing -> true;
          case Failure.Conflict conflict -> true;
          case Failure.Gone gone -> true;
          case Failure.Rejected rejected -> true;
          case Failure.Overloaded overloaded -> false;
          case Failure.Unavailable unavailable -> false;
          case Failure.TimedOut late -> false;
          case Failure.Unexpected unexpected -> false;
        };
  }
}
