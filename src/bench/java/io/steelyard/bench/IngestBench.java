package io.steelyard.bench;

import java.sql.Connection;
import java.util.Map;

/** How many events a second are acknowledged, stored and counted, as fast as the answers come. */
final class IngestBench {
  private static final double MIB = 1048576;
  private static final double TARGET_EVENTS = 130_000;
  private static final double TARGET_OF_BARE = 0.5;
  private static final double TARGET_REQUESTS = 25_000;

  /** Of the rate, by which the backlog may seem to grow, being looked at once a second. */
  private static final double GROWTH = 0.01;

  private IngestBench() {}

  /**
   * @param connections with one request under way on each
   */
  private record Kind(String name, int eventsEach, int connections) {}

  /** Bodies of 100 events. */
  static void many(Bench.Options options, Figures figures) throws Exception {
    run(options, figures, new Kind("bodies of 100 events", 100, options.connections(16)));
  }

  /** Bodies of one event. */
  static void single(Bench.Options options, Figures figures) throws Exception {
    run(options, figures, new Kind("bodies of one event", 1, options.connections(64)));
  }

  private static void run(Bench.Options options, Figures figures, Kind kind) throws Exception {
    try (ServiceProcess service = ServiceProcess.start(options, Map.of());
        Connection database = service.database()) {
      Metered merchant = Metered.start(service, options.customers());
      BareRows.Rates rows = BareRows.measure(service, options.bareSeconds());
      double http =
          BareHttp.perSecond(
              options, kind.connections(), options.bareSeconds(), merchant, kind.eventsEach());
      Load.Settings settings =
          Load.Settings.closed(
              service.port,
              kind.connections(),
              options.seconds(60),
              merchant.events(kind.eventsEach(), options.keys()));
      Acknowledged acknowledged = new Acknowledged();
      acknowledged.add(
          Load.run(settings.seconds(options.warmUpSeconds())).requireOnly(202), kind.eventsEach());
      ServiceProcess.Work before = service.work();
      Measured measured;
      Backlog backlog = new Backlog(service);
      try (backlog) {
        measured = Load.run(settings).requireOnly(202);
      }
      ServiceProcess.Work work = service.work().since(before);
      acknowledged.add(measured, kind.eventsEach());
      String checked = acknowledged.check(service);
      new Report("POST " + EventRequests.PATH + ": " + kind.name())
          .surroundings(database, options.heap())
          .add(
              "accepted",
              "%.0f events/s, %.0f requests/s over %d connections for %d s after %d s",
              measured.acceptedPerSecond(),
              measured.perSecond(),
              kind.connections(),
              options.seconds(60),
              options.warmUpSeconds())
          .add("acknowledged", "%s", measured.latency())
          .add("not counted yet", "%s", backlog)
          .add("work for one event", "%s", work.each(measured.accepted()))
          .add(
              "bare rows",
              "%.0f/s made by PostgreSQL, %.0f/s sent; the service reaches %.2f and %.2f of it",
              rows.made(),
              rows.sent(),
              measured.acceptedPerSecond() / rows.made(),
              measured.acceptedPerSecond() / rows.sent())
          .add(
              "bare HTTP",
              "%.0f requests/s, %.0f events/s; the service reaches %.2f of it",
              http,
              http * kind.eventsEach(),
              measured.perSecond() / http)
          .add("memory", "service %.0f MiB at its peak", service.peakBytes() / MIB)
          .add("checked", "%s", checked)
          .print();
      if (kind.eventsEach() > 1) {
        double rate = measured.acceptedPerSecond();
        figures
            .atLeast(kind.name(), rate, TARGET_EVENTS, "events/s", "rows/s", rows.made())
            .atLeast(kind.name() + ", of the bare rows", rate / rows.made(), TARGET_OF_BARE, "")
            .atMost(
                "growth of what is not counted",
                backlog.growthPerSecond(),
                GROWTH * rate,
                "events/s");
      } else {
        figures.atLeast(
            kind.name(), measured.perSecond(), TARGET_REQUESTS, "requests/s", "requests/s", http);
      }
    }
  }
}
