package io.steelyard.domain;

/** Whether a price is charged at the start or at the end of a period. */
public enum BillingMode implements WireName {
  ADVANCE("advance"),
  ARREARS("arrears");

  private final String wire;

  BillingMode(String wire) {
    this.wire = wire;
  }

  @Override
  public String wire() {
    return wire;
  }
}
