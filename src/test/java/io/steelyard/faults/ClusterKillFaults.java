package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.billing.BillingRun;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Of three nodes one is killed with signal 9 every two seconds, whichever, and started again, while
 * they bill what is due of many subscriptions and events come in.
 */
class ClusterKillFaults {
  private static final int KILLS = Integer.getInteger("faults.nodeKills", 15);
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
      assertThat(sorted.get((int) (sorted.size() * 0.95)))
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
}
