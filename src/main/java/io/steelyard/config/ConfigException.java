package io.steelyard.config;

/** A setting that cannot be: the message names it, and what is allowed. */
public final class ConfigException extends StartFailure {
  private static final long serialVersionUID = 1L;

  ConfigException(String line) {
    super(line);
  }
}
