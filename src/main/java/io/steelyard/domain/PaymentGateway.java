package io.steelyard.domain;

/** The systems an invoice can be synced to, sent from or collected by. */
public enum PaymentGateway implements WireName {
  CARD_GATEWAY("CardGateway"),
  LEDGER_A("LedgerA"),
  LEDGER_B("LedgerB");

  private final String wire;

  PaymentGateway(String wire) {
    this.wire = wire;
  }

  @Override
  public String wire() {
    return wire;
  }
}
