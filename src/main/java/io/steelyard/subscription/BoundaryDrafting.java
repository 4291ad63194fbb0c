package io.steelyard.subscription;

import io.steelyard.bus.Call;
import io.steelyard.credit.CreditStore.NewBlock;
import io.steelyard.db.Ids;
import io.steelyard.domain.BillingPeriod;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.InvoiceBasis;
import io.steelyard.domain.InvoiceBasis.Closed;
import io.steelyard.domain.InvoiceBasis.Opened;
import io.steelyard.domain.InvoiceDrafting;
import io.steelyard.domain.InvoiceLine;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.domain.NetTerms;
import io.steelyard.domain.PlanTerms;
import io.steelyard.domain.PriceTerms;
import io.steelyard.domain.Quotient;
import io.steelyard.domain.Rating;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.invoice.DraftStore.NewInvoice;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.subscription.AccessStore.OpenAccess;
import io.steelyard.subscription.PeriodStore.NewPeriod;
import io.steelyard.subscription.SubscriptionMessages.SubscriptionView;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Decides what passing a boundary brings into the database, without touching it. */
final class BoundaryDrafting {
  /**
   * When boundaries are passed.
   *
   * @param graceMs how long a closed period with usage waits for late events
   */
  record Moment(Call call, MerchantClock.Reading clock, Instant systemNow, long graceMs) {
    /**
     * The system's time that decides the prices in force: that of the boundary, also when it is
     * passed later. Versions of a price follow each other by it also while a test merchant's clock
     * stands still, whose boundaries have no other time of the system's than now.
     */
    Instant pricedAt(Boundary boundary, PlanTerms plan) {
      if (clock.frozen()) {
        return pricedNow(systemNow, plan);
      }
      Instant created = boundary.subscription().view().createdAt();
      return boundary.at().isBefore(created) ? created : boundary.at();
    }

    /** Now, or when a node whose clock is ahead has just changed the plan. */
    static Instant pricedNow(Instant systemNow, PlanTerms plan) {
      return plan.changedWithin(systemNow, MerchantClock.SKEW_MAX);
    }

    /** When a subscription comes into being: not before what it was chosen from. */
    static Instant created(MerchantClock.Reading clock, PlanTerms plan) {
      return clock.frozen() ? clock.now() : pricedNow(clock.now(), plan);
    }

    ZoneId zone() {
      return call.merchant().zone();
    }

    Instant now() {
      return clock.now();
    }

    Instant dated(Instant due, Subscription subscription) {
      return clock.dated(due, subscription.view().createdAt());
    }
  }

  /**
   * What a boundary brings.
   *
   * @param after the subscription as it is then
   * @param period null when none is opened
   * @param invoice null when none is made
   */
  record Passed(
      Boundary boundary,
      Subscription after,
      Instant at,
      NewPeriod period,
      NewInvoice invoice,
      List<NewBlock> blocks,
      List<OpenAccess> access) {}

  private final Moment moment;

  BoundaryDrafting(Moment moment) {
    this.moment = moment;
  }

  Passed pass(Boundary boundary, PlanTerms plan) {
    Instant at = moment.dated(boundary.at(), boundary.subscription());
    NewInvoice invoice = invoice(boundary, plan, at);
    if (boundary.opened() == null) {
      Subscription ended =
          boundary
              .subscription()
              .with(SubscriptionStatus.ENDED, at)
              .at(boundary.subscription().periodIndex(), null);
      return new Passed(boundary, ended, at, null, invoice, List.of(), List.of());
    }
    BillingPeriod clipped = clipped(boundary);
    Subscription active = active(boundary, at);
    Instant pricedAt = moment.pricedAt(boundary, plan);
    Allocations allocations = new Allocations(active, plan, pricedAt, moment.zone());
    return new Passed(
        boundary,
        active.at(boundary.index(), allocations.nextDue(boundary.at(), clipped)),
        at,
        new NewPeriod(active, clipped, pricedAt),
        invoice,
        allocations.blocks(boundary.at(), boundary.index(), invoice == null ? null : invoice.id()),
        access(active, plan, pricedAt, at));
  }

  /** Only an invoice, and only when there is something on it. */
  Passed correct(Boundary boundary, PlanTerms plan) {
    Instant at = moment.dated(boundary.at(), boundary.subscription());
    NewInvoice invoice = invoice(boundary, plan, at);
    return new Passed(boundary, boundary.subscription(), at, null, invoice, List.of(), List.of());
  }

  private static BillingPeriod clipped(Boundary boundary) {
    return boundary.opened().clippedTo(boundary.subscription().view().endDate());
  }

  private static Subscription active(Boundary boundary, Instant at) {
    Subscription subscription = boundary.subscription();
    if (subscription.view().status() != SubscriptionStatus.ACTIVE) {
      return subscription.with(SubscriptionStatus.ACTIVE, at);
    }
    boolean trialIsOver = subscription.view().isTrial() && !boundary.opened().trial();
    return trialIsOver ? subscription.afterTrial(at) : subscription;
  }

  private static List<OpenAccess> access(
      Subscription subscription, PlanTerms plan, Instant pricedAt, Instant at) {
    Map<Id, List<PriceTerms>> byBillable =
        plan.pricesFor(subscription.view().billingCadence(), pricedAt).stream()
            .filter(price -> price.billableId() != null)
            .collect(
                Collectors.groupingBy(
                    PriceTerms::billableId, LinkedHashMap::new, Collectors.toList()));
    return byBillable.entrySet().stream()
        .map(
            each ->
                new OpenAccess(
                    Ids.next(IdKind.ACCESS),
                    subscription,
                    each.getKey(),
                    each.getValue().stream()
                        .allMatch(price -> Rating.accessAt(price, Quotient.ZERO)),
                    at))
        .toList();
  }

  /**
   * A period's start has an invoice even without lines, since its blocks point at it; an end
   * without lines has none.
   */
  private NewInvoice invoice(Boundary boundary, PlanTerms plan, Instant at) {
    InvoiceBasis basis = basis(boundary, plan);
    List<InvoiceLine> lines = InvoiceDrafting.lines(basis);
    if (basis.opened() == null && lines.isEmpty() && boundary.pausedInvoice() == null) {
      return null;
    }
    Instant finaliseAt = boundary.at().plusMillis(moment.graceMs());
    boolean waits =
        InvoiceDrafting.hasArrears(basis)
            && (boundary.countedBy() == null || finaliseAt.isAfter(boundary.countedBy()));
    Instant issued =
        InvoiceDrafting.hasArrears(basis) ? moment.dated(finaliseAt, boundary.subscription()) : at;
    return invoice(boundary, plan, lines, waits ? finaliseAt : null, waits ? null : issued, at);
  }

  private NewInvoice invoice(
      Boundary boundary,
      PlanTerms plan,
      List<InvoiceLine> lines,
      Instant finaliseAt,
      Instant issued,
      Instant at) {
    SubscriptionView view = boundary.subscription().view();
    BigDecimal total = InvoiceDrafting.total(lines);
    NetTerms terms = view.netTerms() == null ? plan.netTerms() : view.netTerms();
    return new NewInvoice(
        boundary.pausedInvoice() == null ? Ids.next(IdKind.INVOICE) : boundary.pausedInvoice(),
        view.customerId(),
        view.id(),
        boundary.index(),
        boundary.at(),
        issued == null
            ? InvoiceStatus.PENDING
            : InvoiceDrafting.finalStatus(
                total, view.paymentGateway(), moment.call().merchant().environment()),
        view.currency().wire(),
        total,
        issued == null
            ? null
            : InvoiceDrafting.dueDate(issued, terms, view.autoChargeInvoice(), moment.zone()),
        issued,
        finaliseAt,
        terms,
        view.autoSyncInvoice(),
        view.autoSendInvoice(),
        view.autoChargeInvoice(),
        view.paymentGateway(),
        null,
        lines,
        at);
  }

  /** What the boundary's invoice is drafted from: what its subscription wants to be invoiced. */
  private InvoiceBasis basis(Boundary boundary, PlanTerms plan) {
    Subscription subscription = boundary.subscription();
    Closed closed = boundary.closed();
    Opened opened =
        boundary.opened() == null
            ? null
            : new Opened(boundary.opened(), clipped(boundary), moment.pricedAt(boundary, plan));
    return new InvoiceBasis(
        plan,
        subscription.view().billingCadence(),
        subscription.chargesUsageInTrial(),
        opened != null && subscription.invoices(opened.clipped()) ? opened : null,
        closed != null && subscription.invoices(closed.period()) ? closed : null,
        boundary.rebilled());
  }
}
