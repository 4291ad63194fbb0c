package io.steelyard.usage;

/** Somebody has locked a period that this claim must not wait for: to be tried again soon. */
final class PeriodHeldException extends RuntimeException {
  private static final long serialVersionUID = 1;

  PeriodHeldException(Throwable cause) {
    super("a period is locked", cause);
  }
}
