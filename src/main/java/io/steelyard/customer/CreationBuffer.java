package io.steelyard.customer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.Reply;
import io.steelyard.customer.CustomerMessages.CustomerInput;
import io.steelyard.db.Idempotency.Outcome;
import io.steelyard.db.SqlFailures;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.pgclient.PgException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Group commit: creations of one merchant that come while two transactions of others are under way
 * go together into the next. More would not help, since a merchant's invoice numbers let through
 * one commit at a time; with one alone, the database and its callers would wait for each other.
 * There is no delay: a lonely one goes at once. Shared by all instances of a process, so that they
 * make large groups, not many small ones that wait for each other. What waits is bounded by what
 * the instances let in.
 */
final class CreationBuffer {
  private static final Logger LOG = LoggerFactory.getLogger(CreationBuffer.class);

  private static final int TRANSACTIONS_MAX = 2;

  /** Not worth dividing: a transaction has its own cost, whatever is in it. */
  private static final int SMALL = 8;

  /** A customer that a call wants to be created. */
  record Wish(Call call, CustomerInput input) {}

  /** Makes a group of one merchant's customers. */
  interface Transaction {
    /** How each ended, in the order given; all that was created commits together. */
    Future<List<Outcome>> create(List<Wish> wishes);
  }

  /**
   * @param context of the request that waits for the answer, on which it is given
   * @param transaction of that instance, which stays open as long as it waits
   */
  private record Pending(
      Context context, Transaction transaction, Wish wish, Promise<Reply> answer) {

    Call call() {
      return wish.call();
    }

    void end(Outcome outcome) {
      if (outcome.failure() != null) {
        fail(outcome.failure().asException());
      } else {
        context.runOnContext(now -> answer.complete(outcome.reply()));
      }
    }

    void fail(Throwable error) {
      context.runOnContext(now -> answer.fail(error));
    }

    void expire() {
      fail(new Failure.TimedOut("The request waited too long.").asException());
    }
  }

  /** What is under way for one merchant, and what waits. */
  private static final class Line {
    private final Deque<Pending> waiting = new ArrayDeque<>();
    private int transactions;
    private int underWay;

    boolean isFree() {
      return transactions < TRANSACTIONS_MAX;
    }

    /** Half of all there are, so that the transactions are of a size. */
    int share() {
      return Math.max(SMALL, (waiting.size() + underWay + 1) / 2);
    }

    void begin(List<Pending> group) {
      transactions++;
      underWay += group.size();
    }

    void end(List<Pending> group) {
      transactions--;
      underWay -= group.size();
    }
  }

  private final int groupMax;
  private final DistributionSummary groups;
  private final Counter split;

  /** By merchant, there exactly while a transaction of its is under way; guarded by itself. */
  private final Map<UUID, Line> lines = new HashMap<>();

  CreationBuffer(int groupMax, MeterRegistry metrics) {
    this.groupMax = groupMax;
    this.groups =
        DistributionSummary.builder("steelyard.customer.group")
            .description("Customers created in one transaction")
            .register(metrics);
    this.split =
        Counter.builder("steelyard.customer.groups.split")
            .description("Groups that failed for one of them and were made one by one")
            .register(metrics);
  }

  /**
   * Answered, on {@code context}, once the customer and all that belongs to it are committed.
   *
   * @param context the caller's
   * @param transaction the caller's, usable until its last answer
   */
  Future<Reply> add(Context context, Transaction transaction, Call call, CustomerInput input) {
    Pending pending = new Pending(context, transaction, new Wish(call, input), Promise.promise());
    if (begins(pending)) {
      createThenNext(call.merchantId(), List.of(pending));
    }
    return pending.answer().future();
  }

  /** Whether it is to go at once; else it waits for the next transaction. */
  private boolean begins(Pending pending) {
    synchronized (lines) {
      Line line = lines.computeIfAbsent(pending.call().merchantId(), merchant -> new Line());
      if (line.isFree()) {
        line.begin(List.of(pending));
        return true;
      }
      line.waiting.add(pending);
      return false;
    }
  }

  private void createThenNext(UUID merchantId, List<Pending> group) {
    create(group)
        .onComplete(
            done -> {
              List<Pending> next = next(merchantId, group);
              if (!next.isEmpty()) {
                // an instance that is being closed has no part in it any more
                next.getFirst().context().runOnContext(now -> createThenNext(merchantId, next));
              }
            });
  }

  /** The group that follows one that is done; empty when nobody waits. */
  private List<Pending> next(UUID merchantId, List<Pending> done) {
    synchronized (lines) {
      Line line = lines.get(merchantId);
      line.end(done);
      List<Pending> group = take(line.waiting, Math.min(groupMax, line.share()));
      if (!group.isEmpty()) {
        line.begin(group);
      } else if (line.transactions == 0) {
        lines.remove(merchantId);
      }
      return group;
    }
  }

  private static List<Pending> take(Deque<Pending> waiting, int max) {
    List<Pending> taken = new ArrayList<>(max);
    while (taken.size() < max && !waiting.isEmpty()) {
      Pending pending = waiting.poll();
      if (pending.call().expired()) {
        pending.expire();
      } else {
        taken.add(pending);
      }
    }
    return taken;
  }

  /** Completes when every one of the group has its answer; never fails. */
  private Future<Void> create(List<Pending> group) {
    groups.record(group.size());
    return attempt(group)
        .transform(
            outcome -> {
              if (outcome.succeeded()) {
                answer(group, outcome.result());
                return Future.succeededFuture();
              }
              return failed(group, outcome.cause());
            });
  }

  private Future<List<Outcome>> attempt(List<Pending> group) {
    try {
      Pending first = group.getFirst();
      return first.transaction().create(group.stream().map(Pending::wish).toList());
    } catch (RuntimeException | Error e) { // whoever waits behind must have its turn
      return Future.failedFuture(e);
    }
  }

  private static void answer(List<Pending> group, List<Outcome> outcomes) {
    for (int i = 0; i < group.size(); i++) {
      group.get(i).end(outcomes.get(i));
    }
  }

  /** What one of them caused must not hit the others: they are made one by one, in their order. */
  private Future<Void> failed(List<Pending> group, Throwable error) {
    if (group.size() == 1 || !isUndoneByTheServer(error)) {
      group.forEach(pending -> pending.fail(error));
      return Future.succeededFuture();
    }
    split.increment();
    LOG.warn(
        "{} customers are made one by one, together they failed: {}",
        group.size(),
        error.getMessage());
    Future<Void> done = Future.succeededFuture();
    for (Pending pending : group) {
      done = done.compose(before -> createUnlessExpired(pending));
    }
    return done;
  }

  private Future<Void> createUnlessExpired(Pending pending) {
    if (pending.call().expired()) {
      pending.expire();
      return Future.succeededFuture();
    }
    return create(List.of(pending));
  }

  /** Where the connection was lost, nobody knows what became of the commit. */
  private static boolean isUndoneByTheServer(Throwable error) {
    return error instanceof PgException pg && !SqlFailures.of(pg).equals(Failure.databaseDown());
  }
}
