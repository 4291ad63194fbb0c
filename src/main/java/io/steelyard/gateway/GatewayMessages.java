package io.steelyard.gateway;

import io.steelyard.bus.Address;
import io.steelyard.bus.Reply;
import io.steelyard.bus.Request;
import io.steelyard.domain.CollectionOutcome;
import io.steelyard.domain.Id;
import io.steelyard.domain.PaymentGateway;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * What the gateway verticle may be asked: connections, sessions at a card gateway, and invoices at
 * any.
 */
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

  /** Makes an invoice known to its gateway. */
  record SyncDocument(PaymentGateway gateway, Document document, String idempotencyKey)
      implements GatewayMessages<Synced> {}

  /** Looks how an invoice stands at its gateway. */
  record FindDocument(PaymentGateway gateway, String externalId)
      implements GatewayMessages<DocumentFound> {}

  /** Charges an invoice. */
  record CollectDocument(PaymentGateway gateway, String externalId, String idempotencyKey)
      implements GatewayMessages<Collected> {}

  /** Has an invoice sent to the customer. */
  record SendDocument(PaymentGateway gateway, String externalId, String idempotencyKey)
      implements GatewayMessages<Sent> {}

  /** Tells the sandbox of the call's merchant how to answer from now on. */
  record SetSandboxBehavior(
      PaymentGateway gateway, SandboxBehavior sync, SandboxBehavior collect, SandboxBehavior send)
      implements GatewayMessages<SandboxBehaviorView> {}

  /** Plays the customer who does, or fails to do, what a charge at the sandbox demands. */
  record CompleteSandboxPayment(String invoiceId, CollectionOutcome outcome)
      implements GatewayMessages<SandboxPaymentCompleted> {}

  /**
   * An invoice as a gateway is to know it.
   *
   * @param number counts the merchant's invoices
   * @param total in currency units
   * @param charged whether the gateway is to charge it; otherwise the customer pays by its due date
   */
  record Document(
      Id invoiceId,
      long number,
      Id customerId,
      String currency,
      BigDecimal total,
      Instant dueDate,
      boolean charged,
      List<DocumentLine> lines) {
    public Document {
      lines = List.copyOf(lines);
    }
  }

  /**
   * @param amount in currency units
   */
  record DocumentLine(String description, BigDecimal amount) {}

  /** How an invoice stands at its gateway. */
  enum DocumentState {
    OPEN,
    PAID,
    DELETED
  }

  /**
   * @param externalId the gateway's id of the invoice
   * @param repeated whether the gateway has given this answer twice
   */
  record Synced(String externalId, boolean repeated) implements Reply {}

  record DocumentFound(DocumentState state) implements Reply {}

  /**
   * @param detail the gateway's own words; may be null
   * @param repeated whether the gateway has given this answer twice
   */
  record Collected(CollectionOutcome outcome, String detail, boolean repeated) implements Reply {}

  /**
   * @param repeated whether the gateway has given this answer twice
   */
  record Sent(boolean repeated) implements Reply {}

  record SandboxBehaviorView(
      PaymentGateway gateway, SandboxBehavior sync, SandboxBehavior collect, SandboxBehavior send)
      implements Reply {}

  record SandboxPaymentCompleted(Id invoiceId) implements Reply {}

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
