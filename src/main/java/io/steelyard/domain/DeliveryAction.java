package io.steelyard.domain;

import java.util.Optional;

/** What is done with an invoice at its payment gateway, one after the other. */
public enum DeliveryAction implements WireName {
  /** Makes it known there. */
  SYNC("sync", InvoiceStatus.READY_TO_SYNC, InvoiceStatus.SYNCING, InvoiceStatus.PAUSED),
  /** Charges its total. */
  COLLECT(
      "collect",
      InvoiceStatus.READY_TO_COLLECT,
      InvoiceStatus.PENDING_PAYMENT,
      InvoiceStatus.PAYMENT_FAILED),
  /** Has it sent to the customer. */
  SEND("send", InvoiceStatus.READY_TO_SEND, InvoiceStatus.SENDING, InvoiceStatus.READY_TO_SEND);

  private final String wire;
  private final InvoiceStatus ready;
  private final InvoiceStatus underWay;
  private final InvoiceStatus givenUp;

  DeliveryAction(String wire, InvoiceStatus ready, InvoiceStatus underWay, InvoiceStatus givenUp) {
    this.wire = wire;
    this.ready = ready;
    this.underWay = underWay;
    this.givenUp = givenUp;
  }

  @Override
  public String wire() {
    return wire;
  }

  /** The state in which it waits for its turn, also for another one. */
  public InvoiceStatus ready() {
    return ready;
  }

  /** The state while the gateway is asked. */
  public InvoiceStatus underWay() {
    return underWay;
  }

  /** The state after the last attempt, and after a refusal. */
  public InvoiceStatus givenUp() {
    return givenUp;
  }

  /** Whether a final invoice goes to its gateway by itself; to charge or send it, it has to. */
  public static boolean isAutomatic(boolean autoSync, boolean autoSend, boolean autoCharge) {
    return autoSync || autoSend || autoCharge;
  }

  /** What follows the sync by itself; only a card gateway can charge. */
  public static Optional<DeliveryAction> afterSync(
      PaymentGateway gateway, boolean autoSend, boolean autoCharge) {
    if (autoCharge && gateway == PaymentGateway.CARD_GATEWAY) {
      return Optional.of(COLLECT);
    }
    return autoSend ? Optional.of(SEND) : Optional.empty();
  }
}
