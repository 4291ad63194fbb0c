package io.steelyard.gateway;

import io.steelyard.gateway.GatewayMessages.Collected;
import io.steelyard.gateway.GatewayMessages.Document;
import io.steelyard.gateway.GatewayMessages.DocumentFound;
import io.steelyard.gateway.GatewayMessages.Sent;
import io.steelyard.gateway.GatewayMessages.Synced;
import io.vertx.core.Future;

/**
 * What this service wants of a gateway for a merchant's invoices, within one call. The same
 * idempotency key gives the same outcome, however often it is sent. Every question fails with
 * {@code gateway_unavailable} where there is no verdict, {@code gateway_refused} where it is no,
 * and {@code document_not_found} where the gateway knows the invoice no more.
 */
interface InvoiceGateway {
  /**
   * @param customer the gateway's id of the customer; null where there is none
   */
  Future<Synced> sync(Document document, String customer, String idempotencyKey);

  Future<DocumentFound> find(String externalId);

  Future<Collected> collect(String externalId, String idempotencyKey);

  Future<Sent> send(String externalId, String idempotencyKey);
}
