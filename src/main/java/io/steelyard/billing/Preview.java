package io.steelyard.billing;

import io.steelyard.billing.BasisLoader.Wanted;
import io.steelyard.billing.BillingMessages.UpcomingInvoice;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.catalog.CatalogStore;
import io.steelyard.db.Transactions;
import io.steelyard.domain.BillingPeriod;
import io.steelyard.domain.Id;
import io.steelyard.domain.InvoiceBasis;
import io.steelyard.domain.InvoiceBasis.Opened;
import io.steelyard.domain.InvoiceDrafting;
import io.steelyard.domain.InvoiceLine;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.domain.PlanTerms;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.invoice.DraftLines;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.subscription.PeriodStore;
import io.steelyard.subscription.PeriodStore.StoredPeriod;
import io.steelyard.subscription.Subscription;
import io.steelyard.subscription.SubscriptionMessages.SubscriptionView;
import io.steelyard.subscription.SubscriptionStore;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;

/** Drafts a subscription's next invoice from what the real one would be drafted from. */
final class Preview {
  private final MerchantClock clock;
  private final SubscriptionStore subscriptions = new SubscriptionStore();
  private final PeriodStore periods = new PeriodStore();
  private final CatalogStore catalog = new CatalogStore();
  private final BasisLoader basis = new BasisLoader();
  private final DraftLines lines = new DraftLines();

  Preview(MerchantClock clock) {
    this.clock = clock;
  }

  /**
   * @throws FailureException (in the Future) not found for an unknown subscription, and for one
   *     without a further invoice
   */
  Future<UpcomingInvoice> of(Pool pool, Call call, String subscriptionId) {
    return Transactions.run(
        pool,
        tx ->
            subscriptions
                .find(tx, call.merchantId(), subscriptionId)
                .compose(
                    found ->
                        found
                            .map(subscription -> of(tx, call, subscription))
                            .orElseGet(
                                () -> FailureException.failed(Failure.notFound("subscription")))));
  }

  private Future<UpcomingInvoice> of(SqlConnection tx, Call call, Subscription subscription) {
    SubscriptionStatus status = subscription.view().status();
    if (status != SubscriptionStatus.ACTIVE && status != SubscriptionStatus.PENDING_ACTIVATION) {
      return nothingUpcoming();
    }
    Map<Id, Integer> open =
        subscription.periodIndex() == null
            ? Map.of()
            : Map.of(subscription.id(), subscription.periodIndex());
    Id planId = subscription.view().planId();
    return periods
        .find(tx, call.merchantId(), open)
        .map(found -> found.get(subscription.id()))
        .compose(
            current ->
                basis
                    .loadUpcoming(tx, call, new Wanted(subscription, current, null))
                    .compose(
                        loaded ->
                            catalog
                                .planTerms(tx, call.merchantId(), List.of(planId.uuid()))
                                .compose(
                                    plans ->
                                        draft(
                                            tx,
                                            call,
                                            subscription,
                                            current,
                                            basis(
                                                call,
                                                subscription,
                                                current,
                                                loaded,
                                                plans.get(planId))))));
  }

  private InvoiceBasis basis(
      Call call,
      Subscription subscription,
      StoredPeriod current,
      BasisLoader.Loaded loaded,
      PlanTerms plan) {
    Opened next = next(subscription, current, call.merchant().zone());
    return new InvoiceBasis(
        plan,
        subscription.view().billingCadence(),
        subscription.chargesUsageInTrial(),
        next != null && subscription.invoices(next.clipped()) ? next : null,
        current != null && subscription.invoices(current.period()) ? loaded.closed() : null,
        loaded.rebilled());
  }

  /** The period that begins at the next boundary; null when the subscription ends there. */
  private Opened next(Subscription subscription, StoredPeriod current, ZoneId zone) {
    Instant end = subscription.view().endDate();
    if (current != null) {
      Instant boundary = current.period().end();
      boolean ends = end != null && !end.isAfter(boundary);
      if (ends || boundary.equals(BillingPeriod.END_OF_TIME)) {
        return null;
      }
    }
    BillingPeriod full = subscription.schedule(zone).period(subscription.nextPeriod().index());
    return new Opened(full, full.clippedTo(end), clock.systemNow());
  }

  private Future<UpcomingInvoice> draft(
      SqlConnection tx,
      Call call,
      Subscription subscription,
      StoredPeriod current,
      InvoiceBasis drafted) {
    boolean endless = current != null && current.period().end().equals(BillingPeriod.END_OF_TIME);
    List<InvoiceLine> list = InvoiceDrafting.lines(drafted);
    if (endless || drafted.opened() == null && list.isEmpty()) {
      return nothingUpcoming();
    }
    Instant boundary = current == null ? subscription.view().startDate() : current.period().end();
    return lines
        .views(tx, call.merchantId(), list)
        .map(
            views -> {
              SubscriptionView view = subscription.view();
              return new UpcomingInvoice(
                  null,
                  null,
                  InvoiceStatus.DRAFT,
                  null,
                  null,
                  null,
                  null,
                  boundary,
                  null,
                  null,
                  view.customerId(),
                  view.merchantId(),
                  view.id(),
                  view.autoSyncInvoice(),
                  view.autoSendInvoice(),
                  view.autoChargeInvoice(),
                  view.paymentGateway(),
                  views);
            });
  }

  private static <T> Future<T> nothingUpcoming() {
    return FailureException.failed(
        new Failure.NotFound("no_upcoming_invoice", "No invoice of the subscription is upcoming."));
  }
}
