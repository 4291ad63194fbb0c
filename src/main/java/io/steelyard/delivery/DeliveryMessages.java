package io.steelyard.delivery;

import io.steelyard.bus.Address;
import io.steelyard.bus.Reply;
import io.steelyard.bus.Request;
import io.steelyard.domain.CollectionOutcome;
import io.steelyard.domain.Id;
import io.steelyard.domain.InvoiceStatus;

/** What the delivery may be asked; otherwise it runs by itself. */
public sealed interface DeliveryMessages<R extends Reply> extends Request<R> {
  @Override
  default Address address() {
    return Address.DELIVERY;
  }

  /**
   * Does all that is to be done now at the gateways of the call's merchant, and answers after it;
   * {@code still_working} when the time is up before. What waits for a later attempt is not due.
   */
  record RunDueDeliveries() implements DeliveryMessages<DeliveriesDone> {}

  /**
   * What a gateway says about a payment without having been asked. Told twice, it has its effect
   * once; {@code illegal_transition} where the invoice's state does not allow it.
   */
  record ReportPayment(Id invoiceId, CollectionOutcome outcome)
      implements DeliveryMessages<PaymentReported> {}

  /**
   * @param attempts how many were made
   */
  record DeliveriesDone(long attempts) implements Reply {}

  /**
   * @param status the invoice's state now
   */
  record PaymentReported(InvoiceStatus status) implements Reply {}
}
