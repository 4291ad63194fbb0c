package io.steelyard.domain;

/** Whether a merchant's money is real. */
public enum Environment implements WireName {
  LIVE("live"),
  TEST("test");

  private final String wire;

  Environment(String wire) {
    this.wire = wire;
  }

  @Override
  public String wire() {
    return wire;
  }
}
