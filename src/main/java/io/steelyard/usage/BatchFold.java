package io.steelyard.usage;

import io.steelyard.config.Config;
import io.steelyard.db.CustomerLocks;
import io.steelyard.usage.ClaimPace.Demand;
import io.steelyard.usage.EventContent.Element;
import io.steelyard.usage.UsageStore.Batch;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
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

  private final Config.Aggregation config;
  private final UsageStore store;
  private final ChunkStore chunks;
  private final Folding folding;
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
      AggregationMetrics metrics,
      Supplier<Instant> systemNow,
      IntConsumer counted) {
    this.config = config;
    this.store = store;
    this.chunks = new ChunkStore(systemNow);
    this.folding = folding;
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
    return pool.withTransaction(this::claimAndFold)
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
    return store
        .claimBatches(transaction, pace.limit(), pace.passedBy(systemNow.get()))
        .compose(
            claimed -> {
              List<Batch> taken = upToLimit(claimed);
              List<Batch.Ref> refs = taken.stream().map(Batch::ref).toList();
              pace.claimed(refs);
              if (taken.isEmpty()) {
                return Future.succeededFuture(new Folded(0, Demand.SAME, Map.of()));
              }
              return store
                  .events(transaction, refs)
                  .compose(elements -> countAndKeep(transaction, elements))
                  .compose(
                      unratable ->
                          store
                              .deleteBatches(transaction, refs)
                              .map(done -> folded(claimed, taken, unratable)));
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

  /** Kept behind the customers' locks, so that who opens a period sees all that was counted. */
  private Future<Map<String, Integer>> countAndKeep(
      SqlConnection transaction, List<Element> elements) {
    List<CustomerEvents> groups = CustomerEvents.of(elements);
    return fold(transaction, groups.stream().filter(group -> group.customerId() != null).toList())
        .compose(unratable -> chunks.save(transaction, groups).map(unratable));
  }

  private Future<Map<String, Integer>> fold(
      SqlConnection transaction, List<CustomerEvents> groups) {
    if (groups.isEmpty()) {
      return Future.succeededFuture(Map.of());
    }
    Set<UUID> customers = new HashSet<>();
    Set<UUID> merchants = new HashSet<>();
    List<StoredEvent> events = new ArrayList<>();
    Instant first = Instant.MAX;
    Instant last = Instant.MIN;
    for (CustomerEvents group : groups) {
      customers.add(group.customerId());
      merchants.add(group.merchantId());
      group.elements().forEach(element -> events.add(element.event()));
      first = group.first().isBefore(first) ? group.first() : first;
      last = group.last().isAfter(last) ? group.last() : last;
    }
    Instant from = first;
    Instant to = last;
    return CustomerLocks.lock(transaction, customers)
        .compose(locked -> store.readyPeriods(transaction, customers, merchants, from, to))
        .compose(periods -> folding.fold(transaction, events, periods));
  }
}
