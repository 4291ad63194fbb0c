package io.steelyard.customer;

import io.steelyard.catalog.CatalogMessages.PlanView;
import io.steelyard.catalog.CatalogStore;
import io.steelyard.catalog.Detail;
import io.steelyard.db.Transactions;
import io.steelyard.domain.Id;
import io.steelyard.domain.PlanTerms;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * What new customers are subscribed to: as the catalogue is in the transaction, of which its
 * version tells, not as it once was. Shared by all instances of a process.
 */
final class DefaultPlans {
  private static final int ENTRIES_MAX = 1000;

  /** An available plan. */
  record DefaultPlan(PlanTerms terms, PlanView view) {}

  private record Entry(CatalogStore.DefaultPlanRef ref, Optional<DefaultPlan> plan) {}

  private final CatalogStore catalog = new CatalogStore();
  private final Map<UUID, Entry> entries = new LinkedHashMap<>();

  /** Empty without a default plan, or when it is archived. */
  Future<Optional<DefaultPlan>> of(SqlConnection tx, UUID merchantId) {
    return catalog
        .defaultPlan(tx, merchantId)
        .compose(
            ref -> {
              Entry known = known(merchantId);
              if (known != null && known.ref().equals(ref)) {
                return Future.succeededFuture(known.plan());
              }
              return read(tx, merchantId, ref)
                  .onSuccess(plan -> keep(merchantId, new Entry(ref, plan)));
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
    Future<Map<Id, PlanTerms>> terms = catalog.planTerms(tx, merchantId, wanted);
    Future<Map<Id, PlanView>> views = catalog.planViews(tx, merchantId, wanted, Detail.PLAIN);
    return Transactions.pipelined(() -> terms, () -> views)
        .map(
            done ->
                Optional.ofNullable(terms.result().get(ref.planId()))
                    .filter(PlanTerms::available)
                    .map(plan -> new DefaultPlan(plan, views.result().get(ref.planId()))));
  }
}
