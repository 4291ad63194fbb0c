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
  final class Held {
    private final MerchantShares.Place place;
    private long bytes;

    private Held(MerchantShares.Place place) {
      this.place = place;
    }

    /** Whether so much more fits now; counted once it is taken, as senders promise at will. */
    boolean fits(long more) {
      return inFlight + more <= max && (place == null || place.fits(more));
    }

    boolean take(int more) {
      if (inFlight + more > max || (place != null && !place.take(more))) {
        return false;
      }
      bytes += more;
      inFlight += more;
      return true;
    }

    void giveBack(long fewer) {
      bytes -= fewer;
      inFlight -= fewer;
      if (place != null) {
        place.giveBack(fewer);
      }
    }

    void end() {
      giveBack(bytes);
    }

    /** Of so many bytes that did not fit. */
    Refusal refusal(long more) {
      refused.increment();
      String detail =
          inFlight + more > max
              ? "The service is at its capacity. Try again."
              : "Too many bytes of this merchant's bodies are under way. Try again.";
      return Refusal.closing(503, "overloaded", detail).with("retry-after", "1");
    }
  }

  /**
   * @param place that the bytes count towards too, or null for a request of no merchant
   */
  Held hold(MerchantShares.Place place) {
    return new Held(place);
  }
}
