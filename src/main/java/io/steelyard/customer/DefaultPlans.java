package io.steelyard.customer;

import io.steelyard.catalog.CatalogMessages.PlanView;
import io.steelyard.catalog.CatalogStore;
import io.steelyard.catalog.Detail;
import io.steelyard.domain.Id;
import io.steelyard.domain.PlanTerms;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * What new customers are subscribed to: as the catalogue is in the transaction, of which its
 * version tells, not as it once was. Used by several threads.
 */
final class DefaultPlans {
  private static final int ENTRIES_MAX = 1000;

  /** For how long a version is trusted that an older release beside this one may not raise. */
  private static final Duration AGE_MAX = Duration.ofSeconds(5);

  /** An available plan. */
  record DefaultPlan(PlanTerms terms, PlanView view) {}

  private record Entry(
      CatalogStore.DefaultPlanRef ref, Instant readAt, Optional<DefaultPlan> plan) {}

  private final CatalogStore catalog = new CatalogStore();
  private final Map<UUID, Entry> entries = new LinkedHashMap<>();

  /** Empty without a default plan, or when it is archived. */
  Future<Optional<DefaultPlan>> of(SqlConnection tx, UUID merchantId, Instant systemNow) {
    return catalog
        .defaultPlan(tx, merchantId)
        .compose(
            ref -> {
              Entry known = known(merchantId);
              if (known != null
                  && known.ref().equals(ref)
                  && systemNow.isBefore(known.readAt().plus(AGE_MAX))) {
                return Future.succeededFuture(known.plan());
              }
              return read(tx, merchantId, ref)
                  .onSuccess(plan -> keep(merchantId, new Entry(ref, systemNow, plan)));
            });
  }

  private synchronized Entry known(UUID merchantId) {
    return entries.get(merchantId);
  }

  private synchronized void keep(UUID merchantId, Entry entry) {
    entries.remove(merchantId);
    entries.put(merchantId, entry);
    if (entries.size() > ENTRIES_MAX) {
      entries.remove(entries.keySet().iterator().next());
    }
  }

  private Future<Optional<DefaultPlan>> read(
      SqlConnection tx, UUID merchantId, CatalogStore.DefaultPlanRef ref) {
    if (ref.planId() == null) {
      return Future.succeededFuture(Optional.empty());
    }
    List<UUID> wanted = List.of(ref.planId().uuid());
    // both are sent at once
    return Future.all(
            catalog.planTerms(tx, merchantId, wanted),
            catalog.planViews(tx, merchantId, wanted, Detail.PLAIN))
        .map(
            both -> {
              Map<Id, PlanTerms> terms = both.resultAt(0);
              Map<Id, PlanView> views = both.resultAt(1);
              return Optional.ofNullable(terms.get(ref.planId()))
                  .filter(PlanTerms::available)
                  .map(available -> new DefaultPlan(available, views.get(ref.planId())));
            });
  }
}
