package io.steelyard.billing;

import io.steelyard.bus.Call;
import io.steelyard.domain.BillingPeriod;
import io.steelyard.domain.Id;
import io.steelyard.domain.InvoiceBasis.Closed;
import io.steelyard.domain.InvoiceBasis.Opened;
import io.steelyard.domain.InvoiceBasis.Rebilled;
import io.steelyard.domain.PeriodKey;
import io.steelyard.domain.UsageTotal;
import io.steelyard.invoice.RebillStore;
import io.steelyard.subscription.PeriodStore.StoredPeriod;
import io.steelyard.subscription.Subscription;
import io.steelyard.usage.TotalsStore;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import java.math.BigDecimal;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Loads what invoices are drafted from: the usage of closed periods and what is to be corrected.
 */
final class BasisLoader {
  private final TotalsStore totals = new TotalsStore();
  private final RebillStore rebills = new RebillStore();

  /**
   * An invoice to be drafted.
   *
   * @param closed the period that ends at its boundary; null for none
   * @param invoice itself, when it is there already; else null
   */
  record Wanted(Subscription subscription, StoredPeriod closed, Id invoice) {}

  /**
   * @param closed null for none
   */
  record Loaded(Closed closed, List<Rebilled> rebilled) {}

  private record Facts(
      List<RebillStore.Due> due,
      Map<PeriodKey, Map<Id, UsageTotal>> totals,
      Map<PeriodKey, Map<Id, BigDecimal>> billed) {}

  /** By subscription, of which each may be wanted once. */
  Future<Map<Id, Loaded>> load(SqlClient tx, Call call, List<Wanted> wanted) {
    List<Id> subscriptions = wanted.stream().map(each -> each.subscription().id()).toList();
    List<Id> invoices = wanted.stream().map(Wanted::invoice).filter(each -> each != null).toList();
    return rebills
        .due(tx, call.merchantId(), subscriptions, invoices)
        .compose(due -> load(tx, call, wanted, due, invoices));
  }

  /** As {@link #load}, for an invoice that is yet to be made after those on their way. */
  Future<Loaded> loadUpcoming(SqlClient tx, Call call, Wanted wanted) {
    Id subscription = wanted.subscription().id();
    return rebills
        .dueLater(tx, call.merchantId(), List.of(subscription))
        .compose(due -> load(tx, call, List.of(wanted), due, List.of()))
        .map(loaded -> loaded.get(subscription));
  }

  private Future<Map<Id, Loaded>> load(
      SqlClient tx, Call call, List<Wanted> wanted, List<RebillStore.Due> due, List<Id> invoices) {
    return totals
        .totals(tx, call.merchantId(), periods(wanted, due))
        .compose(
            totals ->
                rebills
                    .billed(tx, call.merchantId(), keys(due), invoices)
                    .map(billed -> new Facts(due, totals, billed)))
        .map(facts -> assemble(wanted, facts, call.merchant().zone()));
  }

  private static Set<PeriodKey> periods(List<Wanted> wanted, List<RebillStore.Due> due) {
    Set<PeriodKey> periods = new LinkedHashSet<>(keys(due));
    for (Wanted each : wanted) {
      if (each.closed() != null) {
        periods.add(key(each.closed()));
      }
    }
    return periods;
  }

  private static List<PeriodKey> keys(List<RebillStore.Due> due) {
    return due.stream()
        .map(each -> new PeriodKey(each.subscriptionId(), each.periodIndex()))
        .toList();
  }

  private static PeriodKey key(StoredPeriod period) {
    return new PeriodKey(period.subscriptionId(), period.period().index());
  }

  private static Map<Id, Loaded> assemble(List<Wanted> wanted, Facts facts, ZoneId zone) {
    Map<Id, List<RebillStore.Due>> dueBySubscription = new HashMap<>();
    for (RebillStore.Due due : facts.due()) {
      dueBySubscription.computeIfAbsent(due.subscriptionId(), id -> new ArrayList<>()).add(due);
    }
    Map<Id, Loaded> loaded = new HashMap<>();
    for (Wanted each : wanted) {
      Id id = each.subscription().id();
      List<Rebilled> rebilled =
          dueBySubscription.getOrDefault(id, List.of()).stream()
              .filter(due -> isBefore(due, each.closed()))
              .map(due -> rebilled(each, due, facts, zone))
              .toList();
      loaded.put(id, new Loaded(closed(each, facts), rebilled));
    }
    return loaded;
  }

  /** A pending invoice does not correct the period that begins at its own boundary. */
  private static boolean isBefore(RebillStore.Due due, StoredPeriod closed) {
    return closed == null || due.periodIndex() <= closed.period().index();
  }

  private static Closed closed(Wanted wanted, Facts facts) {
    StoredPeriod closed = wanted.closed();
    return closed == null
        ? null
        : new Closed(
            closed.period(), closed.pricedAt(), facts.totals().getOrDefault(key(closed), Map.of()));
  }

  private static Rebilled rebilled(Wanted wanted, RebillStore.Due due, Facts facts, ZoneId zone) {
    Subscription subscription = wanted.subscription();
    PeriodKey key = new PeriodKey(due.subscriptionId(), due.periodIndex());
    BillingPeriod full = subscription.schedule(zone).period(due.periodIndex());
    BillingPeriod clipped =
        new BillingPeriod(due.periodIndex(), due.start(), due.end(), due.trial());
    // The usage of the period that ends at the boundary has lines there anyway.
    boolean isClosedNow =
        wanted.closed() != null && wanted.closed().period().index() == due.periodIndex();
    boolean invoiced = subscription.invoices(clipped);
    return new Rebilled(
        new Opened(full, clipped, due.openedAt()),
        facts.totals().getOrDefault(key, Map.of()),
        due.usage() && invoiced && !isClosedNow,
        due.fixed() && invoiced,
        facts.billed().getOrDefault(key, Map.of()));
  }
}
