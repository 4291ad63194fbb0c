package io.steelyard.web;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.steelyard.bus.Waits;
import io.vertx.core.Future;

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

  /** That of one request, once at most. */
  interface Absence {
    boolean isPossible();

    void begin();
  }

  /** What one request holds, from its first byte to its answer. */
  final class Held {
    private final Place place;
    private final Absence absence;
    private long bytes;

    private Held(Place place, Absence absence) {
      this.place = place;
      this.absence = absence;
    }

    /** Whether its place is for others from now on, until the rest of its body is there. */
    boolean suspend() {
      if (place == null || !absence.isPossible() || !place.suspend()) {
        return false;
      }
      absence.begin();
      return true;
    }

    /** As {@link Place#resume}. */
    Future<?> resume(Waits waits) {
      return place == null ? Future.succeededFuture() : place.resume(waits);
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
   * @param absence from those in flight at this instance, while its body is silent
   */
  Held hold(Place place, Absence absence) {
    return new Held(place, absence);
  }
}
