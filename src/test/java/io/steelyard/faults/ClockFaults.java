package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The time of day jumps ahead and back under the service while events come in. It does so for the
 * service's process, through a library that is loaded before the others; PostgreSQL and the senders
 * keep theirs. Without a C compiler this is reported as not run.
 */
class ClockFaults {
  private static final long[] JUMPS_S = {30, -30, 3600, 0, -7200, 0, 7200, -3600, 0};
  private static final Duration NEAR = Duration.ofSeconds(20);

  @TempDir Path temp;
  private MovedClock clock;

  @BeforeEach
  void make() throws Exception {
    clock = MovedClock.make(temp);
  }

  @Test
  void eventsAreCountedOnceWhateverTheTimeOfDay() throws Exception {
    try (Scene scene = Scene.open("clock", temp)) {
      Node node = scene.node(scene.here().withEnvironment(clock.environment()));
      node.start();
      try (EventLoad load = scene.load()) {
        for (int i = 0; i < JUMPS_S.length; i++) {
          scene.awaitMore(load, 1000, 60);
          clock.moveTo(JUMPS_S[i]);
          assertThat(
                  Duration.between(
                      Instant.now(), MovedClock.created(scene.account(), node, "jump-" + i)))
              .isCloseTo(Duration.ofSeconds(JUMPS_S[i]), NEAR);
          scene.awaitMore(load, 1000, 30);
          awaitCounted(scene);
        }
        scene.check(load);
      }
    }
  }

  /** What has been stored by now is soon counted, whatever comes after it. */
  private static void awaitCounted(Scene scene) {
    String newest = scene.query("SELECT coalesce(max(batch), 0) FROM event_batch");
    Scene.until(
        "counted",
        30,
        () -> scene.query("SELECT count(*) FROM event_batch WHERE batch <= " + newest).equals("0"));
  }
}
