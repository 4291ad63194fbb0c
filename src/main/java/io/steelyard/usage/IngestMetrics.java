package io.steelyard.usage;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;

/** The numbers of ingestion, counted in events. */
final class IngestMetrics {
  private final MeterRegistry registry;
  private final Counter accepted;
  private final Counter duplicates;
  private final Counter conflicts;
  private final DistributionSummary flushEvents;
  private final Timer flushTime;

  IngestMetrics(MeterRegistry registry) {
    this.registry = registry;
    accepted =
        Counter.builder("steelyard.ingest.accepted")
            .description("Events stored")
            .register(registry);
    duplicates =
        Counter.builder("steelyard.ingest.duplicates")
            .description("Events whose key was stored before")
            .register(registry);
    conflicts =
        Counter.builder("steelyard.ingest.conflicts")
            .description("Events under a stored key with another payload")
            .register(registry);
    flushEvents =
        DistributionSummary.builder("steelyard.ingest.flush.events")
            .description("Events per flush")
            .register(registry);
    flushTime =
        Timer.builder("steelyard.ingest.flush.time")
            .description("Time from the start of a flush to its commit")
            .register(registry);
  }

  Timer.Sample flushStarted(int events) {
    flushEvents.record(events);
    return Timer.start(registry);
  }

  void flushEnded(Timer.Sample sample) {
    sample.stop(flushTime);
  }

  void answered(UsageMessages.Ingested outcome) {
    accepted.increment(outcome.accepted());
    duplicates.increment(outcome.duplicates());
  }

  void conflicting(long events) {
    conflicts.increment(events);
  }

  /**
   * @param reason the code of the failure that the request was answered with
   */
  void refused(String reason, int events) {
    Counter.builder("steelyard.ingest.refused")
        .description("Events that were not taken")
        .tag("reason", reason)
        .register(registry)
        .increment(events);
  }
}
