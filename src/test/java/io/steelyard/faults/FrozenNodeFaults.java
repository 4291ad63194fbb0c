package io.steelyard.faults;

import io.steelyard.support.Signal;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The node stands still for longer than PostgreSQL lets a transaction stay open, and goes on with
 * what it believes to hold.
 */
class FrozenNodeFaults {
  private static final long FROZEN_S = Long.getLong("faults.frozenSeconds", 30);
  private static final int TIMES = Integer.getInteger("faults.freezes", 2);

  @TempDir Path temp;

  @Test
  void itGoesOnWhereItStoodStill() throws Exception {
    try (Scene scene = Scene.open("frozen", temp)) {
      Node node = scene.node();
      node.start();
      try (EventLoad load = scene.load()) {
        for (int i = 0; i < TIMES; i++) {
          scene.awaitMore(load, 2000, 60);
          Signal.send("STOP", node.process().pid());
          Thread.sleep(FROZEN_S * 1000);
          Signal.send("CONT", node.process().pid());
          long wokenAt = System.nanoTime();
          scene.awaitMore(load, 1, 30);
          scene.say(
              "frozen for %d s; first 202 after %d ms",
              FROZEN_S, (System.nanoTime() - wokenAt) / 1_000_000);
        }
        scene.awaitMore(load, 2000, 60);
        scene.check(load);
      }
    }
  }
}
