package io.steelyard.domain;

/** How a period's matching events turn into one quantity. */
public enum Calculation implements WireName {
  SUM("sum"),
  COUNT("count"),
  MAX("max"),
  MIN("min"),
  AVERAGE("average"),
  UNIQUE_COUNT("uniqueCount"),
  LATEST("latest");

  private final String wire;

  Calculation(String wire) {
    this.wire = wire;
  }

  @Override
  public String wire() {
    return wire;
  }
}
