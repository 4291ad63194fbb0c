package io.steelyard.db;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The events of version 7 in the tables of today: all there, none counted twice or again. */
class UpgradeEventsIT {
  private static final String EVENTS =
      """
      SELECT concat_ws('|', merchant_id, key, coalesce(customer_id::text, '-'),
                       extract(epoch FROM generated_at), coalesce(customer_ref, '-'), name,
                       coalesce(user_id, '-'), coalesce(data, '-'))
        FROM %s ORDER BY merchant_id, key
      """;
  private static final String COUNTERS =
      "SELECT c::text FROM usage_counter c ORDER BY subscription_id, period_index, billable_id";
  private static final String MONTHLY =
      """
      SELECT concat_ws(' ', c.events, trim_scale(c.sum), trim_scale(c.min), trim_scale(c.max))
        FROM usage_counter c JOIN subscription s ON s.id = c.subscription_id
        JOIN customer o ON o.id = s.customer_id
       WHERE o.external_id = 'monthly' AND c.period_index = 0
      """;
  private static final Id MERCHANT =
      new Id(IdKind.MERCHANT, UUID.fromString("01900000-0000-7000-8000-000000000001"));
  private static final Id CUSTOMER =
      new Id(IdKind.CUSTOMER, UUID.fromString("01900000-0000-7000-8000-000000000101"));

  private static Endpoint upgraded;
  private static List<String> events;
  private static List<String> keys;
  private static List<String> counters;

  @BeforeAll
  static void upgrade() throws IOException {
    upgraded = PostgresSupport.emptyDatabase();
    migrateTo(upgraded, "1");
    run("/db/version1.sql");
    migrateTo(upgraded, "7");
    run("/db/version7-events.sql");
    events = found(EVENTS.formatted("event"));
    keys =
        found(
            """
            SELECT concat_ws(' ', merchant_id, key, lpad(right(to_hex(payload_hash), 8), 8, '0'))
              FROM event ORDER BY merchant_id, key
            """);
    counters = found(COUNTERS);
    Migrations.migrate(upgraded);
  }

  private static void migrateTo(Endpoint database, String version) {
    Flyway.configure()
        .dataSource(database.jdbcUrl(), database.user(), database.password())
        .locations("classpath:db/migration")
        .target(version)
        .load()
        .migrate();
  }

  private static void run(String script) throws IOException {
    try (InputStream rows = UpgradeEventsIT.class.getResourceAsStream(script)) {
      PostgresSupport.execute(
          upgraded,
          new String(Objects.requireNonNull(rows).readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  private static List<String> found(String sql) {
    return PostgresSupport.column(upgraded, sql);
  }

  @Test
  void everyEventIsThereAsItWas() {
    assertThat(events).hasSizeGreaterThan(800);
    assertThat(found(EVENTS.formatted("event"))).isEqualTo(events);
    assertThat(found("SELECT name || data FROM waiting_event WHERE batch = 50 ORDER BY data"))
        .containsExactly(
            "call{\"count\" : 1}",
            "call{\"count\" : 1}",
            "call{\"count\" : 2}",
            "call{\"count\" : 2}",
            "call{\"count\" : 3}",
            "call{\"count\" : 3}");
    assertThat(found("SELECT count(*) FROM waiting_event")).containsExactly("9");
    assertThat(found(COUNTERS)).isEqualTo(counters);
  }

  @Test
  void everyKeyIsKnown() {
    assertThat(
            found(
                """
                SELECT concat_ws(' ', m.id, k.key, lpad(to_hex(k.payload_hash), 8, '0'))
                  FROM event_key k JOIN merchant m ON m.number = k.merchant_number
                 ORDER BY m.id, k.key
                """))
        .isEqualTo(keys);
  }

  @Test
  void rowsAreWithinADayAndMonthsNearNowHaveTables() {
    assertThat(
            found(
                """
                SELECT c::text FROM event_chunk c
                 WHERE date_trunc('day', first_at, 'UTC') <> date_trunc('day', last_at, 'UTC')
                    OR events <> json_array_length(content::json)
                    OR (tableoid::regclass::text NOT LIKE 'event_chunk_other_%')
                       <> (date_trunc('month', first_at, 'UTC')
                             >= date_trunc('month', now() - interval '24 months', 'UTC')
                           AND first_at < date_trunc('month', now() + interval '3 months', 'UTC'))
                """))
        .isEmpty();
    assertThat(
            found(
                """
                SELECT 1 FROM event_chunk
                 WHERE tableoid::regclass::text NOT LIKE 'event_chunk_other_%'
                """))
        .hasSizeGreaterThan(40);
  }

  @Test
  void rowsOfOtherMonthsLieByYear() {
    Endpoint database = PostgresSupport.emptyDatabase();
    migrateTo(database, "9");
    PostgresSupport.execute(
        database,
        "SELECT event_month('2026-01-01Z')",
        """
        INSERT INTO event_chunk (merchant_id, customer_id, first_at, last_at, events, content)
        SELECT gen_random_uuid(), gen_random_uuid(), t.at, t.at, 1, '[]'
          FROM unnest(ARRAY['1970-01-01Z', '2023-12-31 23:59:59.999Z', '2024-01-01Z',
                            '2025-12-31 23:59:59.999Z', '2026-01-01Z', '2026-02-01Z',
                            '2039-12-31 23:59:59.999Z', '2040-01-01Z', '2999-01-01Z'
                           ]::timestamptz[]) AS t (at)
        """);
    String rows = "SELECT c::text FROM event_chunk c ORDER BY first_at";
    List<String> before = PostgresSupport.column(database, rows);

    Migrations.migrate(database);

    assertThat(before).hasSize(9);
    assertThat(PostgresSupport.column(database, rows)).isEqualTo(before);
    assertThat(
            PostgresSupport.column(
                database, "SELECT tableoid::regclass FROM event_chunk ORDER BY first_at"))
        .containsExactly(
            "event_chunk_other_before_2024",
            "event_chunk_other_before_2024",
            "event_chunk_other_2024",
            "event_chunk_other_2025",
            "event_chunk_2026_01",
            "event_chunk_other_2026",
            "event_chunk_other_2039",
            "event_chunk_other_since_2040",
            "event_chunk_other_since_2040");
    assertThat(
            PostgresSupport.column(
                database,
                """
                SELECT p.relid FROM pg_partition_tree('event_chunk') p
                 WHERE p.isleaf
                   AND NOT EXISTS (SELECT FROM pg_indexes i
                                    WHERE i.tablename = p.relid::text
                                      AND i.indexdef LIKE '%(customer_id, first_at, last_at)')
                """))
        .isEmpty();
  }

  @Test
  void whatWaitsIsCountedOnceAndWhatWasSentIsNotTakenAgain() throws Exception {
    Endpoint copy = PostgresSupport.copyOf(upgraded);
    try (TestApp app = TestApp.start(copy, Map.of("verticles.aggregation.instances", "2"))) {
      List<String> counted = List.of("6 66 1 30");
      assertThat(Merchant.eventually(() -> PostgresSupport.column(copy, MONTHLY), counted::equals))
          .isEqualTo(counted);
      String waiting = "SELECT count(*) FROM event_batch";
      assertThat(
              Merchant.eventually(
                  () -> PostgresSupport.column(copy, waiting), List.of("0")::equals))
          .containsExactly("0");

      String key =
          new Merchant(app, MERCHANT.toString(), "")
              .operator("POST", "/api-keys")
              .json(Map.of("type", "secret", "name", "k"))
              .send(201)
              .at("key");
      Merchant merchant = new Merchant(app, MERCHANT.toString(), key);
      List<Object> again = new ArrayList<>();
      List<String> stored =
          PostgresSupport.column(
              copy, "SELECT key FROM event WHERE merchant_id = '%s'".formatted(MERCHANT.uuid()));
      for (String each : stored) {
        again.add(merchant.event(CUSTOMER.toString(), "call", 7, each));
      }
      again.add(merchant.event(CUSTOMER.toString(), "other", 7, "a new one"));

      assertThat(merchant.call("POST", "/external/event").json(again).send(202).text())
          .isEqualTo("{\"accepted\":1,\"duplicates\":%d}".formatted(stored.size()));
      assertThat(
              Merchant.eventually(
                  () -> PostgresSupport.column(copy, waiting), List.of("0")::equals))
          .containsExactly("0");
      assertThat(PostgresSupport.column(copy, MONTHLY)).isEqualTo(counted);
      assertThat(PostgresSupport.column(copy, EVENTS.formatted("event WHERE name <> 'other'")))
          .isEqualTo(events);
    }
  }
}
