package io.steelyard.domain;

/** How long after an invoice's issue its payment is due. */
public enum NetTerms implements WireName {
  UPON_RECEIPT("uponReceipt", 0),
  NET30("net30", 30),
  NET60("net60", 60),
  NET90("net90", 90);

  private final String wire;
  private final int days;

  NetTerms(String wire, int days) {
    this.wire = wire;
    this.days = days;
  }

  @Override
  public String wire() {
    return wire;
  }

  /** Days from the issue to the day payment is due. */
  public int days() {
    return days;
  }
}
