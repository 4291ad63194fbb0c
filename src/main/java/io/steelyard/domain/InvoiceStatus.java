package io.steelyard.domain;

/** The states of an invoice. */
public enum InvoiceStatus implements WireName {
  TEST("test"),
  DRAFT("draft"),
  PENDING("pending"),
  PAUSED("paused"),
  READY_TO_SYNC("readyToSync"),
  SYNCING("syncing"),
  READY_TO_COLLECT("readyToCollect"),
  PENDING_PAYMENT("pendingPayment"),
  READY_TO_SEND("readyToSend"),
  SENDING("sending"),
  ISSUED("issued"),
  PAYMENT_ACTION_REQUIRED("paymentActionRequired"),
  PAYMENT_FAILED("paymentFailed"),
  PAID("paid"),
  VOID("void"),
  OVERDUE("overdue"),
  DELETED_FROM_PAYMENT_GATEWAY("deletedFromPaymentGateway"),
  UNCOLLECTIBLE("uncollectible");

  private final String wire;

  InvoiceStatus(String wire) {
    this.wire = wire;
  }

  @Override
  public String wire() {
    return wire;
  }
}
