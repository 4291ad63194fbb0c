package io.steelyard.bench;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * How many events a second three nodes of a cluster take together, beside what one node alone takes
 * before and after them: on one machine and one PostgreSQL, over as many connections in all.
 */
final class ClusterBench {
  private static final int EVENTS_EACH = 100;
  private static final int NODES = 3;
  private static final int CONNECTIONS = 126;
  private static final int SECONDS = 30;
  private static final double OF_ONE = 0.85;
  private static final double READY_S = 10;

  /** What the process that has the PostgreSQL does not do: nothing that is measured. */
  private static final Set<String> LEFT_TO_NODES =
      Set.of("aggregation", "billing", "delivery", "retention", "integrity", "explain");

  private ClusterBench() {}

  /** What so many nodes came to, and the slowest of their starts. */
  private record Run(String name, double perSecond, double startS, String latency) {}

  static void run(Bench.Options options, Figures figures) throws Exception {
    Map<String, String> keeper = new HashMap<>();
    LEFT_TO_NODES.forEach(name -> keeper.put("verticles." + name + ".instances", "0"));
    keeper.put("database.apiPoolSize", "120"); // as many connections as all nodes together want
    keeper.put("integrity.everyMs", "0");
    try (Trial trial = Trial.start(options, keeper)) {
      Metered merchant = trial.merchant();
      Run before = measure(trial, merchant, 1, "one node, before");
      Run three = measure(trial, merchant, NODES, "three nodes");
      Run after = measure(trial, merchant, 1, "one node, after");
      String checked = trial.check();
      Report report = trial.report("A cluster of %d nodes beside one, bodies of %d", NODES, 100);
      double one = (before.perSecond() + after.perSecond()) / 2;
      for (Run run : List.of(before, three, after)) {
        report.add(
            run.name(),
            "%.0f events/s (%.2f of one), %s; ready %.1f s after the start",
            run.perSecond(),
            run.perSecond() / one,
            run.latency(),
            run.startS());
      }
      report.add("checked", "%s", checked).print();
      figures
          .atLeast("three nodes, of one", three.perSecond() / one, OF_ONE, "")
          .atMost("start of a node until it is ready", three.startS(), READY_S, "s");
    }
  }

  private static Run measure(Trial trial, Metered merchant, int count, String name)
      throws Exception {
    List<ClusterNode> nodes = new ArrayList<>();
    try {
      for (Map<String, String> settings : ClusterNode.settings(count)) {
        nodes.add(ClusterNode.start(trial, name.replaceAll("\\W+", "-"), settings));
      }
      load(trial, merchant, nodes, trial.options.warmUpSeconds());
      trial.service.database().checkpoint();
      List<Measured> measured = load(trial, merchant, nodes, trial.options.seconds(SECONDS));
      return new Run(
          name,
          measured.stream().mapToDouble(Measured::acceptedPerSecond).sum(),
          nodes.stream().mapToDouble(ClusterNode::startS).max().orElseThrow(),
          measured.stream().map(Measured::latency).collect(Collectors.joining(" / ")));
    } finally {
      Acknowledged.awaitCounted(trial.service);
      nodes.forEach(ClusterNode::close);
    }
  }

  /** From as many threads whether to one node or to three. */
  private static List<Measured> load(
      Trial trial, Metered merchant, List<ClusterNode> nodes, int seconds) throws Exception {
    int each = trial.options.connections(CONNECTIONS) / NODES;
    Load.Settings[] loads = new Load.Settings[NODES];
    for (int i = 0; i < NODES; i++) {
      loads[i] =
          Load.Settings.closed(
              nodes.get(i % nodes.size()).port(),
              each,
              seconds,
              merchant.events(EVENTS_EACH, trial.options.keys()));
    }
    List<Measured> measured = Load.together(loads);
    for (Measured one : measured) {
      trial.acknowledge(one.requireOnly(202), EVENTS_EACH);
    }
    return measured;
  }
}
