package io.steelyard.web;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * How many bytes of bodies are being read and worked on: a bound on memory that a bound on requests
 * is not. Belongs to one event loop.
 */
final class BodyBytes {
  private final long max;
  private final Counter refused;
  private long inFlight;

  BodyBytes(long max, MeterRegistry metrics) {
    this.max = max;
    this.refused =
        Counter.builder("steelyard.http.bodies.refused")
            .description("Requests refused because too many bytes of bodies were in flight")
            .register(metrics);
  }

  boolean fits(long more) {
    return inFlight + more <= max;
  }

  /** So many that fit. */
  void take(long more) {
    inFlight += more;
  }

  void giveBack(long fewer) {
    inFlight -= fewer;
  }

  /** Of so many bytes that did not fit, here or in their merchant's share. */
  Refusal refusal(long more) {
    refused.increment();
    String detail =
        fits(more)
            ? "Too many bytes of this merchant's bodies are under way. Try again."
            : "The service is at its capacity. Try again.";
    return Refusal.closing(503, "overloaded", detail).with("retry-after", "1");
  }
}
