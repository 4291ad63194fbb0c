package io.steelyard.subscription;

import io.steelyard.bus.Call;
import io.steelyard.db.Ids;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.PlanTerms;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.subscription.SubscriptionMessages.SubscriptionView;
import java.time.Instant;

/** The subscription that a new customer gets to the merchant's default plan. */
public final class DefaultSubscription {
  private DefaultSubscription() {}

  /**
   * @param customerId a customer that never had a trial, so that a plan with trial days begins with
   *     one
   * @param systemNow decides the prices in force
   */
  public static Subscription of(
      Id customerId, PlanTerms plan, Call call, MerchantClock.Reading clock, Instant systemNow) {
    Instant now = clock.now();
    Instant created = BoundaryDrafting.Moment.created(clock, plan);
    boolean trial = plan.trialDays() > 0;
    SubscriptionView view =
        new SubscriptionView(
            Ids.next(IdKind.SUBSCRIPTION),
            customerId,
            plan.id(),
            call.merchant().id(),
            SubscriptionStatus.ACTIVE,
            now,
            null,
            BulkCreation.cadence(null, plan, BoundaryDrafting.Moment.pricedNow(systemNow, plan)),
            plan.currency(),
            plan.netTerms(),
            null,
            true,
            false,
            false,
            false,
            trial,
            trial ? plan.chargeUsageDuringTrial() : null,
            created,
            created,
            null);
    Instant trialEnd =
        trial ? now.atZone(call.merchant().zone()).plusDays(plan.trialDays()).toInstant() : null;
    return new Subscription(view, trialEnd, null, null, null);
  }
}
