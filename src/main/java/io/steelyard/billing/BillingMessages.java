package io.steelyard.billing;

import io.steelyard.bus.Address;
import io.steelyard.bus.Reply;
import io.steelyard.bus.Request;

/** What the clockwork may be asked; otherwise it runs by itself. */
public sealed interface BillingMessages<R extends Reply> extends Request<R> {
  @Override
  default Address address() {
    return Address.BILLING;
  }

  /** Does all work of the call's merchant that is due by its clock, and answers after it. */
  record RunDueWork() implements BillingMessages<DueWorkDone> {}

  /**
   * @param subscriptions how many were started or ended
   */
  record DueWorkDone(long subscriptions) implements Reply {}
}
