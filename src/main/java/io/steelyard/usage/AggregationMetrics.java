package io.steelyard.usage;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.steelyard.bus.SharedGauge;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/** The numbers of the fold. */
final class AggregationMetrics {
  private final MeterRegistry registry;
  private final Counter events;
  private final Counter periods;
  private final Counter failed;
  private final Timer roundTime;
  private final FoldBacklog backlogEvents;
  private final SharedGauge backlogAgeMs;

  AggregationMetrics(MeterRegistry registry, Vertx vertx) {
    this.registry = registry;
    events = counter("steelyard.aggregation.events", "Events folded");
    periods = counter("steelyard.aggregation.backfilled", "Periods brought up to date");
    failed =
        counter("steelyard.aggregation.failed", "Batches or periods left alone after failures");
    roundTime =
        Timer.builder("steelyard.aggregation.round.time")
            .description("Time of one claim, from its start to its commit")
            .register(registry);
    backlogEvents = FoldBacklog.of(vertx);
    Gauge.builder("steelyard.aggregation.backlog.events", backlogEvents, FoldBacklog::events)
        .description("Events not yet folded")
        .strongReference(true)
        .register(registry);
    backlogAgeMs =
        SharedGauge.of(
            vertx,
            registry,
            "steelyard.aggregation.backlog.age.ms",
            "How long the oldest event waits to be folded");
  }

  private Counter counter(String name, String description) {
    return Counter.builder(name).description(description).register(registry);
  }

  Timer.Sample roundStarted() {
    return Timer.start(registry);
  }

  void roundEnded(Timer.Sample sample) {
    sample.stop(roundTime);
  }

  void folded(int count, Map<String, Integer> unratable) {
    events.increment(count);
    unratable.forEach(
        (reason, number) ->
            Counter.builder("steelyard.usage.unratable")
                .description("Events that matched a billable and had nothing to count")
                .tag("reason", reason)
                .register(registry)
                .increment(number));
  }

  void backfilled(int count, int foldedEvents, Map<String, Integer> unratable) {
    periods.increment(count);
    folded(foldedEvents, unratable);
  }

  void leftAlone() {
    failed.increment();
  }

  void backlog(BatchStore.Backlog backlog, Instant now) {
    backlogEvents.measured(backlog.events());
    backlogAgeMs.set(
        backlog.oldest() == null ? 0 : Duration.between(backlog.oldest(), now).toMillis());
  }
}
