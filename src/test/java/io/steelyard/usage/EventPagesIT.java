package io.steelyard.usage;

import static io.steelyard.usage.UsageFixture.APRIL;
import static io.steelyard.usage.UsageFixture.MARCH;
import static io.steelyard.usage.UsageFixture.await;
import static io.steelyard.usage.UsageFixture.event;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.LineKind;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.support.CitusSupport;
import io.steelyard.usage.EventPage.Place;
import io.steelyard.usage.ExplainStore.Line;
import io.steelyard.usage.ExplainStore.Scan;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Counted events, read page by page: each once and in order, at a cost that grows with them. */
class EventPagesIT {
  private static final UUID LOWEST = new UUID(0, 0);
  private static final UUID HIGHEST = new UUID(-1, -1);
  private static final String LARGE = "{\"v\":\"" + "x".repeat(600) + "\"}";

  private static ChunkFixture chunks;
  private static final UsageStore STORE =
      new UsageStore(new MerchantClock(Clock.systemUTC()), CitusSupport.isWanted());
  private static final ExplainStore EXPLAIN = new ExplainStore();

  private static UUID plan;
  private static UUID customer;
  private static UUID neighbour;
  private static UsagePeriod period;
  private static UsagePeriod halfMonth;
  private static UsagePeriod neighbours;
  private static final List<UsageEvent> EVENTS = new ArrayList<>();

  @BeforeAll
  static void fold() {
    chunks = new ChunkFixture();
    plan = chunks.usage.plan();
    customer = chunks.usage.customer(chunks.usage.merchant);
    neighbour = chunks.usage.customer(chunks.usage.merchant);
    period = period(customer, MARCH, APRIL);
    halfMonth = period(customer, MARCH.plusSeconds(7 * 86_400 + 1), APRIL);
    neighbours = period(neighbour, MARCH, APRIL);
    // Three folds whose rows reach over one another, with events outside of the period.
    Random random = new Random(5);
    for (int fold = 0; fold < 3; fold++) {
      List<UsageEvent> events = new ArrayList<>();
      for (int day = -1; day <= 31; day += 2) {
        Instant midnight = MARCH.plusSeconds(day * 86_400L);
        events.addAll(crowd(fold, midnight.minusMillis(1)));
        events.addAll(crowd(fold, midnight));
        events.addAll(crowd(fold, midnight.plusMillis(1)));
        events.addAll(crowd(fold, midnight.plusSeconds(3600 + random.nextInt(80_000))));
      }
      Collections.shuffle(events, random);
      chunks.save(events);
      EVENTS.addAll(events);
    }
  }

  @AfterAll
  static void close() {
    chunks.close();
  }

  /** Some events of one instant, with the first and the last key that can be. */
  private static List<UsageEvent> crowd(int fold, Instant at) {
    UUID edge = fold == 0 ? LOWEST : fold == 1 ? HIGHEST : UUID.randomUUID();
    return List.of(
        event(edge, customer, "a", at, "{\"v\":1}"),
        event(UUID.randomUUID(), customer, "b", at, fold == 1 ? LARGE : null),
        event(UUID.randomUUID(), customer, "a", at, LARGE),
        event(UUID.randomUUID(), neighbour, "a", at, LARGE));
  }

  private static UsagePeriod period(UUID of, Instant start, Instant end) {
    UUID subscription = chunks.usage.subscription(of, plan);
    chunks.usage.period(subscription, 0, start, end);
    UsagePeriod.Ref ref = new UsagePeriod.Ref(chunks.usage.merchant, subscription, 0);
    return await(STORE.period(chunks.pool, ref));
  }

  private static List<SeenEvent> expected(Set<UUID> customers, Instant from, Instant until) {
    return EVENTS.stream()
        .map(event -> SeenEvent.of(chunks.usage.merchant, event))
        .sorted(SeenEvent.IN_ORDER)
        .filter(event -> customers.contains(event.customerId()))
        .filter(event -> !event.generatedAt().isBefore(from) && event.generatedAt().isBefore(until))
        .toList();
  }

  /** From page to page to the end. */
  private static Future<List<SeenEvent>> read(
      Function<Place, Future<EventPage>> pages, Place from, int eventsMax) {
    return pages
        .apply(from)
        .compose(
            page -> {
              assertThat(page.events().size()).isLessThanOrEqualTo(eventsMax);
              return page.next() == null
                  ? Future.succeededFuture(SeenEvent.all(page.events()))
                  : read(pages, page.next(), eventsMax)
                      .map(
                          rest ->
                              Stream.concat(SeenEvent.all(page.events()).stream(), rest.stream())
                                  .toList());
            });
  }

  private static List<SeenEvent> backfilled(List<UsagePeriod> periods, int eventsMax) {
    return chunks.inTransaction(
        transaction ->
            read(
                after -> STORE.events(transaction, periods, after, eventsMax),
                Place.START,
                eventsMax));
  }

  private static Scan scan(Set<String> names, boolean ascending, int eventsMax) {
    return new Scan(
        new Line(LineKind.ARREARS, UUID.randomUUID(), period.ref(), 1),
        period,
        Optional.ofNullable(names),
        ascending,
        eventsMax);
  }

  private static List<SeenEvent> explained(SqlConnection transaction, Scan scan) {
    return await(
        read(
            after -> EXPLAIN.events(transaction, scan, after),
            ExplainStore.start(scan),
            scan.pageMax()));
  }

  private static List<SeenEvent> explained(Scan scan) {
    SqlConnection connection = await(chunks.pool.getConnection());
    List<SeenEvent> events = explained(connection, scan);
    await(connection.close());
    return events;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5, 8, 17, 100, 10_000})
  void aPeriodsEventsComeOnceAndInOrder(int eventsMax) {
    List<SeenEvent> expected = expected(Set.of(customer), MARCH, APRIL);
    assertThat(expected).hasSizeGreaterThan(500);

    assertThat(backfilled(List.of(period), eventsMax)).isEqualTo(expected);
    assertThat(explained(scan(null, true, eventsMax))).isEqualTo(expected);
    assertThat(explained(scan(null, false, eventsMax))).isEqualTo(expected.reversed());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4, 50})
  void pagesOfOneNameOnlyLeaveNoneOfItOut(int eventsMax) {
    List<SeenEvent> expected =
        expected(Set.of(customer), MARCH, APRIL).stream()
            .filter(event -> event.name().equals("b"))
            .toList();

    assertThat(explained(scan(Set.of("b"), true, eventsMax))).isEqualTo(expected);
    assertThat(explained(scan(Set.of("b"), false, eventsMax))).isEqualTo(expected.reversed());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 40, 1000})
  void severalPeriodsComeInOneOrder(int eventsMax) {
    List<SeenEvent> expected = expected(Set.of(customer, neighbour), MARCH, APRIL);

    List<SeenEvent> read = backfilled(List.of(period, neighbours), eventsMax);

    assertThat(read).containsExactlyInAnyOrderElementsOf(expected);
    assertThat(read).isSortedAccordingTo(SeenEvent.IN_ORDER);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 40, 1000})
  void anEventOfTwoPeriodsComesSideBySide(int eventsMax) {
    List<SeenEvent> read = backfilled(List.of(period, halfMonth), eventsMax);

    List<SeenEvent> once = new ArrayList<>();
    read.forEach(
        event -> {
          if (once.isEmpty() || !once.getLast().equals(event)) {
            once.add(event);
          }
        });
    assertThat(once).isEqualTo(expected(Set.of(customer), MARCH, APRIL));
  }

  @Test
  void aLongDayCostsWhatItHoldsNotItsSquare() {
    UUID busy = chunks.usage.customer(chunks.usage.merchant);
    UsagePeriod all = period(busy, MARCH, APRIL);
    List<UsageEvent> events = new ArrayList<>();
    for (int i = 0; i < 6000; i++) {
      events.add(event(busy, "a", MARCH.plusSeconds(10L * i), LARGE));
    }
    chunks.save(events);
    long rows =
        chunks
            .usage
            .number("SELECT count(*) FROM event_chunk WHERE customer_id = '%s'", busy)
            .longValue();
    assertThat(rows).isGreaterThan(1000);
    int eventsMax = 64;
    Scan scan = scan(null, false, eventsMax);

    for (boolean ascending : List.of(true, false)) {
      Scan ordered = new Scan(scan.line(), all, Optional.empty(), ascending, eventsMax);
      assertThat(
              rowsRead(
                  transaction ->
                      read(
                          after -> EXPLAIN.events(transaction, ordered, after),
                          ExplainStore.start(ordered),
                          eventsMax)))
          .isBetween(rows, 24 * rows);
    }
    assertThat(
            rowsRead(
                transaction ->
                    read(
                        after -> STORE.events(transaction, List.of(all), after, eventsMax),
                        Place.START,
                        eventsMax)))
        .isBetween(rows, 24 * rows);
  }

  /** Of chunks, by whatever plan. */
  private static long rowsRead(Function<SqlConnection, Future<List<SeenEvent>>> work) {
    return chunks.inTransaction(
        transaction ->
            work.apply(transaction)
                .compose(
                    events -> {
                      assertThat(events).hasSize(6000);
                      return transaction
                          .query(
                              """
                              SELECT sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::bigint AS rows
                                FROM pg_stat_xact_user_tables WHERE relname LIKE 'event_chunk%'
                              """)
                          .execute();
                    })
                .map(rows -> rows.iterator().next().getLong("rows")));
  }
}
