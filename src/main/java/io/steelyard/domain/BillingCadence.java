package io.steelyard.domain;

/** How often a price or subscription is billed. */
public enum BillingCadence implements WireName {
  MONTHLY("monthly", 1),
  QUARTERLY("quarterly", 3),
  ANNUALLY("annually", 12),
  ONE_TIME("oneTime", 0);

  private final String wire;
  private final int months;

  BillingCadence(String wire, int months) {
    this.wire = wire;
    this.months = months;
  }

  @Override
  public String wire() {
    return wire;
  }

  /** Length of a period in calendar months; 0 for {@link #ONE_TIME}, which has a single period. */
  public int months() {
    return months;
  }
}
