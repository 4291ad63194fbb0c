package io.steelyard.bench;

import java.sql.Connection;
import java.util.Map;

/** What becomes of the service when ten times as much is sent as it can take. */
final class OverloadBench {
  private static final int EVENTS_EACH = 100;
  private static final int TIMES = 10;
  private static final int CONNECTIONS = 16;
  private static final int CONNECTIONS_OVERLOADED = 2048;
  private static final double OF_BEST = 0.8;
  private static final double MEMORY_MIB = 700;
  private static final double MIB = 1048576;

  private OverloadBench() {}

  static void run(Bench.Options options, Figures figures) throws Exception {
    try (ServiceProcess service = ServiceProcess.start(options, Map.of());
        Connection database = service.database()) {
      Metered merchant = Metered.start(service, options.customers());
      Acknowledged acknowledged = new Acknowledged();
      Load.Settings settings =
          Load.Settings.closed(
              service.port,
              CONNECTIONS,
              options.seconds(30),
              merchant.events(EVENTS_EACH, options.keys()));
      acknowledged.add(
          Load.run(settings.seconds(options.warmUpSeconds())).requireOnly(202), EVENTS_EACH);
      ServiceProcess.Work start = service.work();
      Measured best = Load.run(settings).requireOnly(202);
      acknowledged.add(best, EVENTS_EACH);
      ServiceProcess.Work between = service.work();
      Measured overload =
          Load.run(
                  Load.Settings.open(
                      service.port,
                      options.connections(CONNECTIONS_OVERLOADED),
                      TIMES * best.perSecond(),
                      options.seconds(30),
                      merchant.events(EVENTS_EACH, options.keys())))
              .requireNoFaults();
      acknowledged.add(overload, EVENTS_EACH);
      ServiceProcess.Work work = service.work().since(between);
      double perAccepted = (double) between.since(start).service() / best.accepted();
      double ofBest = overload.acceptedPerSecond() / best.acceptedPerSecond();
      double mib = service.peakBytes() / MIB;
      new Report("Overload: %d times the best rate, bodies of %d".formatted(TIMES, EVENTS_EACH))
          .surroundings(database, options.heap())
          .add("best rate", "%.0f events/s, %s", best.acceptedPerSecond(), best.latency())
          .add(
              "overloaded",
              "%.0f events/s accepted, %.2f of the best; %s",
              overload.acceptedPerSecond(),
              ofBest,
              overload.outcomes())
          .add("  acknowledged", "%s", overload.latency())
          .add("  work for one accepted", "%s", work.each(overload.accepted()))
          .add(
              "  work for one refused",
              "about %.0f us of a processor in the service for a body of %d",
              (work.service() - perAccepted * overload.accepted())
                  / Math.max(1, overload.refused()),
              EVENTS_EACH)
          .add(
              "  refusals",
              "%d, %d of them without Retry-After",
              overload.refused(),
              overload.withoutRetryAfter())
          .add("memory", "service %.0f MiB at its peak", mib)
          .add("checked", "%s", acknowledged.check(service))
          .print();
      figures
          .atLeast("accepted under overload, of the best rate", ofBest, OF_BEST, "")
          .atMost("refusals without Retry-After", overload.withoutRetryAfter(), 0, "")
          .atMost("memory under overload", mib, MEMORY_MIB, "MiB");
    }
  }
}
