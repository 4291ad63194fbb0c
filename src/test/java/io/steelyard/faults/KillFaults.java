package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The service is killed with signal 9 at random moments while events come in, and started again.
 */
class KillFaults {
  private static final int KILLS = Integer.getInteger("faults.kills", 50);
  private static final long READY_WITHIN_MS = 10_000;
  private static final int EVENTS_MAX = 4000;
  private static final int JITTER_MS = 100;

  @TempDir Path temp;

  @Test
  void nothingAcknowledgedIsLostAndNothingCountedTwice() throws Exception {
    SplittableRandom random = new SplittableRandom(Scene.SEED);
    List<Long> readyMs = new ArrayList<>();
    try (Scene scene = Scene.open("kill", temp)) {
      Node node = scene.node();
      node.start();
      try (EventLoad load = scene.load()) {
        for (int i = 0; i < KILLS; i++) {
          scene.awaitMore(load, 1 + random.nextInt(EVENTS_MAX), 60);
          Thread.sleep(random.nextInt(JITTER_MS));
          node.process().kill();
          readyMs.add(node.start());
        }
        scene.awaitMore(load, 1000, 60);
        scene.check(load);
      }
      Collections.sort(readyMs);
      scene.say(
          "%d kills; ready again in ms: median %d, most %d",
          KILLS, readyMs.get(readyMs.size() / 2), readyMs.getLast());
      assertThat(readyMs.get((int) (readyMs.size() * 0.95))).isLessThan(READY_WITHIN_MS);
    }
  }
}
