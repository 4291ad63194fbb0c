package io.steelyard.operator;

import java.util.function.BooleanSupplier;

/**
 * What the process knows of itself, for whoever asks whether requests should come here.
 *
 * @param serving whether all verticles are up and no stop has begun
 * @param draining whether a stop has begun
 * @param schemaVersion that this build works on, e.g. {@code 012}
 */
public record Readiness(BooleanSupplier serving, BooleanSupplier draining, String schemaVersion) {
  String phase() {
    if (draining.getAsBoolean()) {
      return "draining";
    }
    return serving.getAsBoolean() ? "serving" : "starting";
  }
}
