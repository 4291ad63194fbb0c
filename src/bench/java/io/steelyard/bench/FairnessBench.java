package io.steelyard.bench;

import java.util.List;

/** What a merchant notices of another one that sends as much as it can. */
final class FairnessBench {
  private static final int FLOOD_EVENTS_EACH = 100;

  /** Four times what one merchant may have in flight. */
  private static final int FLOOD_CONNECTIONS = 1024;

  private static final int CONNECTIONS = 64;
  private static final int SECONDS = 30;
  private static final double PER_SECOND = 200;
  private static final double TIMES = 2;

  private FairnessBench() {}

  static void run(Bench.Options options, Figures figures) throws Exception {
    try (Trial trial = Trial.start(options)) {
      int seconds = options.seconds(SECONDS);
      Load.Settings flood =
          trial.closed(
              trial.merchant(), FLOOD_EVENTS_EACH, options.connections(FLOOD_CONNECTIONS), seconds);
      Load.Settings few = trial.open(trial.merchant(), 1, CONNECTIONS, PER_SECOND, seconds);
      trial.warmUp(flood, FLOOD_EVENTS_EACH);
      Acknowledged.awaitCounted(trial.service);
      trial.warmUp(few, 1);
      trial.service.database().checkpoint();
      Measured alone = trial.taken(few, 1);
      List<Measured> both = Load.together(flood, few);
      Measured flooding = trial.acknowledge(both.getFirst(), FLOOD_EVENTS_EACH);
      Measured beside = trial.acknowledge(both.getLast(), 1);
      String checked = trial.check();
      trial
          .report("Fairness: 200 events/s of one merchant, each alone; another sends all it can")
          .add("alone", "%s; %s", alone.latency(), alone.outcomes())
          .add("beside the flood", "%s; %s", beside.latency(), beside.outcomes())
          .add(
              "the flood",
              "%.0f events/s in bodies of %d; %s; %s",
              flooding.acceptedPerSecond(),
              FLOOD_EVENTS_EACH,
              flooding.latency(),
              flooding.outcomes())
          .add("checked", "%s", checked)
          .print();
      figures
          .atMost(
              "p99 beside a flood, times that alone",
              beside.percentileMs(0.99) / alone.percentileMs(0.99),
              TIMES,
              "")
          .atMost("requests refused beside a flood", beside.refused(), 0, "");
    }
  }
}
