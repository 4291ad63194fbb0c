package io.steelyard.integrity;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.steelyard.integrity.IntegrityMessages.Check;
import io.steelyard.integrity.IntegrityMessages.CheckResult;
import io.steelyard.integrity.IntegrityMessages.IntegrityReport;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** What the last round of this process found, for all its instances together. */
public final class IntegrityMetrics {
  private final Map<Check, Double> findings = new ConcurrentHashMap<>();
  private volatile double lastRunSeconds = Double.NaN;
  private final Counter failed;

  public IntegrityMetrics(MeterRegistry registry) {
    for (Check check : Check.values()) {
      Gauge.builder(
              "steelyard.integrity.findings", findings, map -> map.getOrDefault(check, Double.NaN))
          .description("Faults of all merchants that the last round found; no number before one")
          .tag("check", check.wire())
          .strongReference(true)
          .register(registry);
    }
    Gauge.builder("steelyard.integrity.last.run", this, metrics -> metrics.lastRunSeconds)
        .description("When the last round ended, as Unix time")
        .baseUnit("seconds")
        .strongReference(true)
        .register(registry);
    failed =
        Counter.builder("steelyard.integrity.failed")
            .description("Merchants that a round could not check to the end")
            .register(registry);
  }

  void failed() {
    failed.increment();
  }

  void roundEnded(Map<Check, Long> faults, Instant at) {
    faults.forEach((check, count) -> findings.put(check, count.doubleValue()));
    lastRunSeconds = at.toEpochMilli() / 1000.0;
  }

  /** No fault of any check yet. */
  static Map<Check, Long> none() {
    Map<Check, Long> faults = new EnumMap<>(Check.class);
    for (Check check : Check.values()) {
      faults.put(check, 0L);
    }
    return faults;
  }

  static void add(Map<Check, Long> faults, IntegrityReport report) {
    for (CheckResult result : report.checks()) {
      faults.merge(result.name(), result.faults(), Long::sum);
    }
  }
}
