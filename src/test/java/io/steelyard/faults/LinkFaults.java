package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.LossyProxy;
import io.steelyard.support.LossyProxy.Direction;
import io.steelyard.support.LossyProxy.Loss;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The network between the service and PostgreSQL: a connection is cut or falls silent at any byte
 * of what is said on it, in either direction, while events are stored and counted; the database's
 * answer to what it has committed is lost; nothing passes at all for a while; answers are late.
 */
class LinkFaults {
  private static final int BREAKS = Integer.getInteger("faults.breaks", 60);
  private static final int LOST_ANSWERS = Integer.getInteger("faults.lostAnswers", 60);
  private static final long HELD_S = Long.getLong("faults.heldSeconds", 20);
  private static final long DELAY_MS = 2000;
  private static final int BYTES_MAX = 40_000;
  private static final int SILENCES_PERCENT = Integer.getInteger("faults.silences", 30);
  private static final long RECOVERED_WITHIN_S = 20;
  private static final long ANSWERED_WITHIN_MS = 13_000;
  private static final String STORING = "\"n\":\"call\"";

  /** No session may hold locks for whom it no longer hears. */
  private static final String LEFT_OPEN =
      """
      SELECT count(*) FROM pg_stat_activity
       WHERE application_name LIKE 'steelyard-%' AND state LIKE 'idle in transaction%'
         AND now() - state_change > interval '15 s'
      """;

  @TempDir Path temp;
  private final SplittableRandom random = new SplittableRandom(Scene.SEED);

  private interface Fault {
    void inject(LossyProxy proxy, EventLoad load, Scene scene) throws Exception;
  }

  private void run(String name, Fault fault) throws Exception {
    try (Scene scene = Scene.open(name, temp);
        LossyProxy proxy = new LossyProxy(scene.postgres().endpoint().port())) {
      scene.node(scene.through(proxy)).start();
      try (EventLoad load = scene.load()) {
        scene.awaitMore(load, 1000, 60);
        fault.inject(proxy, load, scene);
        scene.awaitMore(load, 1000, 60);
        scene.check(load);
        assertThat(load.slowestMs()).isLessThan(ANSWERED_WITHIN_MS);
      }
      assertThat(scene.query(LEFT_OPEN)).isEqualTo("0");
    }
  }

  private Loss anyLoss() {
    return random.nextInt(100) < SILENCES_PERCENT ? Loss.SILENCE : Loss.CUT;
  }

  private static long recovered(Scene scene, EventLoad load) {
    long lostAt = System.nanoTime();
    scene.awaitMore(load, 200, RECOVERED_WITHIN_S);
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - lostAt);
  }

  @Test
  void brokenAtAnyByte() throws Exception {
    run(
        "link-broken",
        (proxy, load, scene) -> {
          long slowestMs = 0;
          for (int i = 0; i < BREAKS; i++) {
            Direction direction = random.nextBoolean() ? Direction.TO_SERVER : Direction.TO_CLIENT;
            proxy.breakAfter(direction, 1 + random.nextInt(BYTES_MAX), anyLoss());
            Scene.until("a connection is broken", 30, proxy::hasLost);
            slowestMs = Math.max(slowestMs, recovered(scene, load));
          }
          scene.say("%d connections broken; slowest back after %d ms", BREAKS, slowestMs);
        });
  }

  @Test
  void theAnswerToACommitIsLost() throws Exception {
    run(
        "link-lost-answer",
        (proxy, load, scene) -> {
          long slowestMs = 0;
          for (int i = 0; i < LOST_ANSWERS; i++) {
            boolean stores = random.nextInt(3) > 0;
            proxy.loseAnswerTo(stores ? STORING : "COMMIT", anyLoss());
            // who counts may be on a silent connection, which it leaves after 62 s
            Scene.until("an answer is lost", 90, proxy::hasLost);
            slowestMs = Math.max(slowestMs, recovered(scene, load));
          }
          scene.say("%d answers lost; slowest back after %d ms", LOST_ANSWERS, slowestMs);
          assertThat(load.statuses()).containsKey(503);
        });
  }

  @Test
  void nothingPassesForAWhile() throws Exception {
    run(
        "link-held",
        (proxy, load, scene) -> {
          proxy.hold();
          load.databaseIsAway();
          Thread.sleep(HELD_S * 1000);
          load.databaseIsBack();
          proxy.release();
          scene.say("held for %d s; back after %d ms", HELD_S, recovered(scene, load));
          assertThat(load.statuses()).containsKey(503);
        });
  }

  @Test
  void whatTheDatabaseSaysIsLate() throws Exception {
    run(
        "link-late",
        (proxy, load, scene) -> {
          long before = load.acknowledged();
          proxy.delayAnswers(DELAY_MS);
          Thread.sleep(HELD_S * 1000);
          long meanwhile = load.acknowledged() - before;
          proxy.delayAnswers(0);
          scene.say(
              "%d ms late for %d s: %d events acknowledged meanwhile; back after %d ms",
              DELAY_MS, HELD_S, meanwhile, recovered(scene, load));
        });
  }
}
