package io.steelyard.db;

import io.micrometer.core.instrument.MeterRegistry;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.IdempotencyKey;
import io.steelyard.bus.Reply;
import io.steelyard.db.IdempotencyStore.Answered;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Carries out requests with an idempotency key once, and repeats their answers for a day. The
 * answer is stored in the transaction of the effect, so a lost connection, a crash or a refusal
 * leaves both or neither. Who comes while the first is under way is told so at once, by a lock that
 * is only tried: it goes with the transaction, however that ends. Shared by all verticles of a
 * process.
 */
public final class Idempotency {
  public static final Duration KEPT = Duration.ofHours(24);

  private final Supplier<Instant> now;
  private final StoredAnswers answers;
  private final Attempts attempts;
  private final IdempotencyStore store = new IdempotencyStore();

  /**
   * @param now the system's time
   * @param secrets seals the answers where it has a key
   */
  public Idempotency(Supplier<Instant> now, SecretBox secrets, MeterRegistry metrics) {
    this.now = now;
    this.answers = new StoredAnswers(secrets, metrics);
    this.attempts = new Attempts(now, answers, store);
  }

  /**
   * How one of a group ended: with a reply, or with a failure that left nothing stored.
   *
   * @param reply null with a failure
   * @param failure null with a reply
   */
  public record Outcome(Reply reply, Failure failure) {
    public static Outcome of(Reply reply) {
      return new Outcome(reply, null);
    }

    public static Outcome refused(Failure failure) {
      return new Outcome(null, failure);
    }

    Future<Reply> toFuture() {
      return failure == null ? Future.succeededFuture(reply) : FailureException.failed(failure);
    }
  }

  /** What several calls of one merchant do in one transaction. */
  public interface Group {
    /**
     * @param members positions of the calls to be carried out
     * @return how each of these ended, in their order
     */
    Future<List<Outcome>> carryOut(SqlConnection tx, List<Integer> members);
  }

  /**
   * What {@code effect} replies, or replied before. A call without a key is carried out in any
   * case.
   */
  public Future<Reply> once(
      Pool pool, Call call, Function<SqlConnection, ? extends Future<? extends Reply>> effect) {
    return together(
            pool,
            List.of(call),
            (tx, members) -> effect.apply(tx).map(reply -> List.of(Outcome.of(reply))))
        .compose(outcomes -> outcomes.getFirst().toFuture());
  }

  /**
   * As {@link #once} for calls of one merchant that share a transaction: one that is answered from
   * before, or refused for its key, neither fails nor holds up the others.
   */
  public Future<List<Outcome>> together(Pool pool, List<Call> calls, Group group) {
    return Transactions.run(
        pool,
        tx ->
            settled(tx, calls)
                .compose(
                    settled -> {
                      List<Integer> members =
                          IntStream.range(0, calls.size())
                              .filter(i -> !settled.containsKey(i))
                              .boxed()
                              .toList();
                      return members.isEmpty()
                          ? Future.succeededFuture(inOrder(settled))
                          : carryOut(tx, calls, members, group)
                              .map(
                                  outcomes -> {
                                    for (int i = 0; i < members.size(); i++) {
                                      settled.put(members.get(i), outcomes.get(i));
                                    }
                                    return inOrder(settled);
                                  });
                    }));
  }

  private static List<Outcome> inOrder(Map<Integer, Outcome> outcomes) {
    return IntStream.range(0, outcomes.size()).mapToObj(outcomes::get).toList();
  }

  /** The calls that are not to be carried out, by position; what is left has its keys claimed. */
  private Future<Map<Integer, Outcome>> settled(SqlConnection tx, List<Call> calls) {
    Map<UUID, Integer> first = new LinkedHashMap<>();
    for (int i = 0; i < calls.size(); i++) {
      IdempotencyKey key = calls.get(i).idempotencyKey();
      if (key != null) {
        first.putIfAbsent(key.id(), i);
      }
    }
    if (first.isEmpty()) {
      return Future.succeededFuture(new HashMap<>());
    }
    Instant at = now.get();
    UUID owner = StoredAnswers.owner(calls.getFirst());
    return store
        .claim(tx, owner, first.keySet(), at)
        .map(
            claims -> {
              Map<Integer, Outcome> settled = new HashMap<>();
              for (int i = 0; i < calls.size(); i++) {
                IdempotencyKey key = calls.get(i).idempotencyKey();
                if (key != null) {
                  // a lock that its own transaction holds it would get again
                  boolean others = first.get(key.id()) != i;
                  answers
                      .settle(claims.get(key.id()), others, owner, key, at)
                      .ifPresent(putAt(i, settled));
                }
              }
              return settled;
            });
  }

  private static Consumer<Outcome> putAt(int position, Map<Integer, Outcome> outcomes) {
    return outcome -> outcomes.put(position, outcome);
  }

  private Future<List<Outcome>> carryOut(
      SqlConnection tx, List<Call> calls, List<Integer> members, Group group) {
    return group
        .carryOut(tx, members)
        .compose(
            outcomes -> {
              UUID owner = StoredAnswers.owner(calls.getFirst());
              List<Answered> given = new ArrayList<>();
              for (int i = 0; i < members.size(); i++) {
                IdempotencyKey key = calls.get(members.get(i)).idempotencyKey();
                Reply reply = outcomes.get(i).reply();
                if (key != null && reply != null) {
                  given.add(new Answered(key, answers.toStore(owner, key, reply)));
                }
              }
              return given.isEmpty()
                  ? Future.succeededFuture(outcomes)
                  : store
                      .put(tx, owner, given, answers.sealed(), now.get().plus(KEPT))
                      .map(outcomes);
            });
  }

  /**
   * As {@link #once} for what a gateway does, which no transaction can span. That it is asked is
   * stored first, and its answer afterwards. When it gave none, or the process ended meanwhile, the
   * same request asks again under the same id, which the gateway knows.
   *
   * @param asking of the gateway under that id
   */
  public Future<Reply> asked(
      Pool pool, Call call, Function<UUID, ? extends Future<? extends Reply>> asking) {
    return attempts.asked(pool, call, asking);
  }
}
