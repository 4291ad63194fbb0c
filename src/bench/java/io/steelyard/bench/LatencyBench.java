package io.steelyard.bench;

import java.sql.Connection;
import java.util.Map;

/** How long an acknowledgement takes, and a balance to show it, at half of the rates aimed at. */
final class LatencyBench {
  private static final int EVENTS_EACH = 100;
  private static final double EVENTS = 65_000;
  private static final double REQUESTS = 12_500;
  private static final double P50_MS = 10;
  private static final double P99_MS = 60;
  private static final double SEEN_MS = 1000;

  private LatencyBench() {}

  private record Kind(String name, int eventsEach, int connections, double requestsPerSecond) {}

  static void run(Bench.Options options, Figures figures) throws Exception {
    double share = options.rate(EVENTS) / EVENTS;
    try (ServiceProcess service = ServiceProcess.start(options, Map.of());
        Connection database = service.database()) {
      Metered merchant = Metered.start(service, options.customers());
      Acknowledged acknowledged = new Acknowledged();
      Report report =
          new Report("Acknowledgement and freshness at a fixed rate")
              .surroundings(database, options.heap());
      measure(
          service,
          merchant,
          options,
          new Kind("bodies of 100", EVENTS_EACH, 64, share * EVENTS / EVENTS_EACH),
          acknowledged,
          report,
          figures);
      measure(
          service,
          merchant,
          options,
          new Kind("bodies of one", 1, 256, share * REQUESTS),
          acknowledged,
          report,
          figures);
      report.add("checked", "%s", acknowledged.check(service)).print();
    }
  }

  private static void measure(
      ServiceProcess service,
      Metered merchant,
      Bench.Options options,
      Kind kind,
      Acknowledged acknowledged,
      Report report,
      Figures figures)
      throws Exception {
    Load.Settings settings =
        Load.Settings.open(
            service.port,
            kind.connections(),
            kind.requestsPerSecond(),
            options.seconds(60),
            merchant.events(kind.eventsEach(), options.keys()));
    acknowledged.add(
        Load.run(settings.seconds(options.warmUpSeconds())).requireNoFaults(), kind.eventsEach());
    Measured measured;
    Freshness freshness = new Freshness(service, merchant);
    try (freshness) {
      measured = Load.run(settings).requireNoFaults();
    }
    acknowledged.add(measured, kind.eventsEach()).add(freshness.events(), freshness.events());
    report
        .add(
            kind.name(),
            "%.0f requests/s for %d s: %.0f events/s accepted, %s",
            kind.requestsPerSecond(),
            options.seconds(60),
            measured.acceptedPerSecond(),
            measured.outcomes())
        .add("  acknowledged", "%s", measured.latency())
        .add("  seen", "%s", freshness);
    figures
        .atMost(kind.name() + ", acknowledged, p50", measured.percentileMs(0.5), P50_MS, "ms")
        .atMost(kind.name() + ", acknowledged, p99", measured.percentileMs(0.99), P99_MS, "ms")
        .atMost(
            kind.name() + ", seen in the balance, p99",
            freshness.percentileMs(0.99),
            SEEN_MS,
            "ms");
  }
}
