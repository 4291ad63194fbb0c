package io.steelyard.invoice;

import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.Failure.Fault;
import io.steelyard.bus.FailureException;
import io.steelyard.db.CustomerLocks;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.invoice.FreedUsageStore.Standing;
import io.steelyard.invoice.InvoiceMessages.RebillRequested;
import io.steelyard.invoice.InvoiceMessages.RequestRebill;
import io.steelyard.merchant.MerchantClock;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.util.List;
import java.util.Set;

/** Has the usage of closed periods billed anew that operators name. */
final class Rebilling {
  private final MerchantClock clock;
  private final FreedUsageStore store = new FreedUsageStore();

  Rebilling(MerchantClock clock) {
    this.clock = clock;
  }

  /**
   * @throws FailureException (in the Future) not found for an unknown subscription, rejected for a
   *     period that it has not come to, a conflict for one that is open or whose own invoice is yet
   *     to be final, and where no invoice is to come
   */
  Future<RebillRequested> request(SqlConnection tx, Call call, RequestRebill wanted) {
    return Id.parse(IdKind.SUBSCRIPTION, wanted.subscriptionId())
        .map(subscription -> request(tx, call, subscription, wanted.period()))
        .orElseGet(Rebilling::unknown);
  }

  private Future<RebillRequested> request(
      SqlConnection tx, Call call, Id subscription, int period) {
    return store
        .standing(tx, call.merchantId(), subscription.uuid(), period)
        .compose(found -> found.map(Rebilling::mustBeBilled).orElseGet(Rebilling::unknown))
        .compose(standing -> CustomerLocks.lock(tx, Set.of(standing.customerId())))
        .compose(locked -> clock.now(tx, call))
        .compose(
            now ->
                store.rebillUsage(tx, call.merchantId(), subscription.uuid(), List.of(period), now))
        .map(new RebillRequested(subscription, period));
  }

  private static <T> Future<T> unknown() {
    return FailureException.failed(Failure.notFound("subscription"));
  }

  private static Future<Standing> mustBeBilled(Standing standing) {
    if (!standing.exists()) {
      String why = "The subscription has not come to such a period.";
      return FailureException.failed(
          new Failure.Rejected(
              "unknown_period", why, List.of(Fault.at("/period", "unknown_period", why))));
    }
    if (!standing.billed()) {
      return conflict(
          "period_not_billed", "The period is open, or its own invoice is yet to be final.");
    }
    return standing.last()
        ? conflict(
            "no_further_invoice",
            "The subscription's open period has no end, so no invoice is to come. Ask again when"
                + " the subscription has been cancelled.")
        : Future.succeededFuture(standing);
  }

  private static <T> Future<T> conflict(String code, String detail) {
    return FailureException.failed(new Failure.Conflict(code, detail));
  }
}
