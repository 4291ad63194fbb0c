package io.steelyard.billing;

import io.steelyard.billing.BasisLoader.Loaded;
import io.steelyard.billing.BasisLoader.Wanted;
import io.steelyard.billing.DueStore.LastBoundary;
import io.steelyard.catalog.CatalogStore;
import io.steelyard.db.CustomerLocks;
import io.steelyard.domain.Id;
import io.steelyard.domain.InvoiceBasis.Rebilled;
import io.steelyard.subscription.Boundaries;
import io.steelyard.subscription.Boundary;
import io.steelyard.subscription.Subscription;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Bills late usage of subscriptions that have ended and so come to no further boundary: on an
 * invoice of its own, after the same grace.
 */
final class CorrectionJob implements DueJob {
  private final ClaimStore claims = new ClaimStore();
  private final CatalogStore catalog = new CatalogStore();
  private final BasisLoader basis = new BasisLoader();
  private final DueStore due;
  private final Boundaries boundaries;

  CorrectionJob(DueStore due, Boundaries boundaries) {
    this.due = due;
    this.boundaries = boundaries;
  }

  @Override
  public boolean isOfInvoices() {
    return false;
  }

  @Override
  public Future<List<UUID>> claim(SqlConnection tx, Attempt attempt, Claim claim) {
    return attempt.countedBy() == null
        ? Future.succeededFuture(List.of())
        : claims.correctable(
            tx, attempt.call().merchantId(), due.graceOver(attempt.countedBy()), claim);
  }

  @Override
  public Future<Work> work(SqlConnection tx, Attempt attempt, List<UUID> claimed) {
    UUID merchantId = attempt.call().merchantId();
    return claims
        .subscriptions(tx, merchantId, claimed)
        .compose(
            subscriptions ->
                CustomerLocks.lock(
                        tx,
                        subscriptions.stream()
                            .map(each -> each.view().customerId().uuid())
                            .toList())
                    .compose(locked -> correct(tx, attempt, subscriptions)));
  }

  private Future<Work> correct(
      SqlConnection tx, Attempt attempt, List<Subscription> subscriptions) {
    UUID merchantId = attempt.call().merchantId();
    List<Wanted> wanted = subscriptions.stream().map(each -> new Wanted(each, null, null)).toList();
    List<UUID> planIds =
        subscriptions.stream().map(each -> each.view().planId().uuid()).distinct().toList();
    return due.lastBoundaries(tx, merchantId, subscriptions.stream().map(Subscription::id).toList())
        .compose(
            last ->
                basis
                    .load(tx, attempt.call(), wanted)
                    .map(loaded -> boundaries(subscriptions, last, loaded, attempt)))
        .compose(
            list ->
                catalog
                    .planTerms(tx, merchantId, planIds)
                    .compose(
                        plans ->
                            boundaries.correct(tx, attempt.call(), attempt.clock(), list, plans)))
        .map(outcome -> new Work(subscriptions.size(), 0, 0, outcome.invoices().size(), 0));
  }

  private List<Boundary> boundaries(
      List<Subscription> subscriptions,
      List<LastBoundary> last,
      Map<Id, Loaded> loaded,
      Attempt attempt) {
    // The claim may have seen what another transaction has corrected before the row was locked.
    return subscriptions.stream()
        .filter(each -> last(last, each.id()).since() != null)
        .map(
            each ->
                boundary(each, last(last, each.id()), loaded.get(each.id()).rebilled(), attempt))
        .toList();
  }

  private Boundary boundary(
      Subscription subscription, LastBoundary last, List<Rebilled> rebilled, Attempt attempt) {
    Instant at = due.afterGrace(last.since());
    Instant now = attempt.clock().now();
    return new Boundary(
        subscription,
        last.index() + 1,
        at.isAfter(now) ? now : at,
        null,
        null,
        rebilled,
        now,
        null);
  }

  private static LastBoundary last(List<LastBoundary> last, Id subscription) {
    return last.stream()
        .filter(each -> each.subscriptionId().equals(subscription))
        .findFirst()
        .orElseThrow();
  }
}
