package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.LossyProxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One node of a cluster loses the database, and only the database; the others notice nothing. */
class NodeDatabaseFaults {
  private static final long HELD_S = Long.getLong("faults.heldSeconds", 20);
  private static final Duration ASKED_FOR = Duration.ofSeconds(5);
  private static final long BACK_WITHIN_S = 20;
  private static final long ANSWERED_WITHIN_MS = 13_000;

  @TempDir Path temp;

  @Test
  void itIsNotReadyAndRefusesWhileTheOthersGoOn() throws Exception {
    try (Scene scene = Scene.open("node-database", temp);
        LossyProxy proxy = new LossyProxy(scene.postgres().endpoint().port())) {
      List<Node> nodes = scene.cluster(List.of(scene.through(proxy), scene.here(), scene.here()));
      Scene.start(nodes);
      Node cut = nodes.getFirst();
      try (EventLoad there = scene.load(List.of(cut), node -> true);
          EventLoad elsewhere = scene.load(nodes.subList(1, 3), node -> true)) {
        scene.awaitMore(there, 1000, 60);

        proxy.hold();

        long heldAt = System.nanoTime();
        Scene.until("it is not ready", 5, () -> !cut.process().isReady(ASKED_FOR));
        scene.say("not ready after %d ms", msSince(heldAt));
        Thread.sleep(Math.max(0, HELD_S * 1000 - msSince(heldAt)));
        long acceptedAt = there.door(0).acceptedAtNanos();
        proxy.release();
        long releasedAt = System.nanoTime();
        Scene.until(
            "it accepts", BACK_WITHIN_S, () -> there.door(0).acceptedAtNanos() > releasedAt);
        scene.say("released: accepts again after %d ms", msSince(releasedAt));
        Scene.until("it is ready", 5, () -> cut.process().isReady(ASKED_FOR));
        scene.awaitMore(there, 1000, 60);
        scene.check(there, elsewhere);

        assertThat(acceptedAt).isLessThan(heldAt + Duration.ofSeconds(1).toNanos());
        assertThat(there.statuses()).containsKey(503).doesNotContainKeys(500, EventLoad.BROKEN);
        assertThat(elsewhere.statuses()).containsOnlyKeys(202, 400);
        assertThat(there.slowestMs()).isLessThan(ANSWERED_WITHIN_MS);
      }
    }
  }

  private static long msSince(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
  }
}
