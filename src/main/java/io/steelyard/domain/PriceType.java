package io.steelyard.domain;

/** How a quantity turns into an amount. */
public enum PriceType implements WireName {
  UNIT("unit"),
  BULK("bulk"),
  TIERED("tiered"),
  VOLUME("volume");

  private final String wire;

  PriceType(String wire) {
    this.wire = wire;
  }

  @Override
  public String wire() {
    return wire;
  }
}
