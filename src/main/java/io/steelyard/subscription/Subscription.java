package io.steelyard.subscription;

import io.steelyard.domain.BillingPeriod;
import io.steelyard.domain.Id;
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
 */
public record Subscription(
    SubscriptionView view, Instant trialEnd, Instant invoiceGenerationStartDate) {

  public Id id() {
    return view.id();
  }

  /** The same subscription in another state. */
  public Subscription with(SubscriptionStatus status, Instant at) {
    return new Subscription(view.with(status, at), trialEnd, invoiceGenerationStartDate);
  }

  /** How its periods tile time in the merchant's zone. */
  public Schedule schedule(ZoneId zone) {
    return new Schedule(view.startDate(), trialEnd, view.billingCadence(), zone);
  }

  /** Whether a period makes an invoice at its start. */
  public boolean invoices(BillingPeriod period) {
    return invoiceGenerationStartDate == null || period.end().isAfter(invoiceGenerationStartDate);
  }
}
