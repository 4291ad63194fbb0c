package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.http.EventConnection.Outcome;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All kinds of events at once, through two processes: what is counted afterwards is what a query
 * over all stored events counts. {@code -Dstorm.events=5000000} for a long run, {@code
 * -Dstorm.seed} to repeat one.
 */
class EventStormIT {
  private static final Logger LOG = LoggerFactory.getLogger(EventStormIT.class);
  private static final long EVENTS = Long.getLong("storm.events", 60_000);
  private static final long SEED = Long.getLong("storm.seed", System.nanoTime());
  private static final int CONNECTIONS = 8;
  private static final int MERCHANTS = 3;
  private static final int CUSTOMERS = 12;
  private static final int EVENTS_OF_A_BODY_MAX = 600;
  private static final long STANDSTILL_S = 60;
  private static final Map<String, String> SETTINGS =
      Map.of("verticles.usage.instances", "2", "verticles.aggregation.instances", "2");

  /** Ahead, as clocks go forwards only; with the months before, some have tables of their own. */
  private static final YearMonth CLOSED = YearMonth.now(ZoneOffset.UTC).plusMonths(1);

  private static final YearMonth OPEN = CLOSED.plusMonths(1);

  private static final String CATALOG =
      """
      billables:
        - slug: calls
          name: Calls
          eventQueryRules:
            conditions: [[{key: eventName, rule: matches, value: call}]]
            calculation: sum
            overProperty: data.v
        - slug: people
          name: People
          eventQueryRules:
            conditions: [[{key: eventName, rule: matches, value: call}]]
            calculation: uniqueCount
            overProperty: data.who
        - slug: visits
          name: Visits
          eventQueryRules:
            conditions: [[{key: userId, rule: startsWith, value: u}]]
            calculation: count
      plans:
        - externalId: all
          name: All
          basePrices: {monthly: 5}
          prices:
            - {name: Calls, billable: calls, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 1}}
            - {name: People, billable: people, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 1}}
            - {name: Visits, billable: visits, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 1}}
      defaultPlan: all
      """;

  // Nothing of the service's: the rules above, said again in SQL.
  private static final String DIFFERENCES =
      """
      WITH told AS (
        SELECT merchant_id, customer_id, generated_at, name = 'call' AS call,
               user_id LIKE 'u%' AS visit, data::json ->> 'who' AS who,
               CASE WHEN data::json ->> 'v' ~ '^-?[0-9]+([.][0-9]+)?$'
                    THEN (data::json ->> 'v')::numeric END AS v
          FROM event
      ), counted AS (
        SELECT p.subscription_id, p.period_index, b.slug, count(*) AS events,
               coalesce(sum(v) FILTER (WHERE b.slug = 'calls'), 0) AS sum,
               min(v) FILTER (WHERE b.slug = 'calls') AS min,
               max(v) FILTER (WHERE b.slug = 'calls') AS max,
               count(DISTINCT who) FILTER (WHERE b.slug = 'people') AS uniques
          FROM told t
          JOIN subscription_period p ON p.merchant_id = t.merchant_id
           AND p.customer_id = t.customer_id AND p.period_start <= t.generated_at
           AND p.period_end > t.generated_at
          JOIN billable b ON b.merchant_id = t.merchant_id
           AND CASE b.slug WHEN 'calls' THEN call AND v IS NOT NULL
                           WHEN 'people' THEN call AND who IS NOT NULL
                           ELSE visit END
         GROUP BY p.subscription_id, p.period_index, b.slug
      ), kept AS (
        SELECT c.subscription_id, c.period_index, b.slug, c.events, c.sum, c.min, c.max, c.uniques
          FROM usage_counter c JOIN billable b ON b.id = c.billable_id
         WHERE c.events > 0
      )
      (SELECT 'missing ' || counted::text FROM counted EXCEPT
       SELECT 'missing ' || kept::text FROM kept)
      UNION ALL
      (SELECT 'too much ' || kept::text FROM kept EXCEPT
       SELECT 'too much ' || counted::text FROM counted)
      """;

  private record Tenant(Merchant merchant, List<String> customers, AtomicLong keys) {}

  /** What one connection has sent, and what was said to it. */
  private record Sent(long events, long accepted, long duplicates) {
    Sent plus(Sent other) {
      return new Sent(
          events + other.events, accepted + other.accepted, duplicates + other.duplicates);
    }
  }

  @Test
  void countersAreWhatAQueryOverAllEventsCounts() {
    LOG.warn("a storm of {} events, seed {}", EVENTS, SEED); // as less is not shown in tests
    try (TestApp app = TestApp.start(SETTINGS);
        TestApp other = TestApp.start(app.database(), SETTINGS)) {
      List<Tenant> tenants = new ArrayList<>();
      for (int i = 0; i < MERCHANTS; i++) {
        tenants.add(tenant(app));
      }

      Sent sent =
          Merchant.atOnce(
                  CONNECTIONS,
                  i -> storm(tenants, i % 2 == 0 ? app.port() : other.port(), SEED + i))
              .stream()
              .reduce(new Sent(0, 0, 0), Sent::plus);

      long keys = tenants.stream().mapToLong(tenant -> tenant.keys().get()).sum();
      assertThat(sent)
          .as("seed %d", SEED)
          .isEqualTo(new Sent(sent.events, keys, sent.events - keys));
      awaitFolded(app);
      assertCounters(app, keys);
      // The early ones have their turn.
      tenants.forEach(tenant -> tenant.merchant().at(OPEN.plusMonths(1).atDay(5) + "T00:00:00Z"));
      awaitFolded(app);
      assertCounters(app, keys);
      for (Tenant tenant : tenants) {
        var report = tenant.merchant().operator("GET", "/integrity").send(200);
        assertThat(report.<Boolean>at("clean")).as(report.text()).isTrue();
      }
    }
  }

  private static void assertCounters(TestApp app, long keys) {
    PostgresSupport.execute(app.database(), "ANALYZE event_chunk");
    assertThat(Tables.query(app.database(), "SELECT count(*) FROM event_key"))
        .containsExactly("" + keys);
    assertThat(
            Tables.query(
                app.database(),
                "SELECT count(DISTINCT (merchant_id, key)) || '/' || count(*) FROM event"))
        .containsExactly(keys + "/" + keys);
    assertThat(Tables.query(app.database(), "SELECT 1 FROM usage_counter WHERE events > 0"))
        .hasSizeGreaterThan(MERCHANTS * CUSTOMERS * 3);
    assertThat(Tables.query(app.database(), DIFFERENCES)).as("seed %d", SEED).isEmpty();
  }

  /** Customers with a period that is closed and one that is open. */
  private static Tenant tenant(TestApp app) {
    Merchant merchant = app.merchant("test", CATALOG).at(CLOSED.atDay(1) + "T00:00:00Z");
    List<String> customers = new ArrayList<>();
    for (int i = 0; i < CUSTOMERS; i++) {
      customers.add(merchant.customerId("c" + i));
    }
    merchant.at(OPEN.atDay(20) + "T00:00:00Z");
    return new Tenant(merchant, customers, new AtomicLong());
  }

  private static Sent storm(List<Tenant> tenants, int port, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Sent sent = new Sent(0, 0, 0);
    String last = null;
    Tenant tenant = null;
    int events = 0;
    try (EventConnection connection = new EventConnection(port)) {
      while (sent.events() < EVENTS / CONNECTIONS) {
        if (last == null || random.nextInt(10) > 0) { // else the same body again
          tenant = tenants.get(random.nextInt(tenants.size()));
          events = 1 + random.nextInt(EVENTS_OF_A_BODY_MAX);
          last = body(tenant, events, random);
        }
        Outcome outcome = connection.post(tenant.merchant(), last);
        sent = sent.plus(new Sent(events, outcome.accepted(), outcome.duplicates()));
      }
    }
    return sent;
  }

  private static String body(Tenant tenant, int events, SplittableRandom random) {
    StringBuilder body = new StringBuilder(events * 200).append('[');
    for (int i = 0; i < events; i++) {
      body.append(i == 0 ? "" : ",")
          .append("{\"customerId\":\"")
          .append(customer(tenant, random))
          .append("\",\"eventName\":\"")
          .append(random.nextInt(10) == 0 ? "other" : "call")
          .append("\",\"generatedAt\":\"")
          .append(time(random))
          .append("\",\"idempotencyKey\":\"")
          .append(key(tenant, random))
          .append('"');
      if (random.nextInt(4) == 0) {
        body.append(",\"userId\":\"").append(random.nextBoolean() ? 'u' : 'v').append("1\"");
      }
      data(body, random);
      body.append('}');
    }
    return body.append(']').toString();
  }

  private static String customer(Tenant tenant, SplittableRandom random) {
    return switch (random.nextInt(20)) {
      case 0 -> "nobody " + random.nextInt(3);
      case 1 -> new Id(IdKind.CUSTOMER, new UUID(7, random.nextInt(5))).toString();
      default -> tenant.customers().get(random.nextInt(CUSTOMERS));
    };
  }

  /** Mostly in the open period; the first instants of periods more often than chance has it. */
  private static Instant time(SplittableRandom random) {
    YearMonth month =
        switch (random.nextInt(12)) {
          case 0 -> CLOSED.minusMonths(1 + random.nextInt(40));
          case 1, 2 -> CLOSED;
          case 3, 4 -> OPEN.plusMonths(1);
          default -> OPEN;
        };
    Instant start = month.atDay(1).atStartOfDay().toInstant(ZoneOffset.UTC);
    return switch (random.nextInt(50)) {
      case 0 -> start;
      case 1 -> start.minusMillis(1);
      default -> start.plusMillis(random.nextLong(TimeUnit.DAYS.toMillis(28)));
    };
  }

  /** A new one, or one that somebody else has used or is about to; not all are UUIDs. */
  private static String key(Tenant tenant, SplittableRandom random) {
    long known = tenant.keys().get();
    long number =
        known > 0 && random.nextInt(10) == 0
            ? random.nextLong(known)
            : tenant.keys().getAndIncrement();
    return number % 3 == 0 ? "key " + number : new UUID(number * 0x9e3779b97f4a7c15L, 1).toString();
  }

  private static void data(StringBuilder body, SplittableRandom random) {
    switch (random.nextInt(12)) {
      case 0 -> {} // none at all
      case 1 -> body.append(",\"data\":{\"v\":\"much\"}");
      case 2 ->
          body.append(",\"data\":{\"w\":1, \"who\" : \"p").append(random.nextInt(9)).append("\"}");
      case 3 -> body.append(",\"data\":{\"v\":\"-1.5\"}");
      default ->
          body.append(",\"data\":{\"v\":")
              .append(random.nextInt(100_000) - 1000)
              .append(".25,\"who\":\"p")
              .append(random.nextInt(500))
              .append("\"}");
    }
  }

  /** However long it takes, as long as it goes on. */
  private static void awaitFolded(TestApp app) {
    String waiting =
        """
        SELECT (SELECT coalesce(sum(events), 0) FROM event_batch)
             + (SELECT count(*) FROM subscription_period WHERE ready_until < period_end)
        """;
    String before = "";
    long since = System.nanoTime();
    for (String now = ""; !now.equals("0"); pause()) {
      now = Tables.query(app.database(), waiting).getFirst();
      if (!now.equals(before)) {
        before = now;
        since = System.nanoTime();
      } else if (System.nanoTime() - since > TimeUnit.SECONDS.toNanos(STANDSTILL_S)) {
        throw new AssertionError(now + " events and periods wait for ever, seed " + SEED);
      }
    }
  }

  private static void pause() {
    try {
      Thread.sleep(50);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
