package io.steelyard.domain;

/** Whether a plan, billable or custom pricing unit can still be chosen. */
public enum CatalogStatus implements WireName {
  AVAILABLE("available"),
  ARCHIVED("archived");

  private final String wire;

  CatalogStatus(String wire) {
    this.wire = wire;
  }

  @Override
  public String wire() {
    return wire;
  }
}
