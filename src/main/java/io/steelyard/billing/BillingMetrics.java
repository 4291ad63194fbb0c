package io.steelyard.billing;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.steelyard.billing.DueJob.Work;

/** Counts what the clockwork has committed. */
final class BillingMetrics {
  private final Counter started;
  private final Counter ended;
  private final Counter finalised;
  private final Counter expired;
  private final Counter overdue;
  private final Counter parked;
  private final Counter failed;

  BillingMetrics(MeterRegistry registry) {
    started = counter(registry, "started", "Subscriptions that became active at their start date");
    ended = counter(registry, "ended", "Subscriptions that ended at their end date");
    finalised = counter(registry, "finalised", "Invoices that became final");
    expired = counter(registry, "expired", "Blocks of units whose rest expired");
    overdue = counter(registry, "overdue", "Invoices that became overdue");
    parked = counter(registry, "parked", "Subscriptions set aside, whose invoice cannot be made");
    failed = counter(registry, "failed", "Times that a merchant's due work failed, left for later");
  }

  private static Counter counter(MeterRegistry registry, String name, String description) {
    return Counter.builder("steelyard.billing." + name).description(description).register(registry);
  }

  void did(Work work) {
    started.increment(work.started());
    ended.increment(work.ended());
    finalised.increment(work.finalised());
  }

  void expired(int blocks) {
    expired.increment(blocks);
  }

  void overdue(int invoices) {
    overdue.increment(invoices);
  }

  void parked() {
    parked.increment();
  }

  void failed() {
    failed.increment();
  }
}
