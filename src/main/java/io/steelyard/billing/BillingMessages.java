package io.steelyard.billing;

import io.steelyard.bus.Address;
import io.steelyard.bus.Reply;
import io.steelyard.bus.Request;
import io.steelyard.domain.Id;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.invoice.InvoiceMessages.LineItemView;
import java.time.Instant;
import java.util.List;

/** What the clockwork may be asked; otherwise it runs by itself. */
public sealed interface BillingMessages<R extends Reply> extends Request<R> {
  @Override
  default Address address() {
    return Address.BILLING;
  }

  /** Does all work of the call's merchant that is due by its clock, and answers after it. */
  record RunDueWork() implements BillingMessages<DueWorkDone> {}

  /** Takes up a subscription again that was parked since its invoice could not be made. */
  record ResumeSubscription(String id) implements BillingMessages<SubscriptionResumed> {}

  /** The invoice that would be made at the subscription's next boundary with the usage so far. */
  record PreviewInvoice(String subscriptionId) implements BillingMessages<UpcomingInvoice> {}

  /**
   * @param count how much was done
   */
  record DueWorkDone(long count) implements Reply {}

  /**
   * @param parkedAt null, like {@code parkedReason}, unless it is parked again
   */
  record SubscriptionResumed(Id id, Instant parkedAt, String parkedReason) implements Reply {}

  /**
   * An invoice that does not exist yet: what only a stored one has is null.
   *
   * @param pendingDate when it will be made
   */
  record UpcomingInvoice(
      Id id,
      String externalId,
      InvoiceStatus status,
      Instant createdAt,
      Instant updatedAt,
      Instant dueDate,
      Instant issueDate,
      Instant pendingDate,
      Long vanityId,
      String vanityIdString,
      Id customerId,
      Id merchantId,
      Id subscriptionId,
      boolean autoSyncInvoice,
      boolean autoSendInvoice,
      boolean autoChargeInvoice,
      PaymentGateway paymentGateway,
      List<LineItemView> invoiceLineItems)
      implements Reply {
    public UpcomingInvoice {
      invoiceLineItems = List.copyOf(invoiceLineItems);
    }
  }
}
