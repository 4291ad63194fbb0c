package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.db.CrashablePostgres;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * PostgreSQL crashes while events come in, and is started again; the service is not. Once it stays
 * away for long, while very many clients call again at once, three times, whenever they fail.
 */
class DatabaseFaults {
  private static final int CRASHES = Integer.getInteger("faults.crashes", 10);
  private static final int EVENTS_MAX = 4000;
  private static final int AWAY_MS_MAX = 3000;
  private static final long RECOVERED_WITHIN_MS = 15_000;
  private static final long OUTAGE_S = Long.getLong("faults.outageSeconds", 20);
  private static final int IMPATIENT = Integer.getInteger("faults.impatient", 100);
  private static final int AT_ONCE = 3;
  private static final long NORMAL_WITHIN_S = 60;
  private static final long LOOK_MS = 5000;

  @TempDir Path temp;

  @Test
  void stoppedImmediately() throws Exception {
    crash("postgres-immediate", CrashablePostgres::stopImmediately);
  }

  @Test
  void allItsProcessesKilled() throws Exception {
    crash("postgres-kill", CrashablePostgres::kill);
  }

  private void crash(String name, Consumer<CrashablePostgres> how) throws Exception {
    SplittableRandom random = new SplittableRandom(Scene.SEED);
    long slowestMs = 0;
    try (Scene scene = Scene.open(name, temp)) {
      scene.node().start();
      try (EventLoad load = scene.load()) {
        for (int i = 0; i < CRASHES; i++) {
          scene.awaitMore(load, 1 + random.nextInt(EVENTS_MAX), 60);
          how.accept(scene.postgres());
          load.databaseIsAway();
          Thread.sleep(random.nextInt(AWAY_MS_MAX));
          load.databaseIsBack();
          scene.postgres().start();
          long readyAt = System.nanoTime();
          scene.awaitMore(load, 1, 60);
          slowestMs =
              Math.max(slowestMs, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - readyAt));
        }
        scene.awaitMore(load, 1000, 60);
        scene.check(load);
        assertThat(load.statuses()).containsKey(503);
      }
      scene.say("%d crashes; slowest from ready to the first 202: %d ms", CRASHES, slowestMs);
      assertThat(slowestMs).isLessThan(RECOVERED_WITHIN_MS);
    }
  }

  @Test
  void awayForLongWhileClientsDoNotWait() throws Exception {
    try (Scene scene = Scene.open("postgres-away", temp)) {
      Node node = scene.node();
      node.start();
      Door door = new Door(node.host(), node.port(), () -> true);
      try (EventLoad load =
          new EventLoad(scene.account(), List.of(door), scene.ledger(), Scene.SEED)
              .repeatingAtOnce(AT_ONCE)
              .start(IMPATIENT)) {
        scene.awaitMore(load, 1000, 60);
        long usual = acknowledgedInALook(load);
        scene.postgres().stopImmediately();
        load.databaseIsAway();
        Thread.sleep(OUTAGE_S * 1000);
        load.databaseIsBack();
        long refused = load.statuses().getOrDefault(503, 0L);
        scene.postgres().start();
        long backAt = System.nanoTime();
        Scene.until(
            "as usual",
            Scene.stretched(NORMAL_WITHIN_S),
            () -> {
              long lookedAt = System.nanoTime();
              return acknowledgedInALook(load) > usual / 2 && door.troubledAtNanos() < lookedAt;
            });
        scene.say(
            "away for %d s: %d calls refused with 503; as usual %d ms after its return"
                + " (%d events in %d ms before)",
            OUTAGE_S,
            refused,
            TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - backAt),
            usual,
            LOOK_MS);
        assertThat(refused).isGreaterThan(IMPATIENT);
        scene.check(load);
      }
    }
  }

  private static long acknowledgedInALook(EventLoad load) throws InterruptedException {
    long before = load.acknowledged();
    Thread.sleep(LOOK_MS);
    return load.acknowledged() - before;
  }
}
