package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.db.CrashablePostgres;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** PostgreSQL crashes while events come in, and is started again; the service is not. */
class DatabaseFaults {
  private static final int CRASHES = Integer.getInteger("faults.crashes", 10);
  private static final int EVENTS_MAX = 4000;
  private static final int AWAY_MS_MAX = 3000;
  private static final long RECOVERED_WITHIN_MS = 15_000;

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
}
