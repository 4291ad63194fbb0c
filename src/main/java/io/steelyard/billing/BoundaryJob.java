package io.steelyard.billing;

import io.steelyard.catalog.CatalogStore;
import io.steelyard.db.CustomerLocks;
import io.steelyard.domain.BillingPeriod;
import io.steelyard.domain.Id;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.domain.PeriodKey;
import io.steelyard.domain.PlanTerms;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.invoice.DraftStore;
import io.steelyard.subscription.Allocations;
import io.steelyard.subscription.Boundaries;
import io.steelyard.subscription.Boundaries.Outcome;
import io.steelyard.subscription.Boundaries.Units;
import io.steelyard.subscription.Boundary;
import io.steelyard.subscription.PeriodStore;
import io.steelyard.subscription.PeriodStore.EventsBefore;
import io.steelyard.subscription.PeriodStore.StoredPeriod;
import io.steelyard.subscription.Subscription;
import io.steelyard.subscription.SubscriptionStore.Progress;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Takes due subscriptions one step on: over the start of their first period, the border of two, or
 * their end; or allocates the units that are due within a period.
 */
final class BoundaryJob implements DueJob {
  private final ClaimStore claims = new ClaimStore();
  private final PeriodStore periods = new PeriodStore();
  private final CatalogStore catalog = new CatalogStore();
  private final DraftStore drafts = new DraftStore();
  private final BasisLoader basis = new BasisLoader();
  private final Boundaries boundaries;

  BoundaryJob(Boundaries boundaries) {
    this.boundaries = boundaries;
  }

  @Override
  public boolean isOfInvoices() {
    return false;
  }

  @Override
  public Future<List<UUID>> claim(SqlConnection tx, Attempt attempt, Claim claim) {
    return claims.dueSubscriptions(tx, attempt.call().merchantId(), attempt.clock().now(), claim);
  }

  private record Step(
      Attempt attempt,
      List<Subscription> subscriptions,
      Map<Id, StoredPeriod> open,
      Map<Id, PlanTerms> plans) {
    ZoneId zone() {
      return attempt.call().merchant().zone();
    }

    PlanTerms plan(Subscription subscription) {
      return plans.get(subscription.view().planId());
    }

    /** Whether the clockwork has come to the border of a period, not only to some units. */
    boolean isAtBoundary(Subscription subscription) {
      StoredPeriod period = open.get(subscription.id());
      return period == null || !subscription.dueAt().isBefore(period.period().end());
    }

    /** Whether usage has waited for the units that it has come to. */
    boolean waits(Subscription subscription) {
      return !open.get(subscription.id()).readyUntil().isAfter(subscription.dueAt());
    }

    List<Subscription> atBoundary(boolean wanted) {
      return subscriptions.stream().filter(each -> isAtBoundary(each) == wanted).toList();
    }
  }

  @Override
  public Future<Work> work(SqlConnection tx, Attempt attempt, List<UUID> claimed) {
    UUID merchantId = attempt.call().merchantId();
    return claims
        .stillDue(tx, merchantId, claimed, attempt.clock().now())
        .compose(
            subscriptions ->
                CustomerLocks.lock(tx, customers(subscriptions))
                    .compose(locked -> load(tx, attempt, subscriptions)))
        .compose(
            step ->
                allocate(tx, step)
                    .compose(allocated -> pass(tx, step).map(passed -> allocated.plus(passed))));
  }

  private static List<UUID> customers(List<Subscription> subscriptions) {
    return subscriptions.stream().map(each -> each.view().customerId().uuid()).distinct().toList();
  }

  private Future<Step> load(SqlConnection tx, Attempt attempt, List<Subscription> subscriptions) {
    UUID merchantId = attempt.call().merchantId();
    Map<Id, Integer> indexes = new HashMap<>();
    for (Subscription each : subscriptions) {
      if (each.periodIndex() != null) {
        indexes.put(each.id(), each.periodIndex());
      }
    }
    List<UUID> plans =
        subscriptions.stream().map(each -> each.view().planId().uuid()).distinct().toList();
    return periods
        .find(tx, merchantId, indexes)
        .compose(
            open ->
                catalog
                    .planTerms(tx, merchantId, plans)
                    .map(terms -> new Step(attempt, subscriptions, open, terms)));
  }

  /** Units that become due within a period. */
  private Future<Work> allocate(SqlConnection tx, Step step) {
    List<Subscription> due = step.atBoundary(false);
    if (due.isEmpty()) {
      return Future.succeededFuture(Work.NONE);
    }
    UUID merchantId = step.attempt().call().merchantId();
    return drafts
        .idsAt(tx, merchantId, due.stream().map(Subscription::period).toList(), null)
        .compose(
            invoices -> {
              List<Progress> progress = new ArrayList<>();
              List<Units> units = new ArrayList<>();
              for (Subscription each : due) {
                StoredPeriod open = step.open().get(each.id());
                Allocations allocations =
                    new Allocations(each, step.plan(each), open.pricedAt(), step.zone());
                Instant at = dated(step.attempt(), each);
                int index = open.period().index();
                Instant next = allocations.nextDue(each.dueAt(), open.period());
                units.add(
                    new Units(
                        at,
                        allocations.blocks(each.dueAt(), index, invoices.get(each.period())),
                        false));
                progress.add(new Progress(each.at(index, next), at));
              }
              return boundaries.allocate(tx, merchantId, units, progress);
            })
        .map(done -> new Work(due.size(), 0, 0, 0, (int) due.stream().filter(step::waits).count()));
  }

  private static Instant dated(Attempt attempt, Subscription subscription) {
    return attempt.clock().dated(subscription.dueAt(), subscription.view().createdAt());
  }

  private Future<Work> pass(SqlConnection tx, Step step) {
    List<Subscription> due = step.atBoundary(true);
    if (due.isEmpty()) {
      return Future.succeededFuture(Work.NONE);
    }
    Attempt attempt = step.attempt();
    List<BasisLoader.Wanted> wanted =
        due.stream()
            .map(each -> new BasisLoader.Wanted(each, step.open().get(each.id()), null))
            .toList();
    return basis
        .load(tx, attempt.call(), wanted)
        .compose(
            loaded ->
                paused(tx, attempt, due)
                    .map(
                        paused ->
                            due.stream()
                                .map(
                                    each ->
                                        boundary(
                                            step,
                                            each,
                                            loaded.get(each.id()),
                                            paused.get(each.nextPeriod())))
                                .toList()))
        .compose(
            list ->
                boundaries.pass(
                    tx, attempt.call(), attempt.clock(), list, step.plans(), EventsBefore.LOCKED))
        .map(outcome -> counted(due, outcome));
  }

  /** Invoices of these boundaries that could not be made when they were first tried. */
  private Future<Map<PeriodKey, Id>> paused(
      SqlConnection tx, Attempt attempt, List<Subscription> due) {
    return drafts.idsAt(
        tx,
        attempt.call().merchantId(),
        due.stream().map(Subscription::nextPeriod).toList(),
        InvoiceStatus.PAUSED);
  }

  private static Boundary boundary(
      Step step, Subscription subscription, BasisLoader.Loaded loaded, Id pausedInvoice) {
    Instant at = subscription.dueAt();
    Instant end = subscription.view().endDate();
    int index = subscription.nextPeriod().index();
    BillingPeriod opened =
        end != null && !at.isBefore(end) ? null : subscription.schedule(step.zone()).period(index);
    return new Boundary(
        subscription,
        index,
        at,
        opened,
        loaded.closed(),
        loaded.rebilled(),
        step.attempt().countedBy(),
        pausedInvoice);
  }

  private static Work counted(List<Subscription> due, Outcome outcome) {
    int started =
        (int)
            due.stream()
                .filter(each -> each.view().status() == SubscriptionStatus.PENDING_ACTIVATION)
                .count();
    int ended =
        (int)
            outcome.subscriptions().stream()
                .filter(each -> each.view().status() == SubscriptionStatus.ENDED)
                .count();
    return new Work(
        due.size(),
        started,
        ended,
        (int) outcome.invoices().stream().filter(each -> each.finaliseAt() == null).count(),
        outcome.behind());
  }
}
