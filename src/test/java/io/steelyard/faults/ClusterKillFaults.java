package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.billing.BillingRun;
import io.steelyard.support.Merchant;
import io.steelyard.support.Verticles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Of three nodes one is killed with signal 9 every two seconds, whichever, and started again, while
 * they bill what is due of many subscriptions and events come in. Of four, of which two have the
 * others store what they are sent, one of each kind is killed at the same time.
 */
class ClusterKillFaults {
  private static final int KILLS = Integer.getInteger("faults.nodeKills", 20);
  private static final int PAIRS = Integer.getInteger("faults.pairKills", 5);
  private static final Map<String, String> ALL = Map.of();
  private static final Map<String, String> STORES_NOTHING = Verticles.without("usage");
  private static final long TROUBLED_FOR_MS = 5000;
  private static final int SUBSCRIPTIONS = Integer.getInteger("faults.subscriptions", 3000);
  private static final long EVERY_MS = 2000;
  private static final long READY_WITHIN_MS = 10_000;

  @TempDir Path temp;

  private final SplittableRandom random = new SplittableRandom(Scene.SEED);
  private final List<CompletableFuture<?>> starting = new ArrayList<>();
  private final Queue<Long> readyMs = new ConcurrentLinkedQueue<>();

  @Test
  void eachInvoiceIsMadeOnceAndEachEventCounted() throws Exception {
    try (Scene scene = Scene.open("cluster-kill", temp)) {
      BillingRun run =
          BillingRun.prepare(
              Scene.directory("cluster-kill"), scene.postgres().endpoint(), SUBSCRIPTIONS);
      List<Node> nodes =
          scene.cluster(Collections.nCopies(3, scene.here().with(BillingRun.SETTINGS)));
      Scene.start(nodes);
      try (EventLoad load = scene.load()) {
        run.begin(nodes.getFirst().process());
        int whileBilling;
        try {
          whileBilling = killAgainAndAgain(nodes, run);
        } finally {
          allEnded().join(); // or one that starts now would be left over
        }
        startsSucceed();
        Scene.awaitMembers(nodes, 60);
        nodes.forEach(node -> assertThat(node.process().handle().isAlive()).isTrue());
        scene.awaitMore(load, 1000, 60);
        run.finish(nodes.getFirst().process());
        scene.check(load);
        scene.say(
            "%d kills, %d of them before all of %d invoices were there; ready again in ms: %s",
            KILLS, whileBilling, run.invoices(), readyMs.stream().sorted().toList());
        assertThat(whileBilling).isPositive();
      }
      run.check(nodes.getLast().process());
      List<Long> sorted = readyMs.stream().sorted().toList();
      assertThat(sorted.get((int) Math.ceil(sorted.size() * 0.95) - 1))
          .isLessThan(Scene.stretched(READY_WITHIN_MS));
    }
  }

  private CompletableFuture<?> allEnded() {
    return CompletableFuture.allOf(starting.toArray(CompletableFuture[]::new))
        .handle((done, error) -> null);
  }

  private boolean startsSucceed() {
    starting.stream().filter(CompletableFuture::isDone).forEach(CompletableFuture::join);
    return true;
  }

  /** Returns how many of the kills came before the last invoice. */
  private int killAgainAndAgain(List<Node> nodes, BillingRun run) throws Exception {
    List<Node> up = Collections.synchronizedList(new ArrayList<>(nodes));
    int whileBilling = 0;
    for (int i = 0; i < KILLS; i++) {
      Thread.sleep(i == 0 ? random.nextInt((int) EVERY_MS) : EVERY_MS);
      // one at least is left to go on
      Scene.until("two are up", 60, () -> startsSucceed() && up.size() > 1);
      Node victim = up.remove(random.nextInt(up.size()));
      whileBilling += run.made() < run.invoices() ? 1 : 0;
      victim.process().kill();
      starting.add(
          CompletableFuture.runAsync(
              () -> {
                readyMs.add(victim.start());
                up.add(victim);
              },
              Thread::startVirtualThread));
    }
    return whileBilling;
  }

  @Test
  void ofFourTwoAreKilledAtOnce() throws Exception {
    List<Long> troubledMs = new ArrayList<>();
    try (Scene scene = Scene.open("cluster-kill-two", temp)) {
      BillingRun run =
          BillingRun.prepare(
              Scene.directory("cluster-kill-two"), scene.postgres().endpoint(), SUBSCRIPTIONS);
      List<Node> nodes =
          scene.cluster(
              Stream.of(ALL, ALL, STORES_NOTHING, STORES_NOTHING)
                  .map(roles -> scene.here().with(BillingRun.SETTINGS).with(roles))
                  .toList());
      Scene.start(nodes);
      try (EventLoad load = scene.load()) {
        for (int i = 0; i < PAIRS; i++) {
          scene.awaitMore(load, 1000, 60);
          if (i == 0) {
            run.begin(nodes.getFirst().process());
          }
          troubledMs.add(killTwo(scene, nodes, load));
          Scene.awaitMembers(nodes, 60);
        }
        scene.awaitMore(load, 1000, 60);
        run.finish(nodes.getFirst().process());
        scene.check(load);
      }
      scene.say("two of four killed %d times; trouble at the others for ms: %s", PAIRS, troubledMs);
      run.check(nodes.getLast().process());
      assertThat(troubledMs).allMatch(ms -> ms < Scene.stretched(TROUBLED_FOR_MS));
    }
  }

  /**
   * Starts them again when the others are a cluster of their own; for how long those had trouble.
   */
  private long killTwo(Scene scene, List<Node> nodes, EventLoad load) {
    List<Integer> victims = List.of(random.nextInt(2), 2 + random.nextInt(2));
    List<Integer> others = IntStream.range(0, 4).filter(i -> !victims.contains(i)).boxed().toList();
    long killedAt = System.nanoTime();
    victims.forEach(i -> nodes.get(i).process().handle().destroyForcibly());
    victims.forEach(i -> nodes.get(i).process().kill());
    Scene.awaitMembers(others.stream().map(nodes::get).toList(), 60);
    scene.awaitMore(load, 1000, 60);
    long troubledAt =
        others.stream().mapToLong(i -> load.door(i).troubledAtNanos()).max().orElseThrow();
    Merchant.atOnce(2, i -> nodes.get(victims.get(i)).start());
    return Math.max(0, TimeUnit.NANOSECONDS.toMillis(troubledAt - killedAt));
  }
}
