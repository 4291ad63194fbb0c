package io.steelyard.operator;

import io.steelyard.cluster.ClusterState;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * What the process knows of itself, for whoever asks whether requests should come here.
 *
 * @param serving whether all verticles are up and no stop has begun
 * @param draining whether a stop has begun
 * @param schemaVersion that this build works on, e.g. {@code 012}
 * @param cluster how this node of a cluster is; empty where it is in none
 */
public record Readiness(
    BooleanSupplier serving,
    BooleanSupplier draining,
    String schemaVersion,
    Supplier<Optional<ClusterState>> cluster) {
  String phase() {
    if (draining.getAsBoolean()) {
      return "draining";
    }
    return serving.getAsBoolean() ? "serving" : "starting";
  }
}
