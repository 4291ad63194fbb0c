package io.steelyard.bench;

import java.util.List;
import java.util.function.Supplier;

/** How fast a customer and a balance are read, alone and while events come at half the rate. */
final class ReadsBench {
  private static final int CONNECTIONS = 64;
  private static final int SECONDS = 30;
  private static final int EVENTS_EACH = 100;
  private static final double EVENTS = 65_000;
  private static final double READS_BESIDE = 1000;
  private static final double CUSTOMERS = 20_000;
  private static final double USAGE = 12_000;
  private static final double P99_MS = 25;

  private ReadsBench() {}

  private record Run(Measured customers, Measured usage) {}

  static void run(Bench.Options options, Figures figures) throws Exception {
    try (Trial trial = Trial.start(options)) {
      Metered senders = trial.merchant();
      Metered readers = senders.withUnits(trial.service, options.customers());
      trial.service.database().settle();
      Run alone =
          new Run(alone(trial, readers.customerReads()), alone(trial, readers.usageReads()));
      Load.Settings events =
          trial.open(
              senders,
              EVENTS_EACH,
              CONNECTIONS,
              options.rate(EVENTS) / EVENTS_EACH,
              options.seconds(SECONDS));
      trial.warmUp(events, EVENTS_EACH);
      List<Measured> together =
          Load.together(
              events, beside(trial, readers.customerReads()), beside(trial, readers.usageReads()));
      Measured taken = trial.acknowledge(together.get(0), EVENTS_EACH);
      Run beside = new Run(together.get(1).requireOnly(200), together.get(2).requireOnly(200));
      report(trial, alone, beside, taken);
      figures(figures, alone, beside);
    }
  }

  private static Measured alone(Trial trial, Supplier<Requests> reads) throws Exception {
    Load.Settings settings =
        Load.Settings.closed(
            trial.service.port,
            trial.options.connections(CONNECTIONS),
            trial.options.seconds(SECONDS),
            reads);
    Load.run(settings.seconds(trial.options.warmUpSeconds())).requireOnly(200);
    return Load.run(settings).requireOnly(200);
  }

  private static Load.Settings beside(Trial trial, Supplier<Requests> reads) {
    return Load.Settings.open(
        trial.service.port, CONNECTIONS, READS_BESIDE, trial.options.seconds(SECONDS), reads);
  }

  private static void report(Trial trial, Run alone, Run beside, Measured taken) throws Exception {
    String checked = trial.check();
    Report report =
        trial.report("Reads, alone and beside %.0f events/s", trial.options.rate(EVENTS));
    add(report, "GET customer, alone", alone.customers());
    add(report, "GET usage, alone", alone.usage());
    report.add("events beside", "%.0f/s, %s", taken.acceptedPerSecond(), taken.latency());
    add(report, "GET customer, beside", beside.customers());
    add(report, "GET usage, beside", beside.usage());
    report.add("checked", "%s", checked).print();
  }

  private static void add(Report report, String what, Measured measured) {
    report.add(what, "%.0f/s, %s", measured.perSecond(), measured.latency());
  }

  private static void figures(Figures figures, Run alone, Run beside) {
    figures
        .atLeast("GET customer, alone", alone.customers().perSecond(), CUSTOMERS, "requests/s")
        .atLeast("GET usage, alone", alone.usage().perSecond(), USAGE, "requests/s")
        .atMost(
            "GET customer beside events, p99", beside.customers().percentileMs(0.99), P99_MS, "ms")
        .atMost("GET usage beside events, p99", beside.usage().percentileMs(0.99), P99_MS, "ms");
  }
}
