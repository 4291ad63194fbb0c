package io.steelyard.config;

import java.util.List;

/** Settings that cannot be: every fault names what it is about, and what is allowed. */
public final class ConfigException extends StartFailure {
  private static final long serialVersionUID = 1L;

  private final transient List<String> faults;

  ConfigException(String fault) {
    super(fault);
    this.faults = List.of(fault);
  }

  private ConfigException(List<String> faults) {
    super(faults.size() + " faults in the settings:", faults);
    this.faults = List.copyOf(faults);
  }

  /**
   * @param faults one or more
   */
  static ConfigException of(List<String> faults) {
    return faults.size() == 1
        ? new ConfigException(faults.getFirst())
        : new ConfigException(faults);
  }

  /** A line for each. */
  List<String> faults() {
    return faults;
  }
}
