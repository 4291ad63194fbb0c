package io.steelyard.gateway;

import io.steelyard.domain.WireName;

/** How the sandbox answers when it is asked to do something with an invoice. */
public enum SandboxBehavior implements WireName {
  SUCCEED("succeed"),
  /** Refuses. */
  DECLINE("decline"),
  /** Charges only after the customer has done something. */
  REQUIRE_ACTION("requireAction"),
  /** Does it, and never answers. */
  TIMEOUT("timeout"),
  /** Does nothing, and says that it cannot now. */
  UNAVAILABLE("unavailable"),
  /** Does it once, and answers twice. */
  DUPLICATE("duplicate");

  private final String wire;

  SandboxBehavior(String wire) {
    this.wire = wire;
  }

  @Override
  public String wire() {
    return wire;
  }
}
