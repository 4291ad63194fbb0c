package io.steelyard.gateway;

import io.steelyard.domain.Id;
import io.steelyard.gateway.GatewayMessages.CheckoutSession;
import io.vertx.core.Future;

/**
 * What this service wants of a card gateway, on behalf of one merchant and within one call. The
 * same idempotency key gives the same outcome, however often it is sent.
 */
interface CardGateway {
  /** Makes the customer known to the gateway, and answers the gateway's id of it. */
  Future<String> createCustomer(CustomerDetails details, String idempotencyKey);

  /** Opens a page on which the customer gives a new card. */
  Future<CheckoutSession> createSetupSession(SetupRequest request, String idempotencyKey);

  /**
   * @param email may be null
   * @param name may be null
   */
  record CustomerDetails(Id customerId, String email, String name) {}

  /**
   * @param customer the gateway's id of the customer
   * @param successUrl where the page sends the customer afterwards
   */
  record SetupRequest(Id customerId, String customer, String successUrl) {}
}
