package io.steelyard.support;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Settings by which processes become nodes of one cluster. */
public final class ClusterSettings {
  private ClusterSettings() {}

  /** So many nodes on the loopback address. */
  public static List<Map<String, String>> of(int nodes) {
    return of(Stream.generate(() -> "127.0.0.1").limit(nodes).toList());
  }

  /**
   * One for each node, which keeps its ports however often it is started.
   *
   * @param hosts the address of each
   */
  public static List<Map<String, String>> of(List<String> hosts) {
    List<String> ports =
        Stream.generate(TestConfig::freePort).distinct().limit(2L * hosts.size()).toList();
    List<String> members = new ArrayList<>();
    for (int i = 0; i < hosts.size(); i++) {
      members.add(hosts.get(i) + ":" + ports.get(i));
    }
    return IntStream.range(0, hosts.size())
        .mapToObj(
            i ->
                Map.of(
                    "cluster.enabled", "true",
                    "cluster.secret", "the secret of the tests",
                    "cluster.host", hosts.get(i),
                    "cluster.port", ports.get(i),
                    "cluster.eventBusPort", ports.get(hosts.size() + i),
                    "cluster.members", String.join(",", members)))
        .toList();
  }
}
