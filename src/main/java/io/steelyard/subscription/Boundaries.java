package io.steelyard.subscription;

import io.steelyard.bus.Call;
import io.steelyard.credit.CreditStore.NewBlock;
import io.steelyard.db.Transactions;
import io.steelyard.domain.Actor;
import io.steelyard.domain.Id;
import io.steelyard.domain.PlanTerms;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.invoice.DraftStore.NewInvoice;
import io.steelyard.invoice.TransitionStore;
import io.steelyard.invoice.TransitionStore.Cause;
import io.steelyard.invoice.TransitionStore.SubscriptionChange;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.subscription.AccessStore.OpenAccess;
import io.steelyard.subscription.BoundaryDrafting.Moment;
import io.steelyard.subscription.BoundaryDrafting.Passed;
import io.steelyard.subscription.PeriodStore.EventsBefore;
import io.steelyard.subscription.SubscriptionStore.Progress;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.sqlclient.SqlConnection;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Takes subscriptions over the boundaries of their periods: the next period's row, its units, the
 * access it gives, the invoice, and the subscription's own state. Works on sets, all within the
 * caller's transaction.
 */
public final class Boundaries {
  private final MerchantClock clock;
  private final long graceMs;
  private final SubscriptionStore subscriptions = new SubscriptionStore();
  private final BoundaryWriting writing = new BoundaryWriting();
  private final TransitionStore transitions = new TransitionStore();

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

  /** What a new, active subscription begins with. */
  public record Begun(Id subscriptionId, List<OpenAccess> access, List<NewBlock> blocks) {}

  /**
   * Stores new subscriptions and opens the first period of those that are active.
   *
   * @param plans the terms of every plan that is subscribed to
   * @return of those that are active
   */
  public Future<List<Begun>> store(
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
              return Transactions.pipelined(
                      () -> subscriptions.insert(tx, all, call.merchantId()),
                      () -> writing.write(tx, moment, passed, events))
                  .map(
                      done ->
                          passed.stream()
                              .map(
                                  each ->
                                      new Begun(each.after().id(), each.access(), each.blocks()))
                              .toList());
            });
  }

  private static boolean isActive(Subscription subscription) {
    return subscription.view().status() == SubscriptionStatus.ACTIVE;
  }

  private static Boundary first(Subscription subscription, Moment moment) {
    return Boundary.first(subscription, subscription.schedule(moment.zone()).period(0), null);
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
    Promise<Outcome> outcome = Promise.promise();
    return Transactions.pipelined(
            () ->
                subscriptions.progress(
                    tx,
                    call.merchantId(),
                    passed.stream().map(each -> new Progress(each.after(), each.at())).toList()),
            () -> recordChanges(tx, moment, passed),
            () -> writing.write(tx, moment, passed, events).onComplete(outcome))
        .compose(done -> outcome.future());
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
    Cause cause = new Cause(Actor.BILLING, "its time has come", null, moment.systemNow());
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
    Moment moment = new Moment(call, reading, clock.systemNow(), graceMs);
    BoundaryDrafting drafting = new BoundaryDrafting(moment);
    return writing.writeCorrections(
        tx,
        moment,
        boundaries.stream()
            .map(each -> drafting.correct(each, plans.get(each.subscription().view().planId())))
            .toList());
  }

  /**
   * Blocks that are allocated at an instant of the merchant's.
   *
   * @param first whether the subscription begins with them, so that nothing can roll over into them
   */
  public record Units(Instant at, List<NewBlock> blocks, boolean first) {}

  /** Allocates units within periods, and notes how far their subscriptions have come. */
  public Future<Void> allocate(
      SqlConnection tx, UUID merchantId, List<Units> units, List<Progress> progress) {
    return writing
        .writeUnits(tx, merchantId, units)
        .compose(done -> subscriptions.progress(tx, merchantId, progress));
  }

  private static List<Passed> draft(
      Moment moment, List<Boundary> boundaries, Map<Id, PlanTerms> plans) {
    BoundaryDrafting drafting = new BoundaryDrafting(moment);
    return boundaries.stream()
        .map(each -> drafting.pass(each, plans.get(each.subscription().view().planId())))
        .toList();
  }
}
