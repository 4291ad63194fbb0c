package io.steelyard.usage;

import static io.steelyard.usage.UsageFixture.NOW;
import static io.steelyard.usage.UsageFixture.await;
import static io.steelyard.usage.UsageFixture.event;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.support.Tables;
import io.vertx.core.Future;
import io.vertx.sqlclient.Transaction;
import java.sql.Connection;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How counted events lie in rows and tables. */
class ChunkStoreIT {
  private static ChunkFixture chunks;
  private final UUID customer = UUID.randomUUID();

  @BeforeAll
  static void start() {
    chunks = new ChunkFixture();
  }

  @AfterAll
  static void close() {
    chunks.close();
  }

  @BeforeEach
  void empty() {
    for (String table : tables()) {
      if (!table.equals("event_chunk_other")) {
        chunks.usage.execute("DROP TABLE " + table);
      }
    }
    chunks.usage.execute("TRUNCATE event_chunk");
  }

  private static List<String> tables() {
    return chunks.column(
        "SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'event_chunk'::regclass");
  }

  private UsageEvent at(String instant) {
    return event(customer, "a", Instant.parse(instant), "{\"v\":1}");
  }

  /** The table of each event by time. */
  private static List<String> places() {
    return chunks.column(
        """
        SELECT concat_ws(' ', to_char(first_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), tableoid::regclass)
          FROM event_chunk ORDER BY first_at
        """);
  }

  @Test
  void everyRowIsWithinADayInOrderAndOfBoundedSize() {
    Random random = new Random(11);
    List<UUID> customers = new ArrayList<>(List.of(customer, UUID.randomUUID()));
    customers.add(null);
    List<UsageEvent> events = new ArrayList<>();
    for (int i = 0; i < 3000; i++) {
      UUID of = customers.get(random.nextInt(3));
      String data = "{\"v\":\"" + "é".repeat(random.nextInt(300)) + "\"}";
      Instant at = NOW.minusMillis(random.nextLong(70 * 86_400_000L)).truncatedTo(ChronoUnit.HOURS);
      events.add(
          new UsageEvent(UUID.randomUUID(), 1, of, of == null ? "r" : null, "a", at, "u", data));
    }
    events.add(event(customer, "huge", NOW, "{\"v\":\"" + "x".repeat(60_000) + "\"}"));
    chunks.save(events.subList(0, 1000));
    chunks.save(events.subList(1000, events.size()));

    assertThat(
            chunks.column(
                """
                SELECT c::text FROM event_chunk c
                 WHERE date_trunc('day', first_at, 'UTC') <> date_trunc('day', last_at, 'UTC')
                    OR events <> json_array_length(content::json)
                    OR extract(epoch FROM first_at) * 1000 <> (content::json -> 0 ->> 't')::bigint
                    OR extract(epoch FROM last_at) * 1000 <> (content::json -> -1 ->> 't')::bigint
                    OR (octet_length(content) > 3992 AND events > 1)
                    OR (octet_length(content) <= 3992 AND pg_column_compression(content) <> '')
                """))
        .isEmpty();
    assertThat(
            chunks.column(
                """
                SELECT e::text
                  FROM (SELECT c.content, (j.e ->> 't')::bigint AS t, (j.e ->> 'k')::uuid AS k,
                               lag((j.e ->> 't')::bigint) OVER w AS t_before,
                               lag((j.e ->> 'k')::uuid) OVER w AS k_before
                          FROM event_chunk c,
                               json_array_elements(c.content::json) WITH ORDINALITY AS j (e, n)
                        WINDOW w AS (PARTITION BY c.ctid, c.tableoid ORDER BY j.n)) e
                 WHERE (t, k) <= (t_before, k_before)
                """))
        .isEmpty();
    assertThat(chunks.column("SELECT events FROM event_chunk WHERE length(content) > 60000"))
        .containsExactly("1");
    assertThat(
            chunks.column(
                """
                SELECT concat_ws('|', merchant_id, key, customer_id, customer_ref, name, user_id, data,
                                 extract(epoch FROM generated_at)::bigint)
                  FROM counted_event
                """))
        .containsExactlyInAnyOrderElementsOf(
            events.stream()
                .map(
                    event ->
                        "%s|%s|%s|%s%s|%s|%d"
                            .formatted(
                                chunks.usage.merchant,
                                event.key(),
                                event.customerId() == null ? "r" : event.customerId(),
                                event.eventName(),
                                event.userId() == null ? "" : "|" + event.userId(),
                                event.data(),
                                event.generatedAt().getEpochSecond()))
                .toList());
  }

  /** As long as rows could be joined, they are. */
  @Test
  void aFoldFillsItsRows() {
    List<UsageEvent> events = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      events.add(event(customer, "a", NOW.plusSeconds(i), "{\"v\":1}"));
    }
    chunks.save(events);

    assertThat(
            chunks.column(
                """
                SELECT content
                  FROM (SELECT length(content) + lead(length(content)) OVER (ORDER BY first_at) AS of_two,
                               content FROM event_chunk) c
                 WHERE of_two < 3990
                """))
        .isEmpty();
  }

  @Test
  void monthsNearNowHaveTablesAndOthersShareOne() {
    chunks.save(
        List.of(
            at("2001-01-01T00:00:00Z"),
            at("2024-02-29T23:59:59.999Z"),
            at("2024-03-01T00:00:00Z"),
            at("2026-03-31T23:59:59.999Z"),
            at("2026-04-01T00:00:00Z"),
            at("2026-05-31T23:59:59.999Z"),
            at("2026-06-01T00:00:00Z"),
            at("2099-12-31T23:59:59.999Z")));

    assertThat(places())
        .containsExactly(
            "2001-01-01 event_chunk_other_before_2024",
            "2024-02-29 event_chunk_other_2024",
            "2024-03-01 event_chunk_2024_03",
            "2026-03-31 event_chunk_2026_03",
            "2026-04-01 event_chunk_2026_04",
            "2026-05-31 event_chunk_2026_05",
            "2026-06-01 event_chunk_other_2026",
            "2099-12-31 event_chunk_other_since_2040");
  }

  @Test
  void aMonthTakesWithItWhatWasAmongTheOthers() {
    chunks.save(
        List.of(
            at("2026-05-31T23:59:59.999Z"),
            at("2026-06-01T00:00:00Z"),
            at("2026-06-30T23:59:59.999Z"),
            at("2026-07-01T00:00:00Z")));
    List<String> before = chunks.column("SELECT e::text FROM counted_event e");

    chunks.usage.execute("SET TimeZone = 'America/New_York'; SELECT event_month('2026-06-15Z')");

    assertThat(places())
        .containsExactly(
            "2026-05-31 event_chunk_2026_05",
            "2026-06-01 event_chunk_2026_06",
            "2026-06-30 event_chunk_2026_06",
            "2026-07-01 event_chunk_other_2026");
    assertThat(chunks.column("SELECT e::text FROM counted_event e"))
        .containsExactlyInAnyOrderElementsOf(before);
    assertThat(
            chunks.column(
                "SELECT indexdef FROM pg_indexes WHERE tablename = 'event_chunk_2026_06'"))
        .singleElement()
        .asString()
        .contains("(customer_id, first_at, last_at)");
  }

  @Test
  void aNewMonthLooksThroughNoOtherYear() throws Exception {
    chunks.save(
        List.of(
            at("2023-12-31T23:59:59.999Z"),
            at("2024-01-01T00:00:00Z"),
            at("2099-01-01T00:00:00Z")));
    List<String> said = new ArrayList<>();
    try (Connection connection = Tables.connect(chunks.usage.endpoint);
        Statement statement = connection.createStatement()) {
      statement.execute("SET client_min_messages = debug1");
      statement.execute("SELECT event_month('2026-06-15Z')");
      for (SQLWarning next = statement.getWarnings(); next != null; next = next.getNextWarning()) {
        said.add(next.getMessage());
      }
    }

    assertThat(said)
        .filteredOn(message -> message.startsWith("verifying table"))
        .containsExactlyInAnyOrder(
            "verifying table \"event_chunk_2026_06\"",
            "verifying table \"event_chunk_other_2026\"");
  }

  @Test
  void twoProcessesMayMakeTheSameMonthAtOnce() {
    var first = await(chunks.pool.getConnection());
    var second = await(chunks.pool.getConnection());
    Transaction one = await(first.begin());
    Transaction two = await(second.begin());
    await(chunks.save(first, List.of(at("2026-03-05T00:00:00Z"))));
    Future<Void> slower = chunks.save(second, List.of(at("2026-03-06T00:00:00Z")));
    chunks.usage.awaitTrue(
        """
        SELECT count(*) > 0 FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'
        """);

    await(one.commit());
    await(slower);
    await(two.commit());
    await(first.close());
    await(second.close());

    assertThat(places())
        .containsExactly("2026-03-05 event_chunk_2026_03", "2026-03-06 event_chunk_2026_03");
  }

  @Test
  void aMonthThatWasRolledBackIsMadeAgain() {
    ChunkStore store = ChunkFixture.store();
    var fold =
        CustomerEvents.of(
            ChunkFixture.stored(chunks.usage.merchant, List.of(at("2026-03-05T00:00:00Z"))));
    assertThatThrownBy(
            () ->
                chunks.inTransaction(
                    transaction ->
                        store.save(transaction, fold).compose(done -> Future.failedFuture("no"))))
        .hasRootCauseMessage("no");
    assertThat(tables()).containsExactly("event_chunk_other");

    chunks.inTransaction(transaction -> store.save(transaction, fold));

    assertThat(places()).containsExactly("2026-03-05 event_chunk_2026_03");
  }

  @Test
  void whoReadsTheOthersForLongDoesNotHoldUpANewMonth() throws Exception {
    try (Connection reader = Tables.connect(chunks.usage.endpoint)) {
      reader.setAutoCommit(false);
      reader.createStatement().execute("SELECT FROM event_chunk");

      chunks.save(List.of(at("2026-03-05T00:00:00Z")));

      assertThat(places()).containsExactly("2026-03-05 event_chunk_other_2026");
      reader.rollback();
    }
    chunks.save(List.of(at("2026-03-06T00:00:00Z")));

    assertThat(places())
        .containsExactly("2026-03-05 event_chunk_2026_03", "2026-03-06 event_chunk_2026_03");
  }
}
