package io.steelyard.bench;

/** How many events a second are acknowledged, stored and counted, as fast as the answers come. */
final class IngestBench {
  private static final double TARGET_EVENTS = 130_000;
  private static final double TARGET_OF_BARE = 0.5;
  private static final double TARGET_REQUESTS = 25_000;
  private static final int SECONDS = 60;

  /** Of the rate, by which the backlog may seem to grow, being looked at once a second. */
  private static final double GROWTH = 0.01;

  private IngestBench() {}

  /**
   * @param connections with one request under way on each
   */
  private record Kind(String name, int eventsEach, int connections) {}

  /**
   * @param http requests per second of a server that does nothing
   */
  private record Bare(BareRows.Rates rows, double http) {}

  private record Run(Measured measured, Backlog backlog, ServiceProcess.Work work) {}

  /** Bodies of 100 events. */
  static void many(Bench.Options options, Figures figures) throws Exception {
    run(options, figures, new Kind("bodies of 100 events", 100, options.connections(16)));
  }

  /** Bodies of one event. */
  static void single(Bench.Options options, Figures figures) throws Exception {
    run(options, figures, new Kind("bodies of one event", 1, options.connections(64)));
  }

  private static void run(Bench.Options options, Figures figures, Kind kind) throws Exception {
    try (Trial trial = Trial.start(options)) {
      Metered merchant = trial.merchant();
      int bareSeconds = options.bareSeconds();
      Bare bare =
          new Bare(
              BareRows.measure(trial.service, bareSeconds),
              BareHttp.perSecond(
                  options, kind.connections(), bareSeconds, merchant, kind.eventsEach()));
      Load.Settings settings =
          trial.closed(merchant, kind.eventsEach(), kind.connections(), options.seconds(SECONDS));
      trial.warmUp(settings, kind.eventsEach());
      Run run = measure(trial, settings, kind);
      report(trial, kind, bare, run);
      figures(figures, kind, bare, run);
    }
  }

  private static Run measure(Trial trial, Load.Settings settings, Kind kind) throws Exception {
    ServiceProcess.Work before = trial.service.work();
    Measured measured;
    Backlog backlog = new Backlog(trial.service);
    try (backlog) {
      measured = trial.taken(settings, kind.eventsEach());
    }
    return new Run(measured, backlog, trial.service.work().since(before));
  }

  private static void report(Trial trial, Kind kind, Bare bare, Run run) throws Exception {
    Measured measured = run.measured();
    String checked = trial.check();
    trial
        .report("POST %s: %s", EventRequests.PATH, kind.name())
        .add(
            "accepted",
            "%.0f events/s, %.0f requests/s over %d connections for %d s after %d s",
            measured.acceptedPerSecond(),
            measured.perSecond(),
            kind.connections(),
            trial.options.seconds(SECONDS),
            trial.options.warmUpSeconds())
        .add("acknowledged", "%s", measured.latency())
        .add("not counted yet", "%s", run.backlog())
        .add("work for one event", "%s", run.work().each(measured.accepted()))
        .add(
            "bare rows",
            "%.0f/s made by PostgreSQL, %.0f/s sent; the service reaches %.2f and %.2f of it",
            bare.rows().made(),
            bare.rows().sent(),
            measured.acceptedPerSecond() / bare.rows().made(),
            measured.acceptedPerSecond() / bare.rows().sent())
        .add(
            "bare HTTP",
            "%.0f requests/s, %.0f events/s; the service reaches %.2f of it",
            bare.http(),
            bare.http() * kind.eventsEach(),
            measured.perSecond() / bare.http())
        .add("memory", "service %.0f MiB at its peak", trial.peakMib())
        .add("checked", "%s", checked)
        .print();
  }

  private static void figures(Figures figures, Kind kind, Bare bare, Run run) {
    if (kind.eventsEach() == 1) {
      figures.atLeast(
          kind.name(),
          run.measured().perSecond(),
          TARGET_REQUESTS,
          "requests/s",
          "requests/s",
          bare.http());
      return;
    }
    double rate = run.measured().acceptedPerSecond();
    double made = bare.rows().made();
    figures
        .atLeast(kind.name(), rate, TARGET_EVENTS, "events/s", "rows/s", made)
        .atLeast(kind.name() + ", of the bare rows", rate / made, TARGET_OF_BARE, "")
        .atMost(
            "growth of what is not counted",
            run.backlog().growthPerSecond(),
            GROWTH * rate,
            "events/s");
  }
}
