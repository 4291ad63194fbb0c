package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Signal;
import io.steelyard.support.Verticles;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A node of a cluster stands still for longer than the others wait for it, while one of these needs
 * it, or another, for every request; or it is the one that lets others in, and then dies.
 */
class FrozenMemberFaults {
  private static final long FROZEN_S = Long.getLong("faults.frozenSeconds", 30);
  private static final int TIMES = Integer.getInteger("faults.freezes", 2);
  private static final long TROUBLED_FOR_MS = 10_000;
  private static final long BACK_WITHIN_S = 60;
  private static final long LET_IN_WITHIN_MS = 4000;
  private static final String ANSWERED = "steelyard_bus_requests_seconds_count";
  private static final String USAGE = "address=\"billing.usage\"";

  @TempDir Path temp;

  @Test
  void theOthersAskItNoMoreAndAskItAgainWhenItGoesOn() throws Exception {
    try (Scene scene = Scene.open("frozen-member", temp)) {
      List<Node> nodes =
          scene.cluster(
              List.of(scene.here(), scene.here(), scene.here().with(Verticles.only("http"))));
      Scene.start(nodes);
      Node victim = nodes.getFirst();
      List<Node> others = nodes.subList(1, 3);
      try (EventLoad load = scene.load(others, node -> true)) {
        for (int i = 0; i < TIMES; i++) {
          scene.awaitMore(load, 1000, 60);
          Signal.send("STOP", victim.process().pid());
          long frozenAt = System.nanoTime();
          Thread.sleep(FROZEN_S * 1000);
          long troubledMs = troubledMs(load.door(1), frozenAt);
          assertThat(others.getFirst().ready().body()).contains("\"members\":2");
          Signal.send("CONT", victim.process().pid());
          long wokenAt = System.nanoTime();
          Scene.awaitMembers(nodes, BACK_WITHIN_S);
          double before = victim.metric(ANSWERED, USAGE);
          Scene.until("asked again", BACK_WITHIN_S, () -> victim.metric(ANSWERED, USAGE) > before);
          scene.say(
              "frozen for %d s: the last trouble of the node that needs others came after %d ms;"
                  + " asked again %d ms after it went on",
              FROZEN_S, troubledMs, msSince(wokenAt));
          assertThat(troubledMs).isLessThan(TROUBLED_FOR_MS);
        }
        scene.awaitMore(load, 1000, 60);
        assertThat(load.door(0).troubledAtNanos()).as("who needs nobody").isZero();
        scene.check(load);
      }
    }
  }

  /**
   * The comer has been told that it is the one to ask, and asks it; a second later it asks again.
   */
  @ParameterizedTest(name = "killed {0} ms after the comer was started")
  @ValueSource(longs = {4500, 6000, 7500})
  void aComerIsLetInSoonAfterTheMemberDiesThatWouldHaveLetItIn(long killedAfterMs)
      throws Exception {
    try (Scene scene = Scene.open("frozen-master", temp)) {
      List<Node> nodes = scene.cluster(Collections.nCopies(3, scene.here()));
      Node master = nodes.getFirst();
      Node comer = nodes.getLast();
      Scene.start(nodes.subList(0, 2));
      Signal.send("STOP", master.process().pid());
      CompletableFuture<Long> readyMs =
          CompletableFuture.supplyAsync(comer::start, Thread::startVirtualThread);
      Thread.sleep(killedAfterMs);
      assertThat(readyMs).isNotDone();

      master.process().kill();

      long letInMs = readyMs.get(60, TimeUnit.SECONDS) - killedAfterMs;
      Scene.awaitMembers(nodes.subList(1, 3), 10);
      scene.say("killed after %d ms: the comer ready %d ms later", killedAfterMs, letInMs);
      assertThat(letInMs).isLessThan(Scene.stretched(LET_IN_WITHIN_MS));
    }
  }

  private static long troubledMs(Door door, long sinceNanos) {
    return Math.max(0, TimeUnit.NANOSECONDS.toMillis(door.troubledAtNanos() - sinceNanos));
  }

  private static long msSince(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
  }
}
