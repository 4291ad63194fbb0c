package io.steelyard.integrity;

import io.steelyard.catalog.CatalogStore;
import io.steelyard.domain.BillableTerms;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.InvoiceBasis;
import io.steelyard.domain.InvoiceDrafting;
import io.steelyard.domain.InvoiceLine;
import io.steelyard.domain.PlanTerms;
import io.steelyard.domain.UsageTotal;
import io.steelyard.integrity.BilledStore.Closed;
import io.steelyard.integrity.BilledStore.Key;
import io.steelyard.integrity.IntegrityMessages.Check;
import io.vertx.core.Future;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Whether each closed period's usage was billed, once: what final invoices charge for it in all is
 * what its counters cost now.
 */
final class UsageBilling {
  private static final int PAGE = 200;

  private final Inspection inspection;
  private final BilledStore store = new BilledStore();
  private final CatalogStore catalog = new CatalogStore();
  private final Map<UUID, PlanTerms> plans = new HashMap<>();

  UsageBilling(Inspection inspection) {
    this.inspection = inspection;
  }

  Future<Void> check() {
    return next(new UUID(0, 0))
        .compose(
            done ->
                Rule.checkAll(inspection, List.of(BilledStore.TWO_LINES, BilledStore.WRONG_WAIT)));
  }

  private Future<Void> next(UUID after) {
    return inspection
        .goOn()
        .compose(
            go -> store.subscriptions(inspection.snapshot(), inspection.merchantId(), after, PAGE))
        .compose(
            subscriptions ->
                check(subscriptions)
                    .compose(
                        done ->
                            subscriptions.size() < PAGE
                                ? Future.succeededFuture()
                                : next(subscriptions.getLast())));
  }

  private Future<Void> check(List<UUID> subscriptions) {
    return store
        .periods(inspection.snapshot(), inspection.merchantId(), subscriptions)
        .compose(
            periods ->
                periods.isEmpty()
                    ? Future.succeededFuture()
                    : loadPlans(periods).compose(loaded -> compare(subscriptions, periods)));
  }

  private Future<Void> loadPlans(List<Closed> periods) {
    Set<UUID> missing = periods.stream().map(Closed::planId).collect(Collectors.toSet());
    missing.removeAll(plans.keySet());
    return catalog
        .planTerms(inspection.snapshot(), inspection.merchantId(), missing)
        .map(
            loaded -> {
              loaded.forEach((id, terms) -> plans.put(id.uuid(), terms));
              return null;
            });
  }

  private Future<Void> compare(List<UUID> subscriptions, List<Closed> periods) {
    UUID merchantId = inspection.merchantId();
    return store
        .counters(inspection.snapshot(), merchantId, subscriptions)
        .compose(
            counters ->
                store
                    .billed(inspection.snapshot(), merchantId, subscriptions)
                    .map(
                        billed -> {
                          periods.forEach(period -> compare(period, counters, billed));
                          return null;
                        }));
  }

  private void compare(Closed closed, Map<Key, UsageTotal> counters, Map<Key, BigDecimal> billed) {
    PlanTerms plan = plans.get(closed.planId());
    if (plan == null) {
      return; // told among the references
    }
    Map<UUID, BigDecimal> due = new HashMap<>();
    plan.prices().forEach(price -> due.put(price.id().uuid(), BigDecimal.ZERO));
    for (InvoiceLine line : linesDue(closed, plan, counters)) {
      due.put(line.price().id().uuid(), line.amount());
      inspection.checked(Check.USAGE, 1);
    }
    due.forEach(
        (price, amount) -> {
          BigDecimal is = billed.getOrDefault(closed.key(price), BigDecimal.ZERO);
          if (is.compareTo(amount) != 0) {
            inspection.found(
                Check.USAGE,
                new Id(IdKind.SUBSCRIPTION, closed.subscriptionId()),
                "period %d, %s: %s was billed, its usage costs %s"
                    .formatted(
                        closed.period().index(),
                        new Id(IdKind.PRICE, price),
                        is.toPlainString(),
                        amount.toPlainString()));
          }
        });
  }

  private static List<InvoiceLine> linesDue(
      Closed closed, PlanTerms plan, Map<Key, UsageTotal> counters) {
    if (!closed.isCharged()) {
      return List.of();
    }
    Map<Id, UsageTotal> usage = new HashMap<>();
    for (BillableTerms billable : plan.billables().values()) {
      UsageTotal total = counters.get(closed.key(billable.id().uuid()));
      if (total != null) {
        usage.put(billable.id(), total);
      }
    }
    return InvoiceDrafting.lines(
        new InvoiceBasis(
            plan,
            closed.cadence(),
            closed.chargeUsage(),
            null,
            new InvoiceBasis.Closed(closed.period(), closed.openedAt(), usage),
            List.of()));
  }
}
