package io.steelyard.domain;

/** The currencies a plan can be priced in. */
public enum Currency implements WireName {
  USD("USD");

  private final String wire;

  Currency(String wire) {
    this.wire = wire;
  }

  @Override
  public String wire() {
    return wire;
  }
}
