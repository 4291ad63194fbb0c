package io.steelyard.domain;

/** Why a line is on an invoice. */
public enum LineKind implements WireName {
  /** What the period that begins at the boundary costs in advance. */
  ADVANCE("advance"),
  /** What the usage of the period that ends at the boundary costs. */
  ARREARS("arrears"),
  /** What an earlier period costs now, less what was billed for it. */
  ADJUSTMENT("adjustment");

  private final String wire;

  LineKind(String wire) {
    this.wire = wire;
  }

  @Override
  public String wire() {
    return wire;
  }
}
