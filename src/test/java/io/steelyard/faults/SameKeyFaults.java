package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.faults.Batches.Batch;
import io.steelyard.faults.Ledger.Outcome;
import io.steelyard.faults.Ledger.Sent;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.RawHttp;
import io.steelyard.support.RawHttp.Response;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The same events are sent to three nodes at once, very often; also where the database keeps no key
 * unique, which must be seen.
 */
class SameKeyFaults {
  private static final int KEYS = Integer.getInteger("faults.sameKeys", 20);
  private static final int TIMES = Integer.getInteger("faults.sameKeyTimes", 1000);
  private static final int BATCHES = Integer.getInteger("faults.sameBatches", 50);
  private static final int BATCH_EVENTS = 100;
  private static final int SENDERS = 100;
  private static final int NODES = 3;
  private static final long P99_WITHIN_MS = 1000;
  private static final int KEYS_OF_THE_BLIND = 5;
  private static final Pattern ACCEPTED =
      Pattern.compile("\\{\"accepted\":(\\d+),\"duplicates\":(\\d+)}");

  @TempDir Path temp;

  private final SplittableRandom random = new SplittableRandom(Scene.SEED);
  private final List<Long> tookMs = Collections.synchronizedList(new ArrayList<>());
  private Scene scene;
  private List<Node> nodes;

  @Test
  void eachIsStoredAndCountedOnce() {
    try (Scene opened = Scene.open("same-key", temp)) {
      scene = opened;
      nodes = scene.cluster(Collections.nCopies(NODES, scene.here()));
      Scene.start(nodes);
      List<List<Sent>> keys = events(KEYS, 1);
      List<List<Sent>> batches = events(BATCHES, BATCH_EVENTS);

      List<Integer> acceptedOfKeys = sendAll(keys, SENDERS, TIMES / SENDERS);
      tookMs.sort(null);
      long p99 = tookMs.get(tookMs.size() * 99 / 100);
      scene.say(
          "%d keys sent %d times each: p99 %d ms, slowest %d ms",
          KEYS, TIMES, p99, tookMs.getLast());
      List<Integer> acceptedOfBatches = sendAll(batches, NODES, 1);

      assertThat(acceptedOfKeys).containsOnly(1);
      assertThat(acceptedOfBatches).containsOnly(BATCH_EVENTS);
      assertThat(p99).isLessThan(Scene.stretched(P99_WITHIN_MS));
      scene.checkBooks();
    }
  }

  @Test
  void withoutAUniqueKeyDoublesAreSeen() {
    try (Scene opened = Scene.open("same-key-not-unique", temp)) {
      scene = opened;
      PostgresSupport.execute(
          scene.postgres().endpoint(), "ALTER TABLE event_key DROP CONSTRAINT event_key_pkey");
      nodes = scene.cluster(Collections.nCopies(NODES, scene.here()));
      Scene.start(nodes);
      List<List<Sent>> keys = events(KEYS_OF_THE_BLIND, 1);

      List<Integer> accepted = sendAll(keys, NODES, 1);
      Scene.until(
          "everything counted",
          60,
          () -> scene.query("SELECT count(*) FROM event_batch").equals("0"));
      List<String> faults = scene.faults();

      scene.say("without the constraint: accepted %s times, %d faults", accepted, faults.size());
      assertThat(accepted).anyMatch(times -> times > 1);
      assertThat(faults)
          .anyMatch(fault -> fault.startsWith("stored twice: "))
          .anyMatch(fault -> fault.startsWith("counter "));
    }
  }

  private List<List<Sent>> events(int bodies, int each) {
    return IntStream.range(0, bodies)
        .mapToObj(body -> IntStream.range(0, each).mapToObj(event -> event()).toList())
        .toList();
  }

  private Sent event() {
    return new Sent(
        new UUID(random.nextLong(), random.nextLong()),
        random.nextInt(scene.account().customers().size()),
        "call",
        1 + random.nextInt(1000),
        System.currentTimeMillis());
  }

  /** All senders send the same at the same time; how many events of each body were new. */
  private List<Integer> sendAll(List<List<Sent>> bodies, int senders, int times) {
    Phaser together = new Phaser(senders);
    List<List<Integer>> bySender =
        Merchant.atOnce(
            senders,
            sender -> {
              try (RawHttp connection = RawHttp.connect(nodes.get(sender % NODES).port())) {
                return bodies.stream()
                    .map(
                        body -> {
                          together.arriveAndAwaitAdvance();
                          return send(connection, body, times);
                        })
                    .toList();
              } finally {
                together.arriveAndDeregister();
              }
            });
    return IntStream.range(0, bodies.size())
        .mapToObj(body -> bySender.stream().mapToInt(accepted -> accepted.get(body)).sum())
        .toList();
  }

  private int send(RawHttp connection, List<Sent> events, int times) {
    String body =
        new String(new Batch(events, false, false).body(scene.account()), StandardCharsets.UTF_8);
    String head =
        "POST /external/event HTTP/1.1\nHost: a\nX-Api-Key: %s\nContent-Type: application/json\n"
            .formatted(scene.account().apiKey());
    int accepted = 0;
    scene.ledger().before(events);
    for (int i = 0; i < times; i++) {
      long sentAt = System.nanoTime();
      Response answer =
          connection.send(head + "Content-Length: %d\n\n".formatted(body.length()) + body).read();
      tookMs.add(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sentAt));
      assertThat(answer.status()).as(answer.body()).isEqualTo(202);
      Matcher told = ACCEPTED.matcher(answer.body());
      assertThat(told.matches()).as(answer.body()).isTrue();
      assertThat(Integer.parseInt(told.group(1)) + Integer.parseInt(told.group(2)))
          .isEqualTo(events.size());
      accepted += Integer.parseInt(told.group(1));
    }
    scene.ledger().after(events, Outcome.ACKED);
    return accepted;
  }
}
