package io.steelyard.subscription;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.steelyard.bus.Address;
import io.steelyard.bus.Reply;
import io.steelyard.bus.Request;
import io.steelyard.catalog.CatalogMessages.PlanView;
import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.Currency;
import io.steelyard.domain.Id;
import io.steelyard.domain.NetTerms;
import io.steelyard.domain.Paging;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.domain.SubscriptionStatus;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** What the subscription verticle may be asked. */
public sealed interface SubscriptionMessages<R extends Reply> extends Request<R> {
  @Override
  default Address address() {
    return Address.SUBSCRIPTION;
  }

  /** Creates all of them or none. */
  record CreateSubscriptions(List<NewSubscription> subscriptions)
      implements SubscriptionMessages<Subscriptions> {
    public CreateSubscriptions {
      subscriptions = List.copyOf(subscriptions);
    }
  }

  record GetSubscription(String id) implements SubscriptionMessages<SubscriptionView> {}

  /** As {@link GetSubscription}, with the plan and all its prices and billables. */
  record GetExpandedSubscription(String id) implements SubscriptionMessages<SubscriptionView> {}

  /**
   * @param filters documented filter name to the value it must equal
   */
  record ListSubscriptions(Map<String, String> filters, Paging paging)
      implements SubscriptionMessages<SubscriptionPage> {
    public ListSubscriptions {
      filters = Map.copyOf(filters);
    }
  }

  /** Ends an active one with its current period, deletes an upcoming one. */
  record CancelSubscription(String id, String externalCustomerId)
      implements SubscriptionMessages<SubscriptionCancelled> {}

  /** Takes the end date away again. */
  record RenewSubscription(String id, String externalCustomerId)
      implements SubscriptionMessages<SubscriptionView> {}

  record DeleteSubscription(String id) implements SubscriptionMessages<SubscriptionDeleted> {}

  /**
   * One element of a bulk creation; null means left out.
   *
   * @param startDate inclusive; null for now
   * @param endDate exclusive
   */
  record NewSubscription(
      String customerId,
      String planId,
      Instant startDate,
      Instant endDate,
      BillingCadence billingCadence,
      Currency currency,
      NetTerms netTerms,
      PaymentGateway paymentGateway,
      Boolean allowCustomerChanges,
      Boolean autoChargeInvoice,
      Boolean autoSyncInvoice,
      Boolean autoSendInvoice,
      Instant invoiceGenerationStartDate) {}

  /**
   * @param endDate exclusive
   * @param plan only where the answer is documented as carrying it
   */
  record SubscriptionView(
      Id id,
      Id customerId,
      Id planId,
      Id merchantId,
      SubscriptionStatus status,
      Instant startDate,
      Instant endDate,
      BillingCadence billingCadence,
      Currency currency,
      NetTerms netTerms,
      PaymentGateway paymentGateway,
      boolean allowCustomerChanges,
      boolean autoChargeInvoice,
      boolean autoSyncInvoice,
      boolean autoSendInvoice,
      boolean isTrial,
      Boolean chargeForUsageBasedPricesDuringTrial,
      Instant createdAt,
      Instant updatedAt,
      @JsonInclude(JsonInclude.Include.NON_NULL) PlanView plan)
      implements Reply {

    public SubscriptionView with(PlanView expanded) {
      return copy(status, endDate, isTrial, updatedAt, expanded);
    }

    SubscriptionView with(SubscriptionStatus changed, Instant at) {
      return copy(changed, endDate, isTrial, at, plan);
    }

    SubscriptionView withEnd(Instant changed, Instant at) {
      return copy(status, changed, isTrial, at, plan);
    }

    SubscriptionView afterTrial(Instant at) {
      return copy(status, endDate, false, at, plan);
    }

    private SubscriptionView copy(
        SubscriptionStatus newStatus,
        Instant newEnd,
        boolean trial,
        Instant newUpdatedAt,
        PlanView newPlan) {
      return new SubscriptionView(
          id,
          customerId,
          planId,
          merchantId,
          newStatus,
          startDate,
          newEnd,
          billingCadence,
          currency,
          netTerms,
          paymentGateway,
          allowCustomerChanges,
          autoChargeInvoice,
          autoSyncInvoice,
          autoSendInvoice,
          trial,
          chargeForUsageBasedPricesDuringTrial,
          createdAt,
          newUpdatedAt,
          newPlan);
    }
  }

  record Subscriptions(List<SubscriptionView> subscriptions) implements Reply {
    @Override
    public Object shown() {
      return subscriptions;
    }
  }

  record SubscriptionPage(List<SubscriptionView> results, long count, long pages, long currentPage)
      implements Reply {}

  record SubscriptionCancelled(boolean success, SubscriptionView subscription) implements Reply {}

  record SubscriptionDeleted(Id id) implements Reply {}
}
