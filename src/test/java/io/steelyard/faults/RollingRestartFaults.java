package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three nodes are stopped in order and started again one after the other, round after round, while
 * events come in. Senders turn to those that say they are ready, as a proxy does that asks once a
 * second; none of them may notice anything.
 */
class RollingRestartFaults {
  private static final int ROUNDS = Integer.getInteger("faults.rounds", 3);
  private static final long ASKED_EVERY_MS = 1000;

  /** A stop goes on taking requests until the proxy has asked. */
  private static final Map<String, String> PROXIED = Map.of("timeouts.unreadyMs", "3000");

  private static final long STOPPED_WITHIN_MS = 20_000;
  private static final long READY_WITHIN_MS = 10_000;

  @TempDir Path temp;

  @Test
  void nobodyNotices() {
    int notInOrder = 0;
    long slowestStopMs = 0;
    long slowestStartMs = 0;
    try (Scene scene = Scene.open("rolling-restart", temp)) {
      List<Node> nodes = scene.cluster(Collections.nCopies(3, scene.here().with(PROXIED)));
      Scene.start(nodes);
      try (ReadinessWatch watch = new ReadinessWatch(nodes, ASKED_EVERY_MS);
          EventLoad load = scene.load(nodes, watch::isReady)) {
        for (int round = 0; round < ROUNDS; round++) {
          for (Node node : nodes) {
            scene.awaitMore(load, 500, 60);
            long stoppedAt = System.nanoTime();
            int code = node.process().stop(); // which tells of limits that a busy machine exceeds
            slowestStopMs = Math.max(slowestStopMs, msSince(stoppedAt));
            scene.say("stopped with exit code %d after %d ms", code, msSince(stoppedAt));
            notInOrder += code == 0 ? 0 : 1;
            scene.awaitMore(load, 500, 60);
            slowestStartMs = Math.max(slowestStartMs, node.start());
            Scene.awaitMembers(nodes, 30);
            Scene.until("the proxy knows", 10, () -> watch.isReady(node));
          }
        }
        scene.check(load);
        scene.say(
            "%d rounds; slowest stop %d ms, slowest start until ready %d ms",
            ROUNDS, slowestStopMs, slowestStartMs);
        assertThat(load.statuses()).containsOnlyKeys(202, 400);
      }
    }
    assertThat(slowestStopMs).isLessThan(Scene.stretched(STOPPED_WITHIN_MS));
    assertThat(notInOrder).as("stops that were not in order, of which stderr tells").isZero();
    assertThat(slowestStartMs).isLessThan(Scene.stretched(READY_WITHIN_MS));
  }

  private static long msSince(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
  }
}
