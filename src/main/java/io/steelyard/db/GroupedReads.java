package io.steelyard.db;

import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.Origin;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.pgclient.PgException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Reads of one kind that come while two statements of that kind are under way go together into the
 * next. There is no delay: a lonely one goes at once. Nothing is kept: every answer is of a
 * statement that began after its question came, so that whoever has written sees it. Belongs to one
 * event loop; what waits is bounded by what its verticle lets in.
 *
 * @param <K> what is asked for; with the merchant, since a group is of all of them
 * @param <V> what is found
 */
public final class GroupedReads<K, V> {
  private static final int STATEMENTS_MAX = 2;
  private static final int GROUP_MAX = 64;

  /** Reads a group. */
  @FunctionalInterface
  public interface Statement<K, V> {
    /** One for each that is asked for, in their order; none is null. */
    Future<List<V>> read(List<K> keys);
  }

  private record Pending<K, V>(K key, Call call, Origin origin, Promise<V> answer) {}

  private final Statement<K, V> statement;
  private final Deque<Pending<K, V>> waiting = new ArrayDeque<>();
  private int underWay;

  public GroupedReads(Statement<K, V> statement) {
    this.statement = statement;
  }

  /** What is found for {@code key}, or the failure of its statement. */
  public Future<V> read(K key, Call call) {
    Pending<K, V> pending = new Pending<>(key, call, Origin.here(), Promise.promise());
    waiting.add(pending);
    readWaiting();
    return pending.answer().future();
  }

  private void readWaiting() {
    while (underWay < STATEMENTS_MAX && !waiting.isEmpty()) {
      List<Pending<K, V>> group = take();
      if (!group.isEmpty()) {
        underWay++;
        read(group)
            .onComplete(
                done -> {
                  underWay--;
                  readWaiting();
                });
      }
    }
  }

  private List<Pending<K, V>> take() {
    List<Pending<K, V>> taken = new ArrayList<>();
    while (taken.size() < GROUP_MAX && !waiting.isEmpty()) {
      Pending<K, V> pending = waiting.poll();
      if (pending.call().expired()) {
        pending.answer().fail(new Failure.TimedOut("The request waited too long.").asException());
      } else {
        taken.add(pending);
      }
    }
    return taken;
  }

  /** Completes when every one of the group has its answer; never fails. */
  private Future<Void> read(List<Pending<K, V>> group) {
    return attempt(group)
        .transform(
            outcome -> {
              if (outcome.failed()) {
                return failed(group, outcome.cause());
              }
              for (int i = 0; i < group.size(); i++) {
                group.get(i).answer().complete(outcome.result().get(i));
              }
              return Future.succeededFuture();
            });
  }

  private Future<List<V>> attempt(List<Pending<K, V>> group) {
    List<K> keys = new ArrayList<>(group.size());
    group.forEach(pending -> keys.add(pending.key()));
    try {
      return group.getFirst().origin().run(() -> statement.read(keys));
    } catch (RuntimeException | Error e) { // whoever waits behind must have its turn
      return Future.failedFuture(e);
    }
  }

  /** What one of them caused must not hit the others: they are read one by one. */
  private Future<Void> failed(List<Pending<K, V>> group, Throwable error) {
    boolean ofOne =
        error instanceof PgException pg && !SqlFailures.of(pg).equals(Failure.databaseDown());
    if (group.size() == 1 || !ofOne) {
      group.forEach(pending -> pending.answer().fail(error));
      return Future.succeededFuture();
    }
    Future<Void> done = Future.succeededFuture();
    for (Pending<K, V> pending : group) {
      done = done.compose(before -> read(List.of(pending)));
    }
    return done;
  }
}
