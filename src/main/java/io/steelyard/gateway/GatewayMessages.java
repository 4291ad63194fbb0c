package io.steelyard.gateway;

import io.steelyard.bus.Address;
import io.steelyard.bus.Reply;
import io.steelyard.bus.Request;
import io.steelyard.domain.PaymentGateway;
import java.time.Instant;
import java.util.Map;

/** What the gateway verticle may be asked: connections, and sessions at a card gateway. */
public sealed interface GatewayMessages<R extends Reply> extends Request<R> {
  @Override
  default Address address() {
    return Address.GATEWAY;
  }

  /**
   * Connects or reconnects a gateway.
   *
   * @param kind {@code sandbox} or {@code http}
   * @param baseUrl of an {@code http} gateway
   * @param secret of an {@code http} gateway; encrypted before it is stored, never shown again
   */
  record ConnectGateway(PaymentGateway gateway, String kind, String baseUrl, String secret)
      implements GatewayMessages<ConnectionView> {
    /** Without the secret, for logs. */
    @Override
    public String toString() {
      return "ConnectGateway[gateway=" + gateway + ", kind=" + kind + ", baseUrl=" + baseUrl + "]";
    }
  }

  record DisconnectGateway(PaymentGateway gateway) implements GatewayMessages<Disconnected> {}

  /** Opens a hosted page on which the customer gives a new card. */
  record CreateSetupSession(String externalCustomerId, String successUrl, String email, String name)
      implements GatewayMessages<CheckoutSession> {}

  /** A session at the sandbox gateway of the call's merchant. */
  record GetSandboxSession(String sessionId) implements GatewayMessages<CheckoutSession> {}

  /** Completes an open session of the call's merchant at its sandbox gateway. */
  record CompleteSandboxSession(String sessionId) implements GatewayMessages<CheckoutSession> {}

  record ConnectionView(
      PaymentGateway gateway, String kind, String baseUrl, Instant createdAt, Instant updatedAt)
      implements Reply {}

  record Disconnected(PaymentGateway gateway) implements Reply {}

  /** Field names as the card gateway writes them. */
  record CheckoutSession(
      String id,
      String object,
      String url,
      String status,
      String mode,
      String customer,
      String success_url,
      String setup_intent,
      String payment_status,
      long created,
      long expires_at,
      boolean livemode,
      String currency,
      Map<String, Object> metadata)
      implements Reply {}
}
