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
    migrateTo("1");
    run("/db/version1.sql");
    migrateTo("7");
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

  private static void migrateTo(String version) {
    Flyway.configure()
        .dataSource(upgraded.jdbcUrl(), upgraded.user(), upgraded.password())
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
                    OR (tableoid::regclass::text <> 'event_chunk_other')
                       <> (date_trunc('month', first_at, 'UTC')
                             >= date_trunc('month', now() - interval '24 months', 'UTC')
                           AND first_at < date_trunc('month', now() + interval '3 months', 'UTC'))
                """))
        .isEmpty();
    assertThat(found("SELECT 1 FROM event_chunk WHERE tableoid <> 'event_chunk_other'::regclass"))
        .hasSizeGreaterThan(40);
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
