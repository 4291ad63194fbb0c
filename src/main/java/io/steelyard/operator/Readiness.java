package io.steelyard.operator;

import io.steelyard.cluster.ClusterState;
import io.vertx.core.Future;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * What the process knows of itself, for whoever asks whether requests should come here.
 *
 * @param serving whether all verticles are up and no stop has begun
 * @param draining completes when a stop begins
 * @param schemaVersion that this build works on, e.g. {@code 012}
 * @param cluster how this node of a cluster is; empty where it is in none
 */
public record Readiness(
    BooleanSupplier serving,
    Future<Void> draining,
    String schemaVersion,
    Supplier<Optional<ClusterState>> cluster) {
  String phase() {
    if (draining.isComplete()) {
      return "draining";
    }
    return serving.getAsBoolean() ? "serving" : "starting";
  }
}
