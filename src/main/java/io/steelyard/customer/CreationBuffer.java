package io.steelyard.customer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.customer.CustomerMessages.CreatedCustomer;
import io.steelyard.customer.CustomerMessages.CustomerInput;
import io.steelyard.db.SqlFailures;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.pgclient.PgException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Group commit: creations of one merchant that come while a transaction of others is under way go
 * together into the next, since a merchant's invoice numbers let through one transaction at a time.
 * There is no delay: a lonely one goes at once. Belongs to one event loop; what waits is bounded by
 * what the verticle lets in.
 */
final class CreationBuffer {
  private static final Logger LOG = LoggerFactory.getLogger(CreationBuffer.class);

  /** Makes a group of one merchant's customers. */
  interface Transaction {
    /**
     * All that commits together, in the order given; empty for one whose externalId is taken, in
     * the database or by one before it.
     */
    Future<List<Optional<CreatedCustomer>>> create(Call call, List<CustomerInput> inputs);
  }

  private record Pending(Call call, CustomerInput input, Promise<CreatedCustomer> answer) {}

  private final int groupMax;
  private final Transaction transaction;
  private final DistributionSummary groups;
  private final Counter split;

  /** By merchant, there exactly while a transaction of its is under way. */
  private final Map<UUID, Deque<Pending>> waiting = new HashMap<>();

  CreationBuffer(int groupMax, Transaction transaction, MeterRegistry metrics) {
    this.groupMax = groupMax;
    this.transaction = transaction;
    this.groups =
        DistributionSummary.builder("steelyard.customer.group")
            .description("Customers created in one transaction")
            .register(metrics);
    this.split =
        Counter.builder("steelyard.customer.groups.split")
            .description("Groups that failed for one of them and were made one by one")
            .register(metrics);
  }

  /** Answered once the customer and all that belongs to it are committed. */
  Future<CreatedCustomer> add(Call call, CustomerInput input) {
    Pending pending = new Pending(call, input, Promise.promise());
    Deque<Pending> others = waiting.get(call.merchantId());
    if (others == null) {
      waiting.put(call.merchantId(), new ArrayDeque<>());
      createThenNext(call.merchantId(), List.of(pending));
    } else {
      others.add(pending);
    }
    return pending.answer().future();
  }

  private void createThenNext(UUID merchantId, List<Pending> group) {
    create(group)
        .onComplete(
            done -> {
              List<Pending> next = takeWaiting(merchantId);
              if (next.isEmpty()) {
                waiting.remove(merchantId);
              } else {
                createThenNext(merchantId, next);
              }
            });
  }

  private List<Pending> takeWaiting(UUID merchantId) {
    Deque<Pending> others = waiting.get(merchantId);
    List<Pending> taken = new ArrayList<>(Math.min(groupMax, others.size()));
    while (taken.size() < groupMax && !others.isEmpty()) {
      Pending pending = others.poll();
      if (pending.call().expired()) {
        expire(pending);
      } else {
        taken.add(pending);
      }
    }
    return taken;
  }

  private static void expire(Pending pending) {
    pending.answer().fail(new Failure.TimedOut("The request waited too long.").asException());
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

  private Future<List<Optional<CreatedCustomer>>> attempt(List<Pending> group) {
    try {
      return transaction.create(
          group.getFirst().call(), group.stream().map(Pending::input).toList());
    } catch (RuntimeException | Error e) { // whoever waits behind must have its turn
      return Future.failedFuture(e);
    }
  }

  private static void answer(List<Pending> group, List<Optional<CreatedCustomer>> outcomes) {
    for (int i = 0; i < group.size(); i++) {
      Promise<CreatedCustomer> answer = group.get(i).answer();
      outcomes
          .get(i)
          .ifPresentOrElse(
              answer::complete,
              () -> answer.fail(new FailureException(SqlFailures.EXTERNAL_ID_TAKEN)));
    }
  }

  /** What one of them caused must not hit the others: they are made one by one, in their order. */
  private Future<Void> failed(List<Pending> group, Throwable error) {
    if (group.size() == 1 || !isUndoneByTheServer(error)) {
      group.forEach(pending -> pending.answer().fail(error));
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
      expire(pending);
      return Future.succeededFuture();
    }
    return create(List.of(pending));
  }

  /** Where the connection was lost, nobody knows what became of the commit. */
  private static boolean isUndoneByTheServer(Throwable error) {
    return error instanceof PgException pg && !SqlFailures.of(pg).equals(Failure.databaseDown());
  }
}
