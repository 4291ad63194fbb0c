package io.steelyard.subscription;

import io.steelyard.bus.Call;
import io.steelyard.credit.CreditStore;
import io.steelyard.credit.CreditStore.NewBlock;
import io.steelyard.credit.Reversals;
import io.steelyard.credit.RolloverStore;
import io.steelyard.db.Ids;
import io.steelyard.domain.Actor;
import io.steelyard.domain.Id;
import io.steelyard.domain.InvoiceBasis.Rebilled;
import io.steelyard.domain.LineKind;
import io.steelyard.domain.PlanTerms;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.invoice.DraftStore;
import io.steelyard.invoice.DraftStore.NewInvoice;
import io.steelyard.invoice.Finalised;
import io.steelyard.invoice.Finalised.FinalInvoice;
import io.steelyard.invoice.RebillStore;
import io.steelyard.invoice.TransitionStore;
import io.steelyard.invoice.TransitionStore.Cause;
import io.steelyard.invoice.TransitionStore.SubscriptionChange;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.subscription.AccessStore.Changed;
import io.steelyard.subscription.AccessStore.OpenAccess;
import io.steelyard.subscription.BoundaryDrafting.Moment;
import io.steelyard.subscription.BoundaryDrafting.Passed;
import io.steelyard.subscription.PeriodStore.EventsBefore;
import io.steelyard.subscription.SubscriptionStore.Progress;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Predicate;

/**
 * Takes subscriptions over the boundaries of their periods: the next period's row, its units, the
 * access it gives, the invoice, and the subscription's own state. Works on sets, all within the
 * caller's transaction.
 */
public final class Boundaries {
  private final MerchantClock clock;
  private final long graceMs;
  private final SubscriptionStore subscriptions = new SubscriptionStore();
  private final PeriodStore periods = new PeriodStore();
  private final AccessStore access = new AccessStore();
  private final DraftStore invoices = new DraftStore();
  private final CreditStore credits = new CreditStore();
  private final RebillStore rebills = new RebillStore();
  private final Finalised finalised = new Finalised();
  private final TransitionStore transitions = new TransitionStore();
  private final Reversals reversals = new Reversals();
  private final RolloverStore rollovers = new RolloverStore();

  /**
   * @param graceMs how long a closed period with usage waits for late events
   */
  public Boundaries(MerchantClock clock, long graceMs) {
    this.clock = clock;
    this.graceMs = graceMs;
  }

  /**
   * What was done.
   *
   * @param behind how many of the opened periods a backfill must bring up to date
   */
  public record Outcome(List<Subscription> subscriptions, List<NewInvoice> invoices, int behind) {}

  /**
   * Stores new subscriptions and opens the first period of those that are active.
   *
   * @param plans the terms of every plan that is subscribed to
   */
  public Future<Void> store(
      SqlConnection tx,
      Call call,
      List<Subscription> created,
      Map<Id, PlanTerms> plans,
      EventsBefore events) {
    return clock
        .read(tx, call)
        .compose(
            reading -> {
              Moment moment = new Moment(call, reading, clock.systemNow(), graceMs);
              List<Passed> passed =
                  draft(
                      moment,
                      created.stream()
                          .filter(Boundaries::isActive)
                          .map(each -> first(each, moment))
                          .toList(),
                      plans);
              Map<Id, Subscription> after = new HashMap<>();
              passed.forEach(each -> after.put(each.after().id(), each.after()));
              List<Subscription> all =
                  created.stream()
                      .map(
                          each ->
                              isActive(each)
                                  ? after.get(each.id())
                                  : each.at(null, each.view().startDate()))
                      .toList();
              return subscriptions
                  .insert(tx, all, call.merchantId())
                  .compose(done -> write(tx, moment, passed, events));
            })
        .mapEmpty();
  }

  private static boolean isActive(Subscription subscription) {
    return subscription.view().status() == SubscriptionStatus.ACTIVE;
  }

  private static Boundary first(Subscription subscription, Moment moment) {
    return Boundary.first(subscription, subscription.schedule(moment.zone()).period(0));
  }

  /** Takes stored subscriptions, whose rows the caller has locked, over one boundary each. */
  public Future<Outcome> pass(
      SqlConnection tx,
      Call call,
      MerchantClock.Reading reading,
      List<Boundary> boundaries,
      Map<Id, PlanTerms> plans,
      EventsBefore events) {
    Moment moment = new Moment(call, reading, clock.systemNow(), graceMs);
    List<Passed> passed = draft(moment, boundaries, plans);
    return subscriptions
        .progress(
            tx,
            call.merchantId(),
            passed.stream().map(each -> new Progress(each.after(), each.at())).toList())
        .compose(done -> recordChanges(tx, moment, passed))
        .compose(done -> write(tx, moment, passed, events));
  }

  private Future<Void> recordChanges(SqlConnection tx, Moment moment, List<Passed> passed) {
    List<SubscriptionChange> changes =
        passed.stream()
            .filter(each -> status(each.boundary().subscription()) != status(each.after()))
            .map(
                each ->
                    new SubscriptionChange(
                        each.after().id().uuid(),
                        status(each.boundary().subscription()),
                        status(each.after()),
                        each.at()))
            .toList();
    Cause cause = new Cause(Actor.BILLING, "its time has come", null, moment.pricedAt());
    return transitions.recordSubscriptions(tx, moment.call().merchantId(), changes, cause);
  }

  private static SubscriptionStatus status(Subscription subscription) {
    return subscription.view().status();
  }

  /** Makes invoices that only correct what was billed, for subscriptions that have ended. */
  public Future<Outcome> correct(
      SqlConnection tx,
      Call call,
      MerchantClock.Reading reading,
      List<Boundary> boundaries,
      Map<Id, PlanTerms> plans) {
    BoundaryDrafting drafting =
        new BoundaryDrafting(new Moment(call, reading, clock.systemNow(), graceMs));
    List<Passed> corrected =
        boundaries.stream()
            .map(each -> drafting.correct(each, plans.get(each.subscription().view().planId())))
            .toList();
    return writeInvoices(tx, call.merchantId(), corrected)
        .map(new Outcome(List.of(), invoices(corrected), 0));
  }

  /** Notes how far subscriptions have come within their periods. */
  public Future<Void> progress(SqlConnection tx, UUID merchantId, List<Progress> progress) {
    return subscriptions.progress(tx, merchantId, progress);
  }

  private static List<Passed> draft(
      Moment moment, List<Boundary> boundaries, Map<Id, PlanTerms> plans) {
    BoundaryDrafting drafting = new BoundaryDrafting(moment);
    return boundaries.stream()
        .map(each -> drafting.pass(each, plans.get(each.subscription().view().planId())))
        .toList();
  }

  private Future<Outcome> write(
      SqlConnection tx, Moment moment, List<Passed> passed, EventsBefore events) {
    UUID merchantId = moment.call().merchantId();
    return periods
        .insert(
            tx,
            merchantId,
            passed.stream().map(Passed::period).filter(Objects::nonNull).toList(),
            moment.pricedAt(),
            events)
        .compose(
            behind ->
                writeAccess(tx, merchantId, passed)
                    .compose(done -> writeInvoices(tx, merchantId, passed))
                    .compose(done -> writeUnits(tx, merchantId, passed))
                    .map(
                        new Outcome(
                            passed.stream().map(Passed::after).toList(),
                            invoices(passed),
                            behind)));
  }

  private Future<Void> writeAccess(SqlConnection tx, UUID merchantId, List<Passed> passed) {
    List<OpenAccess> open = passed.stream().flatMap(each -> each.access().stream()).toList();
    List<Changed> reopened =
        passed.stream()
            .filter(each -> each.period() != null && each.boundary().index() > 0)
            .map(Boundaries::changed)
            .toList();
    List<Changed> ended =
        passed.stream().filter(each -> each.period() == null).map(Boundaries::changed).toList();
    return access
        .open(tx, merchantId, open)
        .compose(done -> access.invalidateOthers(tx, merchantId, reopened, open))
        .compose(done -> access.close(tx, merchantId, ended));
  }

  private static Changed changed(Passed passed) {
    return new Changed(passed.after().id(), passed.at());
  }

  private Future<Void> writeInvoices(SqlConnection tx, UUID merchantId, List<Passed> passed) {
    Predicate<Passed> isResumed = each -> each.boundary().pausedInvoice() != null;
    List<Passed> made = passed.stream().filter(each -> each.invoice() != null).toList();
    return invoices
        .insert(
            tx, merchantId, made.stream().filter(isResumed.negate()).map(Passed::invoice).toList())
        .compose(
            done ->
                invoices.resume(
                    tx, merchantId, made.stream().filter(isResumed).map(Passed::invoice).toList()))
        .compose(
            done ->
                finalised.finalised(
                    tx,
                    merchantId,
                    made.stream()
                        .map(Passed::invoice)
                        .filter(each -> each.finaliseAt() == null)
                        .map(FinalInvoice::of)
                        .toList(),
                    clock.systemNow()))
        .compose(done -> rebills.settle(tx, merchantId, settled(passed)))
        .compose(done -> redraw(tx, merchantId, passed));
  }

  /** Units that a void invoice gave back are drawn again by the one that bills their usage. */
  private Future<Void> redraw(SqlConnection tx, UUID merchantId, List<Passed> passed) {
    Future<Void> redrawn = Future.succeededFuture();
    for (Passed each : passed) {
      List<Reversals.Period> periods =
          each.boundary().rebilled().stream()
              .filter(rebilled -> rebilled.ofUsage() && isFinal(each))
              .map(
                  rebilled ->
                      new Reversals.Period(
                          each.after().id().uuid(), rebilled.period().full().index()))
              .toList();
      if (!periods.isEmpty()) {
        UUID cause =
            each.invoice() == null
                ? Ids.operation("redraw:" + each.after().id() + ":" + each.boundary().index())
                : each.invoice().id().uuid();
        redrawn =
            redrawn.compose(done -> reversals.redraw(tx, merchantId, periods, cause, each.at()));
      }
    }
    return redrawn;
  }

  private static boolean isFinal(Passed passed) {
    return passed.invoice() == null || passed.invoice().finaliseAt() == null;
  }

  private static List<NewInvoice> invoices(List<Passed> passed) {
    return passed.stream().map(Passed::invoice).filter(Objects::nonNull).toList();
  }

  /** What was rebilled is done with once the invoice is final, or when it came to nothing. */
  private static List<RebillStore.Settled> settled(List<Passed> passed) {
    List<RebillStore.Settled> settled = new ArrayList<>();
    for (Passed each : passed) {
      boolean last = isFinal(each);
      for (Rebilled rebilled : each.boundary().rebilled()) {
        settled.add(
            new RebillStore.Settled(
                each.after().id(),
                rebilled.period().full().index(),
                each.boundary().index(),
                each.invoice() != null && names(each.invoice(), rebilled),
                last));
      }
    }
    return settled;
  }

  private static boolean names(NewInvoice invoice, Rebilled rebilled) {
    return invoice.lines().stream()
        .anyMatch(
            line ->
                line.kind() == LineKind.ADJUSTMENT
                    && line.periodIndex() == rebilled.period().full().index());
  }

  private Future<Void> writeUnits(SqlConnection tx, UUID merchantId, List<Passed> passed) {
    Future<Void> written = Future.succeededFuture();
    for (Map.Entry<Instant, List<NewBlock>> dated : blocksByDate(passed).entrySet()) {
      written =
          written
              .compose(done -> credits.allocate(tx, merchantId, dated.getValue(), dated.getKey()))
              .compose(
                  done -> rollovers.rollOver(tx, merchantId, dated.getValue(), dated.getKey()));
    }
    return written;
  }

  /** In practice all of one instant, but when a set clock has jumped over several. */
  private static Map<Instant, List<NewBlock>> blocksByDate(List<Passed> passed) {
    Map<Instant, List<NewBlock>> byDate = new TreeMap<>();
    for (Passed each : passed) {
      if (!each.blocks().isEmpty()) {
        byDate.computeIfAbsent(each.at(), at -> new ArrayList<>()).addAll(each.blocks());
      }
    }
    return byDate;
  }
}
