package io.steelyard.domain;

/** What became of the attempt to charge an invoice. */
public enum CollectionOutcome implements WireName {
  SUCCEEDED("succeeded", InvoiceStatus.PAID),
  ACTION_REQUIRED("actionRequired", InvoiceStatus.PAYMENT_ACTION_REQUIRED),
  FAILED("failed", InvoiceStatus.PAYMENT_FAILED);

  private final String wire;
  private final InvoiceStatus status;

  CollectionOutcome(String wire, InvoiceStatus status) {
    this.wire = wire;
    this.status = status;
  }

  @Override
  public String wire() {
    return wire;
  }

  /** The state that the invoice takes by it. */
  public InvoiceStatus status() {
    return status;
  }
}
