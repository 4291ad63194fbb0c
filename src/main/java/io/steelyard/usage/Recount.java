package io.steelyard.usage;

import io.steelyard.catalog.CatalogStore;
import io.steelyard.domain.BillingPeriod;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.PlanTerms;
import io.steelyard.domain.UsageTotal;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.usage.Fold.Unique;
import io.steelyard.usage.Matching.Hit;
import io.steelyard.usage.RecountStore.Chunks;
import io.steelyard.usage.RecountStore.Cursor;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Counts one merchant's stored events anew, as if none had been counted, and tells where the
 * counters say otherwise. All within one snapshot; what a page of customers needs is held at once:
 * their periods, a page of events, and the different values of what counts these. Periods of a plan
 * that the merchant does not have cannot be counted, nor those whose events were dropped in part;
 * they are left out.
 */
public final class Recount {
  private static final int CUSTOMERS_MAX = 100;
  private static final int PAGE_BYTES_MAX = 1 << 26;
  private static final int PAGE_CHUNKS_MAX = 500;
  private static final Duration CHUNK_SPAN_MAX = Duration.ofDays(1);

  /** A counter that is wrong, with what it should be. */
  public record Difference(Id subscriptionId, int periodIndex, String detail) {}

  /**
   * What was recounted for some customers.
   *
   * @param lastCustomerId where to go on; null when there are no more customers
   * @param counters how many were compared, also those that are not there and need not be
   */
  public record Page(UUID lastCustomerId, int counters, List<Difference> differences) {
    public Page {
      differences = List.copyOf(differences);
    }
  }

  private static final class Tallies {
    private final Map<Meter.Ref, UsageTotal.Tally> tallies = new HashMap<>();
    private final Set<Unique> seen = new HashSet<>();

    private void add(Hit hit) {
      Meter.Ref ref = hit.meter().ref();
      boolean first = hit.valueHash() != null && seen.add(new Unique(ref, hit.valueHash()));
      hit.addTo(
          tallies.computeIfAbsent(ref, meter -> new UsageTotal.Tally(UsageTotal.NONE)), first);
    }

    private UsageTotal total(Meter.Ref ref) {
      UsageTotal.Tally tally = tallies.get(ref);
      return tally == null ? UsageTotal.NONE : tally.total();
    }
  }

  private final UUID merchantId;
  private final int pageChunksMax;
  private final UsageStore usage;
  private final RecountStore store = new RecountStore();
  private final CounterStore counters = new CounterStore();
  private final CatalogStore catalog = new CatalogStore();
  private final RetentionStore retention = new RetentionStore();
  private final Map<UUID, PlanTerms> plans = new HashMap<>();

  /**
   * @param eventBytesMax of one event: a page holds no more of them than it has bytes for
   */
  public Recount(UUID merchantId, MerchantClock clock, int eventBytesMax) {
    this.merchantId = merchantId;
    this.pageChunksMax = Math.clamp(PAGE_BYTES_MAX / eventBytesMax, 1, PAGE_CHUNKS_MAX);
    this.usage = new UsageStore(clock);
  }

  /**
   * Recounts the next customers' periods.
   *
   * @param afterCustomerId null for the first page
   */
  public Future<Page> next(SqlConnection snapshot, UUID afterCustomerId) {
    UUID after = afterCustomerId == null ? new UUID(0, 0) : afterCustomerId;
    return store
        .customers(snapshot, merchantId, after, CUSTOMERS_MAX)
        .compose(
            customers ->
                customers.isEmpty()
                    ? Future.succeededFuture(new Page(null, 0, List.of()))
                    : recount(snapshot, customers)
                        .map(
                            page ->
                                customers.size() < CUSTOMERS_MAX
                                    ? page
                                    : new Page(
                                        customers.getLast(), page.counters(), page.differences())));
  }

  private Future<Page> recount(SqlConnection snapshot, List<UUID> customers) {
    return usage
        .readyPeriods(
            snapshot, customers, List.of(merchantId), Instant.EPOCH, BillingPeriod.END_OF_TIME)
        .compose(periods -> countable(snapshot, periods))
        .compose(periods -> meters(snapshot, periods))
        .compose(
            meters -> {
              Tallies tallies = new Tallies();
              return read(snapshot, meters, cursors(meters), tallies)
                  .compose(
                      done -> counters.counters(snapshot, meters.stream().map(Meter::ref).toList()))
                  .map(
                      stored ->
                          new Page(null, meters.size(), differences(meters, tallies, stored)));
            });
  }

  private Future<List<UsagePeriod>> countable(SqlConnection snapshot, List<UsagePeriod> periods) {
    return retention
        .dropped(snapshot)
        .map(dropped -> periods.stream().filter(period -> !dropped.hide(period)).toList());
  }

  private Future<List<Meter>> meters(SqlConnection snapshot, List<UsagePeriod> periods) {
    Set<UUID> missing = periods.stream().map(UsagePeriod::planId).collect(Collectors.toSet());
    missing.removeAll(plans.keySet());
    return catalog
        .planTerms(snapshot, merchantId, missing)
        .map(
            loaded -> {
              loaded.forEach((id, terms) -> plans.put(id.uuid(), terms));
              return periods.stream()
                  .filter(period -> plans.containsKey(period.planId()))
                  .flatMap(period -> Meter.of(period, plans.get(period.planId())).stream())
                  .toList();
            });
  }

  /** From the customer's first period to the last instant that is ready. */
  private static List<Cursor> cursors(List<Meter> meters) {
    Map<UUID, Cursor> cursors = new LinkedHashMap<>();
    for (Meter meter : meters) {
      UsagePeriod period = meter.period();
      cursors.merge(
          period.customerId(),
          new Cursor(
              period.customerId(), period.countsFrom().minus(CHUNK_SPAN_MAX), period.countsUntil()),
          Recount::spanning);
    }
    return List.copyOf(cursors.values());
  }

  private static Cursor spanning(Cursor one, Cursor other) {
    return new Cursor(
        one.customerId(),
        Collections.min(List.of(one.after(), other.after())),
        Collections.max(List.of(one.until(), other.until())));
  }

  private Future<Void> read(
      SqlConnection snapshot, List<Meter> meters, List<Cursor> cursors, Tallies tallies) {
    if (cursors.isEmpty()) {
      return Future.succeededFuture();
    }
    int each = Math.max(1, pageChunksMax / cursors.size());
    return store
        .chunks(snapshot, merchantId, cursors, each)
        .compose(
            chunks -> {
              List<StoredEvent> page =
                  chunks.values().stream().flatMap(some -> some.events().stream()).toList();
              Matching.of(page, meters).hits().forEach(tallies::add);
              return read(snapshot, meters, unfinished(cursors, chunks, each), tallies);
            });
  }

  private static List<Cursor> unfinished(List<Cursor> cursors, Map<UUID, Chunks> chunks, int each) {
    List<Cursor> unfinished = new ArrayList<>();
    for (Cursor cursor : cursors) {
      Chunks read = chunks.get(cursor.customerId());
      if (read != null && read.count() >= each) {
        unfinished.add(new Cursor(cursor.customerId(), read.last(), cursor.until()));
      }
    }
    return unfinished;
  }

  private static List<Difference> differences(
      Collection<Meter> meters, Tallies recounted, Map<Meter.Ref, UsageTotal> stored) {
    List<Difference> differences = new ArrayList<>();
    for (Meter meter : meters) {
      UsageTotal is = stored.getOrDefault(meter.ref(), UsageTotal.NONE);
      UsageTotal due = recounted.total(meter.ref());
      String how = difference(is, due);
      if (!how.isEmpty()) {
        differences.add(
            new Difference(
                new Id(IdKind.SUBSCRIPTION, meter.period().subscriptionId()),
                meter.period().index(),
                "period %d, %s: %s".formatted(meter.period().index(), meter.billable().id(), how)));
      }
    }
    return differences;
  }

  /** Each part that differs, as it is and as it should be; empty when none does. */
  private static String difference(UsageTotal is, UsageTotal due) {
    List<String> parts = new ArrayList<>();
    compare(parts, "events", is.events(), due.events());
    compare(parts, "sum", is.sum(), due.sum());
    compare(parts, "min", is.min(), due.min());
    compare(parts, "max", is.max(), due.max());
    compare(parts, "latest", is.latest(), due.latest());
    compare(parts, "latest at", is.latestAt(), due.latestAt());
    compare(parts, "uniques", is.uniques(), due.uniques());
    return String.join("; ", parts);
  }

  private static <T extends Comparable<T>> void compare(
      List<String> parts, String name, T is, T due) {
    boolean same = is == null || due == null ? Objects.equals(is, due) : is.compareTo(due) == 0;
    if (!same) {
      parts.add("%s is %s, by its events %s".formatted(name, is, due));
    }
  }
}
