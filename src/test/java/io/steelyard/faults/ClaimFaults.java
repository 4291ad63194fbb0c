package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.billing.BillingRun;
import io.steelyard.support.Signal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A node stands still in the middle of a transaction in which it has claimed subscriptions to bill.
 * The others bill all that it has not claimed; then it is killed, or the database ends its claim
 * and it goes on with what it believes to hold.
 */
class ClaimFaults {
  private static final int SUBSCRIPTIONS = Integer.getInteger("faults.subscriptions", 3000);
  private static final long FROZEN_S = Long.getLong("faults.frozenSeconds", 30);
  private static final long TAKEN_OVER_WITHIN_S = 10;
  private static final long BILLED_WITHIN_S = 180;
  private static final long STANDSTILL_MS = 5000;
  private static final int TRIES = 500;
  private static final String CLAIMS =
      """
      SELECT count(*) FROM pg_stat_activity
       WHERE usename = 'node_0' AND application_name = 'steelyard-billing'
         AND state LIKE 'idle in transaction%' AND backend_xid IS NOT NULL
      """;
  private static final String ENDED = "terminating connection due to idle-in-transaction timeout";

  @TempDir Path temp;

  private final SplittableRandom random = new SplittableRandom(Scene.SEED);
  private Scene scene;
  private List<Node> nodes;
  private BillingRun run;

  @AfterEach
  void close() {
    if (scene != null) {
      scene.close();
    }
  }

  /** Three nodes, of which the first has stopped with a claim; the others go on. */
  private void open(String name, Map<String, String> settings) throws Exception {
    scene = Scene.open(name, temp);
    run = BillingRun.prepare(Scene.directory(name), scene.postgres().endpoint(), SUBSCRIPTIONS);
    nodes =
        scene.cluster(
            List.of(scene.as("node_0"), scene.as("node_1"), scene.as("node_2")).stream()
                .map(place -> place.with(BillingRun.SETTINGS).with(settings))
                .toList());
    Scene.start(nodes);
    run.begin(nodes.get(1).process());
    freezeWithClaim();
  }

  private void freezeWithClaim() throws Exception {
    long pid = nodes.getFirst().process().pid();
    for (int i = 0; i < TRIES; i++) {
      Signal.send("STOP", pid);
      Thread.sleep(20); // what it has sent is done by then, mostly
      if (!scene.query(CLAIMS).equals("0")) {
        return;
      }
      Signal.send("CONT", pid);
      Thread.sleep(random.nextInt(20));
    }
    throw new AssertionError("never stopped with a claim; invoices: " + run.made());
  }

  /**
   * Until only what the one that stands still keeps from being made is left: its share, or all that
   * waits for an invoice number if it holds that. Or nothing.
   */
  private int awaitTheOthers() throws Exception {
    int before = -1;
    for (int made = run.made(); made != before; made = run.made()) {
      before = made;
      Thread.sleep(STANDSTILL_MS);
    }
    return run.invoices() - before;
  }

  private static long msSince(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
  }

  @Test
  void whatAKilledNodeHadClaimedIsBilledByTheOthers() throws Exception {
    open("claim-killed", Map.of("database.idleInTransactionTimeoutMs", "120000"));
    int left = awaitTheOthers();
    assertThat(left).as("its share").isPositive();
    int before = run.invoices() - left;

    nodes.getFirst().process().kill();

    long killedAt = System.nanoTime();
    Scene.until("taken over", TAKEN_OVER_WITHIN_S, () -> run.made() > before);
    scene.say("killed with %d invoices to make; taken over in %d ms", left, msSince(killedAt));
    Scene.until("billed", BILLED_WITHIN_S, () -> run.made() == run.invoices());
    scene.say("made after %d ms", msSince(killedAt));
    run.finish(nodes.get(1).process());
    run.check(nodes.get(2).process());
  }

  @Test
  void whatAFrozenNodeHadClaimedIsBilledByTheOthersAndItsOwnClaimIsRefused() throws Exception {
    open("claim-frozen", Map.of());
    long frozenAt = System.nanoTime();

    Scene.until("billed", BILLED_WITHIN_S, () -> run.made() == run.invoices());

    scene.say("frozen with a claim; all invoices made after %d ms", msSince(frozenAt));
    Thread.sleep(Math.max(0, FROZEN_S * 1000 - msSince(frozenAt)));
    assertThat(Files.readString(Scene.directory("claim-frozen").resolve("postgres.log")))
        .contains(ENDED);
    Signal.send("CONT", nodes.getFirst().process().pid());
    long wokenAt = System.nanoTime();
    Scene.awaitMembers(nodes, 60);
    scene.say("one of three again after %d ms", msSince(wokenAt));
    run.finish(nodes.getFirst().process());
    run.check(nodes.get(1).process());
  }
}
