package io.steelyard.delivery;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.steelyard.domain.DeliveryAction;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** What the delivery did, and how far behind it is. */
final class DeliveryMetrics {
  private final MeterRegistry registry;
  private final Counter failed;
  private final AtomicLong oldestMs = new AtomicLong();

  DeliveryMetrics(MeterRegistry registry) {
    this.registry = registry;
    this.failed =
        Counter.builder("steelyard.delivery.failed")
            .description("Times that a merchant's deliveries failed and were left for later")
            .register(registry);
    // Of several instances the first one reports: all of them see the same rows.
    Gauge.builder("steelyard.delivery.oldest.due.seconds", oldestMs, ms -> ms.get() / 1000.0)
        .description("How long the invoice waits for its gateway that waits longest")
        .strongReference(true)
        .register(registry);
  }

  void attempt(DeliveryAction action, String outcome) {
    Counter.builder("steelyard.delivery.attempts")
        .description("Attempts at payment gateways by action and what came of them")
        .tag("action", action.wire())
        .tag("outcome", outcome)
        .register(registry)
        .increment();
  }

  void failed() {
    failed.increment();
  }

  void oldestDue(Duration age) {
    oldestMs.set(age.toMillis());
  }
}
