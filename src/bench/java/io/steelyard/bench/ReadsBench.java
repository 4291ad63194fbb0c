package io.steelyard.bench;

import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** How fast a customer and a balance are read, alone and while events come at half the rate. */
final class ReadsBench {
  private static final int CONNECTIONS = 64;
  private static final int EVENTS_EACH = 100;
  private static final double EVENTS = 65_000;
  private static final double READS_BESIDE = 1000;
  private static final double CUSTOMERS = 20_000;
  private static final double USAGE = 12_000;
  private static final double P99_MS = 25;

  private ReadsBench() {}

  static void run(Bench.Options options, Figures figures) throws Exception {
    try (ServiceProcess service = ServiceProcess.start(options, Map.of());
        Connection database = service.database()) {
      Metered senders = Metered.start(service, options.customers());
      Metered readers = senders.withUnits(service, options.customers());
      Measured customers = alone(service, options, readers.customerReads());
      Measured usage = alone(service, options, readers.usageReads());
      Acknowledged acknowledged = new Acknowledged();
      Load.Settings events =
          Load.Settings.open(
              service.port,
              CONNECTIONS,
              options.rate(EVENTS) / EVENTS_EACH,
              options.seconds(30),
              senders.events(EVENTS_EACH, options.keys()));
      acknowledged.add(
          Load.run(events.seconds(options.warmUpSeconds())).requireNoFaults(), EVENTS_EACH);
      List<Measured> beside =
          Load.together(
              events,
              beside(service, options, readers.customerReads()),
              beside(service, options, readers.usageReads()));
      acknowledged.add(beside.get(0).requireNoFaults(), EVENTS_EACH);
      Measured customersBeside = beside.get(1).requireOnly(200);
      Measured usageBeside = beside.get(2).requireOnly(200);
      new Report("Reads, alone and beside %.0f events/s".formatted(options.rate(EVENTS)))
          .surroundings(database, options.heap())
          .add("GET customer, alone", "%.0f/s, %s", customers.perSecond(), customers.latency())
          .add("GET usage, alone", "%.0f/s, %s", usage.perSecond(), usage.latency())
          .add(
              "events beside",
              "%.0f/s, %s",
              beside.get(0).acceptedPerSecond(),
              beside.get(0).latency())
          .add(
              "GET customer, beside",
              "%.0f/s, %s",
              customersBeside.perSecond(),
              customersBeside.latency())
          .add("GET usage, beside", "%.0f/s, %s", usageBeside.perSecond(), usageBeside.latency())
          .add("checked", "%s", acknowledged.check(service))
          .print();
      figures
          .atLeast("GET customer, alone", customers.perSecond(), CUSTOMERS, "requests/s")
          .atLeast("GET usage, alone", usage.perSecond(), USAGE, "requests/s")
          .atMost(
              "GET customer beside events, p99", customersBeside.percentileMs(0.99), P99_MS, "ms")
          .atMost("GET usage beside events, p99", usageBeside.percentileMs(0.99), P99_MS, "ms");
    }
  }

  private static Measured alone(
      ServiceProcess service, Bench.Options options, Supplier<Requests> reads) throws Exception {
    Load.Settings settings =
        Load.Settings.closed(
            service.port, options.connections(CONNECTIONS), options.seconds(30), reads);
    Load.run(settings.seconds(options.warmUpSeconds())).requireOnly(200);
    return Load.run(settings).requireOnly(200);
  }

  private static Load.Settings beside(
      ServiceProcess service, Bench.Options options, Supplier<Requests> reads) {
    return Load.Settings.open(service.port, CONNECTIONS, READS_BESIDE, options.seconds(30), reads);
  }
}
