package io.steelyard.usage;

import io.steelyard.config.Config;
import io.steelyard.db.CustomerLocks;
import io.steelyard.db.Transactions;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.usage.BatchStore.Batch;
import io.steelyard.usage.ClaimPace.Demand;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/** Folds the batches that ingestion stored: each is deleted in the transaction that counts it. */
final class BatchFold implements AggregationJob {
  private static final int FIRST_ROWS = 8;
  private static final int ROWS_MAX = 4096;

  /** After that, what another process holds is counted by whoever comes. */
  private static final Duration LEFT_TO_HOLDER = Duration.ofSeconds(5);

  private final Config.Aggregation config;
  private final BatchStore batches = new BatchStore();
  private final EarlyUsageStore early = new EarlyUsageStore();
  private final UsageStore store;
  private final ChunkStore chunks;
  private final Folding folding;
  private final HeldEvents held;
  private final FoldBacklog backlog;
  private final AggregationMetrics metrics;
  private final Supplier<Instant> systemNow;
  private final IntConsumer counted;
  private final ClaimPace<Batch.Ref> pace = new ClaimPace<>(FIRST_ROWS, ROWS_MAX);

  private record Folded(int events, Demand demand, Map<String, Integer> unratable) {}

  /**
   * @param counted is told how many events each claim counted, once that is committed
   */
  BatchFold(
      Config.Aggregation config,
      UsageStore store,
      Folding folding,
      HeldEvents held,
      FoldBacklog backlog,
      AggregationMetrics metrics,
      Supplier<Instant> systemNow,
      IntConsumer counted) {
    this.config = config;
    this.store = store;
    this.chunks = new ChunkStore(systemNow);
    this.folding = folding;
    this.held = held;
    this.backlog = backlog;
    this.metrics = metrics;
    this.systemNow = systemNow;
    this.counted = counted;
  }

  @Override
  public ClaimPace<?> pace() {
    return pace;
  }

  @Override
  public Future<Boolean> runOnce(Pool pool) {
    pace.begin();
    return Transactions.run(pool, this::claimAndFold)
        .map(
            folded -> {
              if (folded.events() == 0) {
                return false;
              }
              pace.succeeded(folded.demand());
              metrics.folded(folded.events(), folded.unratable());
              counted.accept(folded.events());
              return true;
            });
  }

  private Future<Folded> claimAndFold(SqlConnection transaction) {
    Instant now = systemNow.get();
    return batches
        .claim(
            transaction,
            pace.limit(),
            pace.passedBy(now),
            backlog.othersCounting(),
            now.minus(LEFT_TO_HOLDER),
            now.plus(MerchantClock.SKEW_MAX))
        .compose(
            claimed -> {
              List<Batch> taken = upToLimit(claimed);
              List<Batch.Ref> refs = taken.stream().map(Batch::ref).toList();
              pace.claimed(refs);
              if (taken.isEmpty()) {
                return Future.succeededFuture(new Folded(0, Demand.SAME, Map.of()));
              }
              return events(transaction, taken)
                  .compose(events -> countAndKeep(transaction, events, refs))
                  .map(unratable -> folded(claimed, taken, unratable));
            });
  }

  /** Those that this process stored are at hand, as a rule. */
  private Future<List<StoredEvent>> events(SqlConnection transaction, List<Batch> taken) {
    List<StoredEvent> events = new ArrayList<>();
    return batches
        .events(transaction, held.take(taken, events))
        .map(
            read -> {
              events.addAll(read);
              return events;
            });
  }

  /** At least one; those left over stay locked until this transaction ends, no longer. */
  private List<Batch> upToLimit(List<Batch> claimed) {
    List<Batch> taken = new ArrayList<>();
    long events = 0;
    long bytes = 0;
    for (Batch batch : claimed) {
      events += batch.events();
      bytes += batch.bytes();
      boolean full = events > config.claimEventsMax() || bytes > config.claimBytesMax();
      if (full && !taken.isEmpty()) {
        return taken;
      }
      taken.add(batch);
    }
    return taken;
  }

  private Folded folded(List<Batch> claimed, List<Batch> taken, Map<String, Integer> unratable) {
    int events = taken.stream().mapToInt(Batch::events).sum();
    long bytes = taken.stream().mapToLong(Batch::bytes).sum();
    boolean mightTakeMore =
        events < config.claimEventsMax() / 2 && bytes < config.claimBytesMax() / 2;
    Demand demand = Demand.SAME;
    if (taken.size() < claimed.size()) {
      demand = Demand.FEWER;
    } else if (claimed.size() == pace.limit() && mightTakeMore) {
      demand = Demand.MORE;
    }
    return new Folded(events, demand, unratable);
  }

  /**
   * Kept behind the customers' locks, so that who opens a period sees all that was counted; and at
   * once behind them, so that the database writes while this thread counts.
   */
  private Future<Map<String, Integer>> countAndKeep(
      SqlConnection transaction, List<StoredEvent> taken, List<Batch.Ref> refs) {
    List<CustomerEvents> groups = CustomerEvents.of(taken);
    Supplier<Future<?>> keep =
        () ->
            Transactions.pipelined(
                () -> chunks.save(transaction, groups), () -> batches.delete(transaction, refs));
    List<CustomerEvents> ofCustomers =
        groups.stream().filter(group -> group.customerId() != null).toList();
    return ofCustomers.isEmpty() ? keep.get().map(Map.of()) : fold(transaction, ofCustomers, keep);
  }

  private Future<Map<String, Integer>> fold(
      SqlConnection transaction, List<CustomerEvents> groups, Supplier<Future<?>> keep) {
    Set<UUID> customers = new HashSet<>();
    Set<UUID> merchants = new HashSet<>();
    List<StoredEvent> events = new ArrayList<>();
    long first = Long.MAX_VALUE;
    long last = Long.MIN_VALUE;
    for (CustomerEvents group : groups) {
      customers.add(group.customerId());
      merchants.add(group.merchantId());
      events.addAll(group.events());
      first = Math.min(first, group.first().atMillis());
      last = Math.max(last, group.last().atMillis());
    }
    Instant from = Instant.ofEpochMilli(first);
    Instant to = Instant.ofEpochMilli(last);
    return CustomerLocks.lock(transaction, customers)
        .compose(locked -> store.readyPeriods(transaction, customers, merchants, from, to))
        .compose(periods -> early.holdBack(transaction, groups, periods))
        .compose(
            periods -> {
              Promise<Map<String, Integer>> unratable = Promise.promise();
              return Transactions.pipelined(
                      keep, () -> folding.fold(transaction, events, periods).onComplete(unratable))
                  .compose(done -> unratable.future());
            });
  }
}
