package io.steelyard.operator;

import io.steelyard.bus.Bus;
import io.steelyard.bus.Call;
import io.steelyard.merchant.MerchantMessages.FindMerchant;
import io.steelyard.web.Exchange;
import io.vertx.core.Future;

/** Turns the {@code {id}} of an operator's path into the merchant that the call is for. */
final class MerchantScope {
  private final Bus bus;

  MerchantScope(Bus bus) {
    this.bus = bus;
  }

  /** The exchange's call on behalf of the merchant in its path; not found otherwise. */
  Future<Call> of(Exchange exchange) {
    return bus.ask(new FindMerchant(exchange.path("id")), exchange.call())
        .map(found -> exchange.of(found.merchant()));
  }
}
