package io.steelyard.bench;

import java.sql.Connection;
import java.util.List;
import java.util.Map;

/** What a merchant notices of another one that sends as much as it can. */
final class FairnessBench {
  private static final int FLOOD_EVENTS_EACH = 1000;
  private static final int FLOOD_CONNECTIONS = 32;
  private static final int CONNECTIONS = 16;
  private static final double PER_SECOND = 200;
  private static final double TIMES = 2;

  private FairnessBench() {}

  static void run(Bench.Options options, Figures figures) throws Exception {
    try (ServiceProcess service = ServiceProcess.start(options, Map.of());
        Connection database = service.database()) {
      Metered flooding = Metered.start(service, options.customers());
      Metered quiet = Metered.start(service, options.customers());
      Load.Settings flood =
          Load.Settings.closed(
              service.port,
              options.connections(FLOOD_CONNECTIONS),
              options.seconds(30),
              flooding.events(FLOOD_EVENTS_EACH, options.keys()));
      Load.Settings few =
          Load.Settings.open(
              service.port,
              CONNECTIONS,
              PER_SECOND,
              options.seconds(30),
              quiet.events(1, options.keys()));
      Acknowledged acknowledged = new Acknowledged();
      Measured warmUp = Load.run(flood.seconds(options.warmUpSeconds())).requireNoFaults();
      acknowledged.add(warmUp, FLOOD_EVENTS_EACH);
      Acknowledged.awaitCounted(service);
      Measured alone = Load.run(few).requireOnly(202);
      acknowledged.add(alone, 1);
      List<Measured> both = Load.together(flood, few);
      Measured flooded = both.getFirst().requireNoFaults();
      Measured beside = both.getLast().requireNoFaults();
      acknowledged.add(flooded, FLOOD_EVENTS_EACH).add(beside, 1);
      double times = beside.percentileMs(0.99) / alone.percentileMs(0.99);
      new Report("Fairness: one merchant sends 200 events/s one by one, another all it can")
          .surroundings(database, options.heap())
          .add("alone", "%s; %s", alone.latency(), alone.outcomes())
          .add("beside the flood", "%s; %s", beside.latency(), beside.outcomes())
          .add(
              "the flood",
              "%.0f events/s in bodies of %d over %d connections; %s; %s",
              flooded.acceptedPerSecond(),
              FLOOD_EVENTS_EACH,
              options.connections(FLOOD_CONNECTIONS),
              flooded.latency(),
              flooded.outcomes())
          .add("checked", "%s", acknowledged.check(service))
          .print();
      figures
          .atMost("p99 beside a flood, times that alone", times, TIMES, "")
          .atMost("requests refused beside a flood", beside.refused(), 0, "");
    }
  }
}
