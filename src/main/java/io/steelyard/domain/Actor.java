package io.steelyard.domain;

/** Who changed the state of something. */
public enum Actor implements WireName {
  /** The clockwork, and what opens a subscription's first period. */
  BILLING("billing"),
  /** A payment gateway, by its answer or its silence. */
  GATEWAY("gateway"),
  OPERATOR("operator"),
  MERCHANT("merchant");

  private final String wire;

  Actor(String wire) {
    this.wire = wire;
  }

  @Override
  public String wire() {
    return wire;
  }
}
