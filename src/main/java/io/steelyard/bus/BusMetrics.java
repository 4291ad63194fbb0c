package io.steelyard.bus;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.vertx.core.Vertx;
import io.vertx.core.shareddata.LocalMap;
import io.vertx.core.shareddata.Shareable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** What is asked at one address, of all its instances in this process. For all threads. */
final class BusMetrics implements Shareable {
  private static final String ALL = "steelyard.bus-metrics";

  private final LongAdder inFlight = new LongAdder();
  private final Timer answered;
  private final Timer refused;
  private final Timer failed;

  private BusMetrics(Address address, MeterRegistry registry) {
    this.answered = timer(address, "answered", registry);
    this.refused = timer(address, "refused", registry);
    this.failed = timer(address, "failed", registry);
    Gauge.builder("steelyard.bus.in.flight", inFlight, LongAdder::sum)
        .description("Requests that are being worked on")
        .tag("address", address.value())
        .strongReference(true)
        .register(registry);
  }

  private static Timer timer(Address address, String outcome, MeterRegistry registry) {
    return Timer.builder("steelyard.bus.requests")
        .description("Requests by what came of them, with the time they took")
        .tag("address", address.value())
        .tag("outcome", outcome)
        .register(registry);
  }

  static BusMetrics of(Vertx vertx, Address address, MeterRegistry registry) {
    LocalMap<String, BusMetrics> all = vertx.sharedData().getLocalMap(ALL);
    return all.computeIfAbsent(address.value(), name -> new BusMetrics(address, registry));
  }

  /** What {@link #answered} or {@link #failed} is to be told, one of them once. */
  long begin() {
    inFlight.increment();
    return System.nanoTime();
  }

  void answered(long begunAt) {
    end(answered, begunAt);
  }

  void failed(long begunAt, Failure failure) {
    end(isRefusal(failure) ? refused : failed, begunAt);
  }

  /** What the caller asked for cannot be; else it should have been possible. */
  static boolean isRefusal(Failure failure) {
    return switch (failure) {
      case Failure.NotFound n -> true;
      case Failure.Invalid i -> true;
      case Failure.Conflict c -> true;
      case Failure.Gone g -> true;
      case Failure.Rejected r -> true;
      case Failure.Overloaded o -> false;
      case Failure.Unavailable u -> false;
      case Failure.TimedOut t -> false;
      case Failure.Unexpected u -> false;
    };
  }

  private void end(Timer timer, long begunAt) {
    inFlight.decrement();
    timer.record(System.nanoTime() - begunAt, TimeUnit.NANOSECONDS);
  }
}
