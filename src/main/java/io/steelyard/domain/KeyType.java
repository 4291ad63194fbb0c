package io.steelyard.domain;

/** What an API key may be used for; only secret keys may call the external API. */
public enum KeyType implements WireName {
  SECRET("secret"),
  PUBLISHABLE("publishable");

  private final String wire;

  KeyType(String wire) {
    this.wire = wire;
  }

  @Override
  public String wire() {
    return wire;
  }
}
