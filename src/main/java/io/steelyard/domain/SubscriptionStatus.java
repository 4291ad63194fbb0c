package io.steelyard.domain;

/** The states of a subscription. */
public enum SubscriptionStatus implements WireName {
  DRAFT("draft"),
  PENDING_ACTIVATION("pendingActivation"),
  ACTIVE("active"),
  ENDED("ended"),
  DELETED("deleted");

  private final String wire;

  SubscriptionStatus(String wire) {
    this.wire = wire;
  }

  @Override
  public String wire() {
    return wire;
  }
}
