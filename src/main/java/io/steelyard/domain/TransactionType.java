package io.steelyard.domain;

/** Why a block's remaining amount changed. */
public enum TransactionType implements WireName {
  PLAN_ALLOCATION("planAllocation"),
  MANUAL_ALLOCATION("manualAllocation"),
  USAGE("usage"),
  EXPIRATION("expiration"),
  ROLLOVER("rollover"),
  REVERSAL("reversal");

  private final String wire;

  TransactionType(String wire) {
    this.wire = wire;
  }

  @Override
  public String wire() {
    return wire;
  }
}
