package io.steelyard.support;

import java.util.Set;

/** What only the nodes of a cluster report. */
public final class ClusterMetrics {
  public static final Set<String> NAMES =
      Set.of(
          "steelyard_bus_elsewhere_total", "steelyard_bus_lost_total", "steelyard_cluster_members");

  private ClusterMetrics() {}
}
