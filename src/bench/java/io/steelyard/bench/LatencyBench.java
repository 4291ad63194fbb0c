package io.steelyard.bench;

/** How long an acknowledgement takes, and a balance to show it, at half of the rates aimed at. */
final class LatencyBench {
  private static final double EVENTS = 65_000;
  private static final double REQUESTS = 12_500;
  private static final int SECONDS = 60;
  private static final double P50_MS = 10;
  private static final double P99_MS = 60;
  private static final double SEEN_MS = 1000;
  private static final int LONELY_SECONDS = 10;
  private static final double LONELY_MS = 5;

  private LatencyBench() {}

  private record Kind(String name, int eventsEach, int connections, double requestsPerSecond) {}

  private record Run(Kind kind, Measured measured, Freshness freshness) {}

  static void run(Bench.Options options, Figures figures) throws Exception {
    double share = options.rate(EVENTS) / EVENTS;
    try (Trial trial = Trial.start(options)) {
      Metered merchant = trial.merchant();
      Run many = measure(trial, merchant, new Kind("bodies of 100", 100, 64, share * EVENTS / 100));
      Run single = measure(trial, merchant, new Kind("bodies of one", 1, 256, share * REQUESTS));
      Measured lonely =
          trial.acknowledge(
              Load.run(trial.closed(merchant, 1, 1, trial.options.seconds(LONELY_SECONDS))), 1);
      String checked = trial.check();
      Report report = trial.report("Acknowledgement and freshness at a fixed rate");
      add(report, figures, many);
      add(report, figures, single);
      report.add("one event alone", "%s, one after the other", lonely.latency());
      figures.atMost("one event alone, p50", lonely.percentileMs(0.5), LONELY_MS, "ms");
      report.add("checked", "%s", checked).print();
    }
  }

  private static Run measure(Trial trial, Metered merchant, Kind kind) throws Exception {
    Load.Settings settings =
        trial.open(
            merchant,
            kind.eventsEach(),
            kind.connections(),
            kind.requestsPerSecond(),
            trial.options.seconds(SECONDS));
    Freshness unmeasured = new Freshness(trial.service, merchant);
    try (unmeasured) {
      trial.warmUp(settings, kind.eventsEach());
    }
    trial.acknowledge(unmeasured);
    Freshness freshness = new Freshness(trial.service, merchant);
    Measured measured;
    try (freshness) {
      measured = trial.acknowledge(Load.run(settings), kind.eventsEach());
    }
    trial.acknowledge(freshness);
    return new Run(kind, measured, freshness);
  }

  private static void add(Report report, Figures figures, Run run) {
    String name = run.kind().name();
    Measured measured = run.measured();
    report
        .add(
            name,
            "%.0f requests/s for %.0f s: %.0f events/s accepted, %s",
            run.kind().requestsPerSecond(),
            measured.seconds(),
            measured.acceptedPerSecond(),
            measured.outcomes())
        .add("  acknowledged", "%s", measured.latency())
        .add("  seen", "%s", run.freshness());
    figures
        .atMost(name + ", acknowledged, p50", measured.percentileMs(0.5), P50_MS, "ms")
        .atMost(name + ", acknowledged, p99", measured.percentileMs(0.99), P99_MS, "ms")
        .atMost(
            name + ", seen in the balance, p99", run.freshness().percentileMs(0.99), SEEN_MS, "ms");
  }
}
