package io.steelyard.usage;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.steelyard.usage.RetentionMessages.EventMonth;
import java.util.List;

/** How many months have events, as this process saw it last, for all its instances together. */
public final class RetentionMetrics {
  private volatile double kept = Double.NaN;
  private volatile double bytes = Double.NaN;
  private final Counter dropped;
  private final Counter failed;

  public RetentionMetrics(MeterRegistry registry) {
    Gauge.builder("steelyard.events.months", this, metrics -> metrics.kept)
        .description("Months that have events; no number before the first look")
        .strongReference(true)
        .register(registry);
    Gauge.builder("steelyard.events.stored", this, metrics -> metrics.bytes)
        .description("What counted events take on disk, without their keys")
        .baseUnit("bytes")
        .strongReference(true)
        .register(registry);
    dropped =
        Counter.builder("steelyard.events.months.dropped")
            .description("Months of events that were dropped")
            .register(registry);
    failed =
        Counter.builder("steelyard.events.months.failed")
            .description("Old months that could not be listed or dropped in their turn")
            .register(registry);
  }

  void months(List<EventMonth> months) {
    kept = months.size();
    bytes = months.stream().mapToLong(EventMonth::bytes).sum();
  }

  void dropped() {
    dropped.increment();
  }

  void failed() {
    failed.increment();
  }
}
