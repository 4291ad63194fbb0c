package io.steelyard.usage;

import io.steelyard.catalog.CatalogStore;
import io.steelyard.domain.Id;
import io.steelyard.domain.PlanTerms;
import io.steelyard.merchant.MerchantClock;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * The plans that the fold met lately. Prices and billables' rules never change, versions are only
 * added, so that an entry is good for every period that opened before it was loaded.
 */
final class PlanCache {
  private static final Duration AGE_MAX = Duration.ofSeconds(5);
  private static final int ENTRIES_MAX = 10_000;

  record Key(UUID merchantId, UUID planId) {
    static Key of(UsagePeriod period) {
      return new Key(period.merchantId(), period.planId());
    }
  }

  private record Entry(PlanTerms terms, Instant loadedAt) {}

  private final CatalogStore catalog;
  private final Supplier<Instant> systemNow;
  private final Map<Key, Entry> entries = new HashMap<>();
  private long generation;

  PlanCache(CatalogStore catalog, Supplier<Instant> systemNow) {
    this.catalog = catalog;
    this.systemNow = systemNow;
  }

  /** The catalogue of this merchant changed. */
  void forget(UUID merchantId) {
    generation++;
    entries.keySet().removeIf(key -> key.merchantId().equals(merchantId));
  }

  /** The plans of these periods, all of them. */
  Future<Map<Key, PlanTerms>> plansOf(SqlClient client, Collection<UsagePeriod> periods) {
    Instant now = systemNow.get();
    Map<Key, PlanTerms> known = new HashMap<>();
    Map<UUID, Set<UUID>> missing = new HashMap<>();
    for (UsagePeriod period : periods) {
      Key key = Key.of(period);
      Entry entry = entries.get(key);
      if (entry != null && isFresh(entry, period, now)) {
        known.put(key, entry.terms());
      } else {
        missing.computeIfAbsent(key.merchantId(), id -> new HashSet<>()).add(key.planId());
      }
    }
    Future<Map<Key, PlanTerms>> loaded = Future.succeededFuture(known);
    for (Map.Entry<UUID, Set<UUID>> plans : missing.entrySet()) {
      loaded =
          loaded.compose(so -> load(client, plans.getKey(), List.copyOf(plans.getValue()), so));
    }
    return loaded;
  }

  /** A frozen clock tells nothing about whether a version was added before or after the load. */
  private static boolean isFresh(Entry entry, UsagePeriod period, Instant now) {
    return !period.frozen()
        && now.isBefore(entry.loadedAt().plus(AGE_MAX))
        && period.openedAt().isBefore(entry.loadedAt().minus(MerchantClock.SKEW_MAX));
  }

  private Future<Map<Key, PlanTerms>> load(
      SqlClient client, UUID merchantId, List<UUID> planIds, Map<Key, PlanTerms> into) {
    Instant loadedAt = systemNow.get();
    long loadedIn = generation;
    return catalog
        .planTerms(client, merchantId, planIds)
        .map(
            plans -> {
              for (Map.Entry<Id, PlanTerms> plan : plans.entrySet()) {
                Key key = new Key(merchantId, plan.getKey().uuid());
                into.put(key, plan.getValue());
                remember(key, new Entry(plan.getValue(), loadedAt), loadedIn);
              }
              return into;
            });
  }

  private void remember(Key key, Entry entry, long loadedIn) {
    if (loadedIn != generation) {
      return; // the catalogue may have changed under the query
    }
    if (entries.size() >= ENTRIES_MAX) {
      entries.clear();
    }
    entries.put(key, entry);
  }
}
