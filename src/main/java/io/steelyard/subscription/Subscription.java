package io.steelyard.subscription;

import io.steelyard.domain.BillingPeriod;
import io.steelyard.domain.Id;
import io.steelyard.domain.PeriodKey;
import io.steelyard.domain.Schedule;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.subscription.SubscriptionMessages.SubscriptionView;
import java.time.Instant;
import java.time.ZoneId;

/**
 * A subscription as stored: what the API shows and what only billing needs.
 *
 * @param trialEnd exclusive end of the trial that is the first period; null for none
 * @param invoiceGenerationStartDate periods that end at or before it make no invoice; null for none
 * @param dueAt when the clockwork must next act on it; null for never
 * @param periodIndex of the period opened last; null before the first
 */
public record Subscription(
    SubscriptionView view,
    Instant trialEnd,
    Instant invoiceGenerationStartDate,
    Instant dueAt,
    Integer periodIndex) {

  public Id id() {
    return view.id();
  }

  /** The same subscription in another state. */
  public Subscription with(SubscriptionStatus status, Instant at) {
    return new Subscription(
        view.with(status, at), trialEnd, invoiceGenerationStartDate, dueAt, periodIndex);
  }

  /** The same subscription with its trial over. */
  Subscription afterTrial(Instant at) {
    return new Subscription(
        view.afterTrial(at), trialEnd, invoiceGenerationStartDate, dueAt, periodIndex);
  }

  /** The same subscription with the clockwork having come to a period. */
  public Subscription at(Integer period, Instant nextDue) {
    return new Subscription(view, trialEnd, invoiceGenerationStartDate, nextDue, period);
  }

  /** Whether its usage during a trial is charged. */
  public boolean chargesUsageInTrial() {
    return Boolean.TRUE.equals(view.chargeForUsageBasedPricesDuringTrial());
  }

  /** The period opened last, which there must be. */
  public PeriodKey period() {
    return new PeriodKey(id(), periodIndex);
  }

  /** The period to be opened next. */
  public PeriodKey nextPeriod() {
    return new PeriodKey(id(), periodIndex == null ? 0 : periodIndex + 1);
  }

  /** How its periods tile time in the merchant's zone. */
  public Schedule schedule(ZoneId zone) {
    return new Schedule(view.startDate(), trialEnd, view.billingCadence(), zone);
  }

  /** Whether what a period costs is invoiced. */
  public boolean invoices(BillingPeriod period) {
    return invoiceGenerationStartDate == null || period.end().isAfter(invoiceGenerationStartDate);
  }
}
