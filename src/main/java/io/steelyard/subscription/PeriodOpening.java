package io.steelyard.subscription;

import io.steelyard.bus.Call;
import io.steelyard.credit.CreditStore;
import io.steelyard.credit.CreditStore.NewBlock;
import io.steelyard.db.Ids;
import io.steelyard.domain.AllocationTerms;
import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.BillingPeriod;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.InvoiceDrafting;
import io.steelyard.domain.InvoiceLine;
import io.steelyard.domain.NetTerms;
import io.steelyard.domain.PlanTerms;
import io.steelyard.domain.Schedule;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.domain.TransactionType;
import io.steelyard.invoice.DraftStore;
import io.steelyard.invoice.DraftStore.NewInvoice;
import io.steelyard.invoice.Finalised;
import io.steelyard.invoice.Finalised.FinalInvoice;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.subscription.AccessStore.NewAccess;
import io.steelyard.subscription.SubscriptionMessages.SubscriptionView;
import io.steelyard.subscription.SubscriptionStore.NewPeriod;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

/**
 * Stores new subscriptions and, for those already active, opens the first period: its row, its
 * invoice with the advance lines, its allocation blocks and the access it gives. Works on sets, all
 * within the caller's transaction.
 */
public final class PeriodOpening {
  private final MerchantClock clock;
  private final SubscriptionStore subscriptions = new SubscriptionStore();
  private final AccessStore access = new AccessStore();
  private final DraftStore invoices = new DraftStore();
  private final Finalised finalised = new Finalised();
  private final CreditStore credits = new CreditStore();

  public PeriodOpening(MerchantClock clock) {
    this.clock = clock;
  }

  /**
   * When something is opened.
   *
   * @param now the merchant's time
   * @param pricedAt the system's time, which decides the prices in force: versions of a price
   *     follow each other by it, also while a test merchant's clock stands still
   */
  private record Moment(Call call, Instant now, Instant pricedAt) {
    ZoneId zone() {
      return call.merchant().zone();
    }
  }

  /** Everything one opened period brings into the database. */
  private record Opened(
      NewPeriod period, NewInvoice invoice, List<NewBlock> blocks, List<NewAccess> access) {}

  /**
   * Stores new subscriptions and opens the first period of those that are active.
   *
   * @param plans the terms of every plan that is subscribed to
   */
  public Future<Void> store(
      SqlClient tx, Call call, List<Subscription> created, Map<Id, PlanTerms> plans, Instant now) {
    List<Subscription> active =
        created.stream().filter(each -> each.view().status() == SubscriptionStatus.ACTIVE).toList();
    return subscriptions
        .insert(tx, created, call.merchantId())
        .compose(done -> open(tx, call, active, plans, now));
  }

  /** Opens the first period of stored subscriptions, which have just become active. */
  public Future<Void> open(
      SqlClient tx, Call call, List<Subscription> active, Map<Id, PlanTerms> plans, Instant now) {
    Moment moment = new Moment(call, now, clock.systemNow());
    List<Opened> opened = new ArrayList<>();
    for (Subscription subscription : active) {
      opened.add(firstPeriod(moment, subscription, plans.get(subscription.view().planId())));
    }
    UUID merchantId = call.merchantId();
    return subscriptions
        .insertPeriods(
            tx, merchantId, opened.stream().map(Opened::period).toList(), moment.pricedAt())
        .compose(
            done ->
                access.insert(
                    tx,
                    merchantId,
                    opened.stream().flatMap(each -> each.access().stream()).toList(),
                    now))
        .compose(done -> insert(tx, merchantId, opened, moment.pricedAt()))
        .compose(
            done ->
                credits.allocate(
                    tx,
                    merchantId,
                    opened.stream().flatMap(each -> each.blocks().stream()).toList(),
                    now));
  }

  private Future<Void> insert(
      SqlClient tx, UUID merchantId, List<Opened> opened, Instant systemNow) {
    List<NewInvoice> made = opened.stream().map(Opened::invoice).filter(Objects::nonNull).toList();
    return invoices
        .insert(tx, merchantId, made)
        .compose(
            done ->
                finalised.finalised(
                    tx, merchantId, made.stream().map(FinalInvoice::of).toList(), systemNow));
  }

  private static Opened firstPeriod(Moment moment, Subscription subscription, PlanTerms plan) {
    BillingPeriod full = subscription.schedule(moment.zone()).period(0);
    BillingPeriod period = full.clippedTo(subscription.view().endDate());
    NewInvoice invoice =
        subscription.invoices(period) ? invoice(moment, subscription, plan, full, period) : null;
    return new Opened(
        new NewPeriod(subscription, period),
        invoice,
        blocks(moment, subscription, plan, period, invoice),
        plan.pricesFor(subscription.view().billingCadence(), moment.pricedAt()).stream()
            .filter(price -> price.billableId() != null)
            .map(price -> new NewAccess(subscription, price.billableId()))
            .distinct()
            .toList());
  }

  private static NewInvoice invoice(
      Moment moment,
      Subscription subscription,
      PlanTerms plan,
      BillingPeriod full,
      BillingPeriod period) {
    Instant now = moment.now();
    Call.Merchant merchant = moment.call().merchant();
    SubscriptionView view = subscription.view();
    List<InvoiceLine> lines =
        InvoiceDrafting.advanceLines(plan, view.billingCadence(), full, period, moment.pricedAt());
    BigDecimal total = InvoiceDrafting.total(lines);
    NetTerms terms = view.netTerms() == null ? plan.netTerms() : view.netTerms();
    Instant due =
        view.autoChargeInvoice() ? now : InvoiceDrafting.dueDate(now, terms, merchant.zone());
    return new NewInvoice(
        Ids.next(IdKind.INVOICE),
        view.customerId(),
        view.id(),
        period.index(),
        period.start(),
        InvoiceDrafting.finalStatus(total, view.paymentGateway(), merchant.environment()),
        view.currency().wire(),
        total,
        due,
        now,
        null,
        terms,
        view.autoSyncInvoice(),
        view.autoSendInvoice(),
        view.autoChargeInvoice(),
        view.paymentGateway(),
        null,
        lines,
        now);
  }

  private static List<NewBlock> blocks(
      Moment moment,
      Subscription subscription,
      PlanTerms plan,
      BillingPeriod period,
      NewInvoice invoice) {
    List<NewBlock> blocks = new ArrayList<>();
    for (AllocationTerms terms : plan.allocationsAt(moment.pricedAt())) {
      SubscriptionView view = subscription.view();
      blocks.add(
          new NewBlock(
              Ids.next(IdKind.ALLOCATION_BLOCK),
              view.customerId(),
              terms.customPricingUnitId(),
              view.id(),
              period.index(),
              invoice == null ? null : invoice.id(),
              terms.amount(),
              period.start(),
              expiry(terms, period, moment.zone()),
              terms.rolloverMax(),
              TransactionType.PLAN_ALLOCATION,
              "alloc:" + view.id() + ":" + terms.customPricingUnitId() + ":" + period.start()));
    }
    return blocks;
  }

  /**
   * A block lives as long as its allocation's cadence says, and no longer than a period that is
   * shorter than usual; units that are allocated once never expire.
   */
  private static Instant expiry(AllocationTerms terms, BillingPeriod period, ZoneId zone) {
    if (terms.cadence() == BillingCadence.ONE_TIME) {
      return null;
    }
    Instant end = new Schedule(period.start(), null, terms.cadence(), zone).period(0).end();
    return period.end().isBefore(end) ? period.end() : end;
  }
}
