package io.steelyard.billing;

import io.steelyard.billing.BillingMessages.SubscriptionResumed;
import io.steelyard.bus.Call;
import io.steelyard.db.Ids;
import io.steelyard.db.Sql;
import io.steelyard.domain.Actor;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.domain.NetTerms;
import io.steelyard.domain.PeriodKey;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.domain.WireName;
import io.steelyard.invoice.DraftStore;
import io.steelyard.invoice.DraftStore.NewInvoice;
import io.steelyard.invoice.TransitionStore;
import io.steelyard.invoice.TransitionStore.Cause;
import io.steelyard.invoice.TransitionStore.InvoiceChange;
import io.steelyard.invoice.TransitionStore.ParkingChange;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.subscription.PeriodStore;
import io.steelyard.subscription.Subscription;
import io.steelyard.subscription.SubscriptionMessages.SubscriptionView;
import io.steelyard.subscription.SubscriptionStore;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Sets subscriptions aside whose invoice cannot be made, so that the others go on, and takes them
 * up again when an operator says so. The invoice is there meanwhile, paused, with its number and
 * the reason.
 */
final class Parking {
  private static final int REASON_CHARS_MAX = 500;

  private static final String PARK =
      """
      UPDATE subscription SET parked_at = $3, parked_reason = $4, updated_at = $3
       WHERE merchant_id = $1 AND id = $2 AND parked_at IS NULL
      RETURNING status
      """;

  private static final String SUBSCRIPTION_OF =
      "SELECT subscription_id FROM invoice WHERE merchant_id = $1 AND id = $2";

  // What is paused at a boundary that was not passed is made when that is passed at last.
  private static final String RESUME =
      """
      WITH resumed AS (
        UPDATE subscription SET parked_at = NULL, updated_at = $3
         WHERE merchant_id = $1 AND id = $2 AND parked_at IS NOT NULL
        RETURNING id, status
      )
      SELECT EXISTS (SELECT FROM subscription WHERE merchant_id = $1 AND id = $2) AS known,
             (SELECT status FROM resumed) AS status,
             array(SELECT i.id FROM invoice i JOIN resumed r ON i.subscription_id = r.id
                    WHERE i.merchant_id = $1 AND i.status = 'paused'
                      AND i.finalise_at IS NOT NULL) AS invoices
      """;

  private static final String FIND =
      """
      SELECT parked_at, CASE WHEN parked_at IS NOT NULL THEN parked_reason END AS parked_reason
        FROM subscription WHERE merchant_id = $1 AND id = $2
      """;

  enum Outcome {
    RESUMED,
    NOT_PARKED,
    UNKNOWN
  }

  private final SubscriptionStore subscriptions = new SubscriptionStore();
  private final PeriodStore periods = new PeriodStore();
  private final DraftStore drafts = new DraftStore();
  private final TransitionStore transitions = new TransitionStore();
  private final MerchantClock clock;

  Parking(MerchantClock clock) {
    this.clock = clock;
  }

  /** Parks a subscription that cannot be taken over its next boundary. */
  Future<Void> park(
      SqlConnection tx, Call call, MerchantClock.Reading clock, UUID subscriptionId, String why) {
    UUID merchantId = call.merchantId();
    String reason = shortened(why);
    return subscriptions
        .findAll(tx, merchantId, List.of(new Id(IdKind.SUBSCRIPTION, subscriptionId)))
        .compose(
            found -> {
              Subscription subscription = found.values().iterator().next();
              return mark(tx, merchantId, subscriptionId, clock.now(), reason)
                  .compose(done -> isAtFreeBoundary(tx, merchantId, subscription))
                  .compose(
                      free ->
                          free
                              ? insert(tx, merchantId, paused(subscription, clock.now(), reason))
                              : Future.succeededFuture());
            });
  }

  private Future<Void> insert(SqlConnection tx, UUID merchantId, NewInvoice paused) {
    InvoiceChange change =
        new InvoiceChange(
            paused.id().uuid(), InvoiceStatus.DRAFT, InvoiceStatus.PAUSED, paused.at());
    return drafts
        .insert(tx, merchantId, List.of(paused))
        .compose(
            done ->
                transitions.recordInvoices(
                    tx, merchantId, List.of(change), byBilling(paused.pausedReason())));
  }

  private Cause byBilling(String reason) {
    return new Cause(Actor.BILLING, reason, null, clock.systemNow());
  }

  /** Whether it is an invoice that cannot be made, of which there is nothing yet. */
  private Future<Boolean> isAtFreeBoundary(
      SqlConnection tx, UUID merchantId, Subscription subscription) {
    if (subscription.dueAt() == null) {
      return Future.succeededFuture(false); // it has ended
    }
    Map<Id, Integer> open =
        subscription.periodIndex() == null
            ? Map.of()
            : Map.of(subscription.id(), subscription.periodIndex());
    return periods
        .find(tx, merchantId, open)
        .map(found -> found.get(subscription.id()))
        .compose(
            period ->
                period != null && subscription.dueAt().isBefore(period.period().end())
                    ? Future.succeededFuture(false) // it is at units within a period
                    : drafts
                        .idsAt(tx, merchantId, List.of(subscription.nextPeriod()), null)
                        .map(Map::isEmpty));
  }

  private Future<Void> mark(
      SqlConnection tx, UUID merchantId, UUID subscriptionId, Instant now, String reason) {
    return tx.preparedQuery(PARK)
        .execute(Tuple.of(merchantId, subscriptionId, Sql.time(now), reason))
        .compose(
            rows -> {
              List<ParkingChange> parked = new ArrayList<>();
              rows.forEach(
                  row -> parked.add(new ParkingChange(subscriptionId, status(row), true, now)));
              return transitions.recordParking(tx, merchantId, parked, byBilling(reason));
            });
  }

  private static NewInvoice paused(Subscription subscription, Instant now, String reason) {
    SubscriptionView view = subscription.view();
    PeriodKey boundary = subscription.nextPeriod();
    return new NewInvoice(
        Ids.next(IdKind.INVOICE),
        view.customerId(),
        view.id(),
        boundary.index(),
        subscription.dueAt() == null ? now : subscription.dueAt(),
        InvoiceStatus.PAUSED,
        view.currency().wire(),
        BigDecimal.ZERO,
        null,
        null,
        null,
        view.netTerms() == null ? NetTerms.UPON_RECEIPT : view.netTerms(),
        view.autoSyncInvoice(),
        view.autoSendInvoice(),
        view.autoChargeInvoice(),
        view.paymentGateway(),
        reason,
        List.of(),
        now);
  }

  /** Pauses an invoice that cannot be made final, and parks its subscription. */
  Future<Void> pause(
      SqlConnection tx, Call call, MerchantClock.Reading now, UUID invoiceId, String why) {
    UUID merchantId = call.merchantId();
    String reason = shortened(why);
    InvoiceChange change =
        new InvoiceChange(invoiceId, InvoiceStatus.PENDING, InvoiceStatus.PAUSED, now.now());
    return transitions
        .moveInvoices(tx, merchantId, List.of(change), byBilling(reason))
        .compose(
            moved -> tx.preparedQuery(SUBSCRIPTION_OF).execute(Tuple.of(merchantId, invoiceId)))
        .compose(
            rows ->
                mark(
                    tx,
                    merchantId,
                    rows.iterator().next().getUUID("subscription_id"),
                    now.now(),
                    reason));
  }

  /** Takes a subscription up again; those of its invoices that had been made are pending again. */
  Future<Outcome> resume(SqlConnection tx, Call call, UUID subscriptionId, Instant now) {
    Cause cause = new Cause(Actor.OPERATOR, "resumed", call.requestId(), clock.systemNow());
    return tx.preparedQuery(RESUME)
        .execute(Tuple.of(call.merchantId(), subscriptionId, Sql.time(now)))
        .map(rows -> rows.iterator().next())
        .compose(
            row ->
                status(row) == null
                    ? Future.succeededFuture(
                        row.getBoolean("known") ? Outcome.NOT_PARKED : Outcome.UNKNOWN)
                    : record(
                            tx,
                            call.merchantId(),
                            new ParkingChange(subscriptionId, status(row), false, now),
                            Arrays.stream(row.getArrayOfUUIDs("invoices"))
                                .map(id -> again(id, now))
                                .toList(),
                            cause)
                        .map(Outcome.RESUMED));
  }

  private Future<Void> record(
      SqlConnection tx,
      UUID merchantId,
      ParkingChange resumed,
      List<InvoiceChange> invoices,
      Cause cause) {
    return transitions
        .recordParking(tx, merchantId, List.of(resumed), cause)
        .compose(done -> transitions.moveInvoices(tx, merchantId, invoices, cause))
        .mapEmpty();
  }

  private static InvoiceChange again(UUID invoiceId, Instant now) {
    return new InvoiceChange(invoiceId, InvoiceStatus.PAUSED, InvoiceStatus.PENDING, now);
  }

  /** Whether a subscription is parked, and why. */
  Future<SubscriptionResumed> find(SqlClient client, Call call, Id id) {
    return client
        .preparedQuery(FIND)
        .execute(Tuple.of(call.merchantId(), id.uuid()))
        .map(rows -> rows.iterator().next())
        .map(
            row ->
                new SubscriptionResumed(
                    id, Sql.instant(row, "parked_at"), row.getString("parked_reason")));
  }

  /** Null when nothing was changed. */
  private static SubscriptionStatus status(Row row) {
    return WireName.parseNullable(SubscriptionStatus.class, row.getString("status"));
  }

  private static String shortened(String reason) {
    return reason.length() <= REASON_CHARS_MAX ? reason : reason.substring(0, REASON_CHARS_MAX);
  }
}
