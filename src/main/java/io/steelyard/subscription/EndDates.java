package io.steelyard.subscription;

import io.steelyard.bus.Call;
import io.steelyard.catalog.CatalogStore;
import io.steelyard.credit.CreditStore;
import io.steelyard.db.CustomerLocks;
import io.steelyard.domain.BillingPeriod;
import io.steelyard.domain.Id;
import io.steelyard.domain.PeriodKey;
import io.steelyard.domain.PlanTerms;
import io.steelyard.invoice.RebillStore;
import io.steelyard.subscription.SubscriptionMessages.SubscriptionView;
import io.steelyard.usage.TotalsStore;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.UUID;

/**
 * Gives active subscriptions an end date and takes it away, with all that hangs on it: the open
 * period, the units, the access, and when the clockwork must act. Rows are written in the order in
 * which the fold locks them: periods, then units, then access.
 */
final class EndDates {
  private final CatalogStore catalog;
  private final SubscriptionStore subscriptions = new SubscriptionStore();
  private final PeriodStore periods = new PeriodStore();
  private final AccessStore access = new AccessStore();
  private final CreditStore credits = new CreditStore();
  private final RebillStore rebills = new RebillStore();
  private final TotalsStore totals = new TotalsStore();

  EndDates(CatalogStore catalog) {
    this.catalog = catalog;
  }

  /** Lets it end with its current period, if it does not end before. */
  Future<SubscriptionView> endWithPeriod(
      SqlConnection tx, Call call, Subscription found, Instant now) {
    Instant own = found.view().endDate();
    Instant end = currentPeriodEnd(found, now, call.merchant().zone());
    if (own != null && !end.isBefore(own)) {
      return Future.succeededFuture(found.view());
    }
    UUID merchantId = call.merchantId();
    Instant due = found.dueAt() == null || end.isBefore(found.dueAt()) ? end : found.dueAt();
    return subscriptions
        .setEnd(tx, merchantId, found.id(), end, due, now)
        .compose(done -> cut(tx, merchantId, found, end))
        .compose(
            done ->
                end.equals(now)
                    ? Future.succeededFuture() // what was allocated stays the customer's
                    : credits.clip(tx, merchantId, found.id(), end))
        .compose(done -> access.setEnd(tx, merchantId, found.id(), end, now))
        .map(done -> found.view().withEnd(end, now));
  }

  /**
   * Ends the open period early, with what it has counted. Its row is locked before its customer, as
   * a backfill does.
   */
  private Future<Void> cut(SqlConnection tx, UUID merchantId, Subscription found, Instant end) {
    return periods
        .lockOverlong(tx, merchantId, found.id(), end)
        .compose(
            overlong ->
                overlong
                    .map(period -> cut(tx, merchantId, found, period, end))
                    .orElseGet(Future::succeededFuture));
  }

  private Future<Void> cut(
      SqlConnection tx, UUID merchantId, Subscription found, PeriodKey period, Instant end) {
    return CustomerLocks.lock(tx, List.of(found.view().customerId().uuid()))
        .compose(locked -> periods.cut(tx, merchantId, period, end))
        .compose(
            recount -> recount ? totals.forget(tx, merchantId, period) : Future.succeededFuture());
  }

  /** The one open period of a oneTime subscription has no end: cancelling it ends it now. */
  private static Instant currentPeriodEnd(Subscription found, Instant now, ZoneId zone) {
    Instant start = found.view().startDate();
    BillingPeriod current = found.schedule(zone).containing(now.isBefore(start) ? start : now);
    if (!current.end().equals(BillingPeriod.END_OF_TIME)) {
      return current.end();
    }
    return now.isAfter(current.start()) ? now : current.start().plusMillis(1);
  }

  /** Takes the end date away. What it has cut off the open period comes back, and is billed. */
  Future<SubscriptionView> remove(SqlConnection tx, Call call, Subscription found, Instant now) {
    UUID merchantId = call.merchantId();
    if (found.periodIndex() == null) { // it has not begun, so that nothing hangs on the end yet
      return subscriptions
          .setEnd(tx, merchantId, found.id(), null, found.dueAt(), now)
          .map(done -> found.view().withEnd(null, now));
    }
    Id planId = found.view().planId();
    return catalog
        .planTerms(tx, merchantId, List.of(planId.uuid()))
        .compose(
            plans ->
                periods
                    .openedAt(tx, merchantId, found.id(), found.periodIndex())
                    .compose(
                        pricedAt ->
                            remove(tx, call, found, new Terms(plans.get(planId), pricedAt), now)));
  }

  private record Terms(PlanTerms plan, Instant pricedAt) {}

  private Future<SubscriptionView> remove(
      SqlConnection tx, Call call, Subscription found, Terms terms, Instant now) {
    UUID merchantId = call.merchantId();
    ZoneId zone = call.merchant().zone();
    Instant cut = found.view().endDate();
    Subscription endless =
        new Subscription(
            found.view().withEnd(null, now),
            found.trialEnd(),
            found.invoiceGenerationStartDate(),
            found.dueAt(),
            found.periodIndex());
    Allocations allocations = new Allocations(endless, terms.plan(), terms.pricedAt(), zone);
    BillingPeriod open = found.schedule(zone).period(found.periodIndex());
    boolean inOpenPeriod = open.contains(cut);
    Instant due =
        inOpenPeriod && cut.equals(found.dueAt())
            ? allocations.nextDue(cut.minusMillis(1), open)
            : found.dueAt();
    return subscriptions
        .setEnd(tx, merchantId, found.id(), null, due, now)
        .compose(
            done ->
                inOpenPeriod
                    ? giveBack(tx, merchantId, found, cut, open.end(), now)
                    : Future.succeededFuture())
        .compose(done -> credits.clippedAt(tx, merchantId, found.id(), cut))
        .compose(
            clipped ->
                credits.extend(
                    tx, merchantId, clipped.stream().map(allocations::naturalEnd).toList()))
        .compose(done -> access.setEnd(tx, merchantId, found.id(), null, now))
        .map(done -> endless.view());
  }

  private Future<Void> giveBack(
      SqlConnection tx,
      UUID merchantId,
      Subscription found,
      Instant cut,
      Instant end,
      Instant now) {
    PeriodKey period = new PeriodKey(found.id(), found.periodIndex());
    return periods
        .extend(tx, merchantId, found.id(), cut, end)
        .compose(done -> rebills.requestFixed(tx, merchantId, period, now));
  }
}
