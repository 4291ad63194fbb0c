package io.steelyard.usage;

import static io.steelyard.usage.UsageFixture.MARCH;
import static io.steelyard.usage.UsageFixture.NOW;
import static io.steelyard.usage.UsageFixture.await;
import static io.steelyard.usage.UsageFixture.event;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.usage.BatchStore.Batch;
import io.steelyard.usage.Flush.Entry;
import io.steelyard.usage.Flush.Pending;
import io.steelyard.usage.UsageMessages.Ingested;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlConnection;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The quick way to store what is new, the careful one where keys are known, and back. */
class FlushWaysIT {
  /** As many as are taken carefully after a duplicate. */
  private static final int CAREFUL = 64;

  private static UsageFixture usage;
  private static Pool pool;

  private final SqlConnection connection = await(pool.getConnection());
  private final EventStore store = new EventStore(HeldEvents.of(usage.vertx), () -> null);
  private final int number = await(store.merchantNumber(connection, usage.merchant));

  /** How often each statement was carried out. */
  private record Ways(int quick, int careful) {}

  @BeforeAll
  static void start() {
    usage = new UsageFixture();
    pool = usage.pools.ingest(usage.vertx);
  }

  @AfterAll
  static void close() {
    await(pool.close());
    usage.close();
  }

  private static UsageEvent keyed(UUID key) {
    return event(key, new UUID(5, 5), "a", MARCH, null);
  }

  /** How many were known. */
  private int store(UsageEvent... events) {
    Pending request = new Pending(usage.merchant, number, UsageEvent.encoded(List.of(events)));
    List<Entry> known = await(store.store(connection, new Flush(List.of(request)), NOW));
    return known.size();
  }

  private Ways ways() {
    Map<Boolean, Integer> runs = new HashMap<>();
    for (Row row :
        await(
            connection
                .query(
                    """
                    SELECT statement LIKE '%ON CONFLICT%' AS careful,
                           sum(generic_plans + custom_plans)::integer AS runs
                      FROM pg_prepared_statements WHERE statement LIKE '%INSERT INTO event_key%'
                     GROUP BY 1
                    """)
                .execute())) {
      runs.put(row.getBoolean("careful"), row.getInteger("runs"));
    }
    return new Ways(runs.getOrDefault(false, 0), runs.getOrDefault(true, 0));
  }

  @Test
  void aDuplicateMakesTheNextFlushesCarefulUntilNoneComes() {
    UUID key = UUID.randomUUID();
    assertThat(store(keyed(key), keyed(UUID.randomUUID()))).isZero();
    assertThat(store(keyed(UUID.randomUUID()))).isZero();
    assertThat(ways()).isEqualTo(new Ways(2, 0));

    assertThat(store(keyed(UUID.randomUUID()), keyed(key))).isEqualTo(1);
    assertThat(ways()).isEqualTo(new Ways(3, 1));
    storeNew(CAREFUL - 1);
    assertThat(store(keyed(key))).isEqualTo(1); // and from here on anew
    assertThat(ways()).isEqualTo(new Ways(3, CAREFUL + 1));
    storeNew(CAREFUL);
    assertThat(ways()).isEqualTo(new Ways(3, 2 * CAREFUL + 1));

    storeNew(3);
    assertThat(ways()).isEqualTo(new Ways(6, 2 * CAREFUL + 1));
    await(connection.close());
  }

  @Test
  void whatIsStoredWholeIsHeldForTheFoldByEitherWay() {
    HeldEvents held = HeldEvents.of(usage.vertx);
    held.upTo(1 << 20, 1000);
    UUID key = UUID.randomUUID();

    store(keyed(key), keyed(UUID.randomUUID())); // the quick way
    assertThat(heldOfLastBatch(held, 2)).isEqualTo(2);
    store(
        keyed(UUID.randomUUID()), keyed(key)); // the careful one, with an event that is no new one
    assertThat(heldOfLastBatch(held, 1)).isZero();
    store(keyed(UUID.randomUUID())); // the careful one still
    assertThat(heldOfLastBatch(held, 1)).isEqualTo(1);
    UUID twice = UUID.randomUUID();
    store(keyed(twice), keyed(twice));
    assertThat(heldOfLastBatch(held, 1)).isZero();

    held.upTo(0, 1000);
    await(connection.close());
  }

  private static int heldOfLastBatch(HeldEvents held, int events) {
    long last = usage.number("SELECT max(batch) FROM event_batch").longValue();
    List<StoredEvent> taken = new ArrayList<>();
    held.take(List.of(new Batch(new Batch.Ref(last, usage.merchant), events, 1)), taken);
    return taken.size();
  }

  private void storeNew(int flushes) {
    for (int i = 0; i < flushes; i++) {
      assertThat(store(keyed(UUID.randomUUID()))).isZero();
    }
  }

  @Test
  void whatIsAnsweredAndWhatConflictsAreAsCountedByHand() {
    await(connection.close());
    Random random = new Random(3);
    List<UUID> keys = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      keys.add(UUID.randomUUID());
    }
    String deployment = usage.ingestion(UsageFixture.INGEST);
    Map<UUID, Integer> stored = new HashMap<>();
    int conflicts = 0;
    for (int request = 0; request < 120; request++) {
      List<UsageEvent> events = new ArrayList<>();
      int accepted = 0;
      for (int i = 0; i <= random.nextInt(6); i++) {
        boolean known = request % 3 == 0; // else the quick way has no turn
        UUID key = known ? keys.get(random.nextInt(keys.size())) : UUID.randomUUID();
        UsageEvent event = event(key, new UUID(5, 5), "a" + random.nextInt(3), MARCH, null);
        events.add(event);
        Integer before = stored.putIfAbsent(key, event.payloadHash());
        accepted += before == null ? 1 : 0;
        conflicts += before == null || before == event.payloadHash() ? 0 : 1;
      }

      assertThat(await(usage.ingest(usage.merchant, events)))
          .isEqualTo(new Ingested(accepted, events.size() - accepted));
    }
    usage.undeploy(deployment); // conflicts are counted after the answer

    assertThat(conflicts).isGreaterThan(20);
    assertThat(usage.metrics.get("steelyard.ingest.conflicts").counter().count())
        .isEqualTo(conflicts);
    for (Map.Entry<UUID, Integer> one : stored.entrySet()) {
      assertThat(
              usage.number(
                  "SELECT count(*) FROM event_key WHERE key = '%s' AND payload_hash = %d",
                  one.getKey(), one.getValue()))
          .isEqualByComparingTo("1");
    }
    assertThat(
            usage.number(
                "SELECT count(*) FROM event WHERE key = ANY ('{%s}')",
                String.join(",", stored.keySet().stream().map(UUID::toString).toList())))
        .isEqualByComparingTo("" + stored.size());
  }
}
