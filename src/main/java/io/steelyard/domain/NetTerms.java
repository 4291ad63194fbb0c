package io.steelyard.domain;

/** How long after an invoice's issue its payment is due. */
public enum NetTerms implements WireName {
  UPON_RECEIPT("uponReceipt"),
  NET30("net30"),
  NET60("net60"),
  NET90("net90");

  private final String wire;

  NetTerms(String wire) {
    this.wire = wire;
  }

  @Override
  public String wire() {
    return wire;
  }
}
