package io.steelyard.bus;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.core.shareddata.LocalMap;
import io.vertx.core.shareddata.Shareable;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** One number that all instances of a verticle in this process report together. */
public final class SharedGauge implements Shareable {
  private final AtomicLong value = new AtomicLong();

  private SharedGauge() {}

  /**
   * The one of this name and these tags, made when it is first asked for.
   *
   * @param tags keys, each with its value behind it
   */
  public static SharedGauge of(
      Vertx vertx, MeterRegistry metrics, String name, String description, String... tags) {
    LocalMap<String, SharedGauge> gauges = vertx.sharedData().getLocalMap("steelyard.gauges");
    return gauges.computeIfAbsent(
        name + List.of(tags),
        key -> {
          SharedGauge gauge = new SharedGauge();
          Gauge.builder(name, gauge, shared -> shared.value.get())
              .description(description)
              .tags(tags)
              .strongReference(true)
              .register(metrics);
          return gauge;
        });
  }

  public void add(long delta) {
    value.addAndGet(delta);
  }

  public void set(long now) {
    value.set(now);
  }
}
