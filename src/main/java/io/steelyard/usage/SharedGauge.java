package io.steelyard.usage;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.core.shareddata.LocalMap;
import io.vertx.core.shareddata.Shareable;
import java.util.concurrent.atomic.AtomicLong;

/** One number that all instances of a verticle in this process report together. */
final class SharedGauge implements Shareable {
  private final AtomicLong value = new AtomicLong();

  private SharedGauge() {}

  static SharedGauge of(Vertx vertx, MeterRegistry metrics, String name, String description) {
    LocalMap<String, SharedGauge> gauges = vertx.sharedData().getLocalMap("steelyard.gauges");
    return gauges.computeIfAbsent(
        name,
        key -> {
          SharedGauge gauge = new SharedGauge();
          Gauge.builder(name, gauge, shared -> shared.value.get())
              .description(description)
              .strongReference(true)
              .register(metrics);
          return gauge;
        });
  }

  void add(long delta) {
    value.addAndGet(delta);
  }

  void set(long now) {
    value.set(now);
  }
}
