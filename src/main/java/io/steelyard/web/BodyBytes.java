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

  /** What one request holds, from its first byte to its answer. */
  final class Share {
    private long bytes;

    /** Whether so much more fits now; counted once it is taken, as senders promise at will. */
    boolean fits(long more) {
      return inFlight + more <= max;
    }

    boolean take(int more) {
      if (!fits(more)) {
        return false;
      }
      bytes += more;
      inFlight += more;
      return true;
    }

    void giveBack(int fewer) {
      bytes -= fewer;
      inFlight -= fewer;
    }

    void end() {
      inFlight -= bytes;
      bytes = 0;
    }

    Refusal refusal() {
      refused.increment();
      return Refusal.closing(503, "overloaded", "The service is at its capacity. Try again.")
          .with("retry-after", "1");
    }
  }

  Share share() {
    return new Share();
  }
}
