package io.steelyard.usage;

import static io.steelyard.usage.UsageFixture.APRIL;
import static io.steelyard.usage.UsageFixture.MARCH;
import static io.steelyard.usage.UsageFixture.NOW;
import static io.steelyard.usage.UsageFixture.await;
import static io.steelyard.usage.UsageFixture.event;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.steelyard.support.CustomerLock;
import io.steelyard.support.Merchant;
import io.steelyard.support.Tables;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

class AggregationIT {
  private static final Instant FEBRUARY = Instant.parse("2026-02-01T00:00:00Z");
  private static UsageFixture usage;

  private final UUID customer = usage.customer(usage.merchant);
  private final UUID plan = usage.plan();

  @BeforeAll
  static void deploy() {
    usage = new UsageFixture();
    usage.ingestion(UsageFixture.INGEST);
    usage.aggregation(2); // always in competition: every test is also one of counting once
  }

  @AfterAll
  static void close() {
    usage.close();
  }

  @ParameterizedTest
  @CsvSource({
    "sum, 17.5",
    "count, 5",
    "max, 10",
    "min, 0.5",
    "average, 4.375",
    "uniqueCount, 4",
    "latest, 2",
  })
  void everyCalculationAddsUpWhateverTheOrder(String calculation, String quantity) {
    UUID billable = usage.billable(calculation, calculation);
    usage.price(plan, billable, null, null);
    UUID subscription = usage.subscribed(customer, plan);

    // the last by its own time comes second; one has nothing to count
    usage.count(event(customer, calculation, 5, "10"), event(customer, calculation, 9, "2"));
    usage.count(event(customer, calculation, 1, "\"0.5\""), event(customer, "other", 1, "99"));
    usage.count(event(customer, calculation, 2, "5.0"), event(customer, calculation, 3, "null"));

    assertThat(currentUsage(subscription, billable)).isEqualByComparingTo(quantity);
  }

  @Test
  void anEventWithNothingToCountIsNotedAndStopsNoOther() {
    UUID billable = usage.billable("sum", "sum");
    usage.price(plan, billable, null, null);
    UUID subscription = usage.subscribed(customer, plan);
    double missing = unratable("missing");
    double notNumeric = unratable("not_numeric");

    usage.count(
        event(customer, "sum", MARCH, null),
        event(customer, "sum", MARCH, "{\"v\":{}}"),
        event(customer, "sum", MARCH, "{\"v\":\"much\"}"),
        event(customer, "sum", 1, "3"));

    assertThat(currentUsage(subscription, billable)).isEqualByComparingTo("3");
    assertThat(unratable("missing") - missing).isEqualTo(1);
    assertThat(unratable("not_numeric") - notNumeric).isEqualTo(2);
  }

  @Test
  void aPeriodTakesEventsFromItsStartToBeforeItsEnd() {
    UUID billable = usage.billable("count", "count");
    usage.price(plan, billable, null, null);
    UUID subscription = usage.subscribed(customer, plan);
    usage.period(subscription, 1, APRIL, Instant.parse("2026-05-01T00:00:00Z"));

    usage.count(
        event(customer, "count", MARCH.minusMillis(1), null),
        event(customer, "count", MARCH, null),
        event(customer, "count", APRIL.minusMillis(1), null),
        event(customer, "count", APRIL, null));

    assertThat(events(subscription, 0)).isEqualTo(2);
    assertThat(events(subscription, 1)).isEqualTo(1);
  }

  @Test
  void aBillableWithTwoPricesCountsOnce() {
    UUID billable = usage.billable("sum", "sum");
    usage.price(plan, billable, null, null);
    usage.price(plan, billable, null, "100");
    UUID subscription = usage.subscribed(customer, plan);

    usage.count(event(customer, "sum", 1, "7"));

    assertThat(currentUsage(subscription, billable)).isEqualByComparingTo("7");
  }

  @Test
  void eventsOfACustomerWhoAppearsLaterCountOnce() {
    UUID billable = usage.billable("sum", "sum");
    usage.price(plan, billable, null, null);
    UUID later = UUID.randomUUID();
    usage.count(event(later, "sum", 1, "1"), event(later, "sum", 2, "2"));

    usage.customer(usage.merchant, later);
    UUID subscription = usage.subscribed(later, plan);
    usage.awaitFolded();
    usage.count(event(later, "sum", 3, "4"));

    assertThat(currentUsage(subscription, billable)).isEqualByComparingTo("7");
  }

  @Test
  void aBackDatedSubscriptionCountsWhatCameBeforeInEachOfItsPeriods() {
    UUID billable = usage.billable("uniqueCount", "uniqueCount");
    usage.price(plan, billable, null, null);
    usage.count(
        event(customer, "uniqueCount", FEBRUARY, "{\"v\":\"a\"}"),
        event(customer, "uniqueCount", 1, "\"a\""),
        event(customer, "uniqueCount", 2, "\"b\""));

    UUID subscription = usage.subscription(customer, plan);
    usage.period(subscription, 0, FEBRUARY, MARCH);
    usage.period(subscription, 1, MARCH, APRIL);
    // in the same moment, so that it meets the periods ready or not
    usage.count(event(customer, "uniqueCount", 3, "\"c\""), event(customer, "uniqueCount", 4, "1"));

    assertThat(quantity("uniques", subscription, 0)).isEqualByComparingTo("1");
    assertThat(quantity("uniques", subscription, 1)).isEqualByComparingTo("4");
    assertThat(currentUsage(subscription, billable)).isEqualByComparingTo("4");
  }

  @Test
  void twoSubscriptionsOfOneCustomerBothCountAnEvent() {
    UUID billable = usage.billable("sum", "sum");
    usage.price(plan, billable, null, null);
    usage.count(event(customer, "sum", 1, "3"));

    UUID first = usage.subscribed(customer, plan);
    UUID second = usage.subscribed(customer, plan);
    usage.count(event(customer, "sum", 2, "4"));

    assertThat(currentUsage(first, billable)).isEqualByComparingTo("7");
    assertThat(currentUsage(second, billable)).isEqualByComparingTo("7");
  }

  @Test
  void anotherMerchantsEventsForThisCustomerCountForNobody() {
    UUID billable = usage.billable("sum", "sum");
    usage.price(plan, billable, null, null);
    UUID stranger = UUID.randomUUID();
    usage.merchant(stranger);
    await(usage.ingest(stranger, List.of(event(customer, "sum", 1, "3"))));
    usage.awaitFolded();

    UUID subscription = usage.subscribed(customer, plan);
    await(usage.ingest(stranger, List.of(event(customer, "sum", 1, "3"))));
    usage.awaitFolded();

    assertThat(events(subscription, 0)).isZero();
    assertThat(currentUsage(subscription, billable)).isZero();
  }

  @Test
  void usageAboveALimitThatBlocksEndsAccess() {
    UUID billable = usage.billable("sum", "sum");
    usage.price(plan, billable, null, "10");
    UUID subscription = usage.subscribed(customer, plan);

    usage.count(event(customer, "sum", 1, "10"));
    assertThat(access(subscription)).isEqualTo("t");
    usage.count(event(customer, "sum", 2, "0.001"));
    assertThat(access(subscription)).isEqualTo("f");
  }

  @Test
  void accessComesBackWithWhatIsUsed() {
    UUID billable = usage.billable("latest", "latest");
    usage.price(plan, billable, null, "10");
    UUID subscription = usage.subscribed(customer, plan);

    usage.count(event(customer, "latest", 1, "11"));
    assertThat(access(subscription)).isEqualTo("f");
    usage.count(event(customer, "latest", 2, "10"));
    assertThat(access(subscription)).isEqualTo("t");
    usage.count(event(customer, "latest", 3, "12"), event(customer, "latest", 4, "9"));
    assertThat(access(subscription)).isEqualTo("t");
  }

  private double failed() {
    return usage.metrics.get("steelyard.aggregation.failed").counter().count();
  }

  /** The events are kept beside the counting: what fails there must undo both. */
  @Test
  void eventsThatCannotBeKeptAreNotCountedAndWait() throws Exception {
    UUID billable = usage.billable("sum", "sum");
    usage.price(plan, billable, null, null);
    UUID subscription = usage.subscribed(customer, plan);
    usage.awaitFolded();
    double failed = failed();
    usage.execute(
        // Citus refuses a trigger there
        "ALTER TABLE event_chunk ADD CONSTRAINT nothing_kept CHECK (events < 0) NOT VALID");

    await(usage.ingest(usage.merchant, List.of(event(customer, "sum", 1, "3"))));
    assertThat(Merchant.eventually(this::failed, count -> count > failed)).isGreaterThan(failed);
    assertThat(usage.number("SELECT count(*) FROM event_batch")).isEqualByComparingTo("1");
    assertThat(events(subscription, 0)).isZero();

    usage.execute("ALTER TABLE event_chunk DROP CONSTRAINT nothing_kept");
    usage.awaitFolded();
    assertThat(currentUsage(subscription, billable)).isEqualByComparingTo("3");
    assertThat(events(subscription, 0)).isOne();
  }

  @Test
  void accessShowsOnlyThePeriodOfNow() {
    UUID billable = usage.billable("sum", "sum");
    usage.price(plan, billable, null, "10");
    UUID subscription = usage.subscription(customer, plan);
    usage.period(subscription, 0, FEBRUARY, MARCH);
    usage.period(subscription, 1, MARCH, APRIL);

    usage.count(event(customer, "sum", FEBRUARY, "{\"v\":99}"));

    assertThat(quantity("sum", subscription, 0)).isEqualByComparingTo("99");
    assertThat(access(subscription)).isEqualTo("t");
  }

  @Test
  void drawsFromTheBlocksInTheirOrderAndLeavesTheRestUncovered() {
    UUID unit = usage.unit();
    UUID price = usage.price(plan, usage.billable("sum", "sum"), unit, null);
    UUID late = usage.block(customer, unit, "5", MARCH, APRIL.plusSeconds(1));
    UUID soon = usage.block(customer, unit, "10", MARCH, APRIL);
    UUID subscription = usage.subscribed(customer, plan);

    usage.count(event(customer, "sum", 1, "8"));
    assertThat(remaining(soon)).isEqualByComparingTo("2");
    usage.count(event(customer, "sum", 2, "4"), event(customer, "sum", 3, "6.5"));

    assertThat(remaining(soon)).isZero();
    assertThat(remaining(late)).isZero();
    assertThat(required(subscription, price)).isEqualByComparingTo("18.5");
    assertThat(drawn(subscription, price)).isEqualByComparingTo("15");
    assertThat(
            usage.number(
                "SELECT count(*) FROM credit_transaction WHERE type = 'usage' AND"
                    + " customer_id = '%s'",
                customer))
        .isEqualByComparingTo("4");
    assertLedgerAddsUp();
  }

  @Test
  void aLateEventDrawsFromABlockOfItsTimeThenFromOneOfNow() {
    UUID unit = usage.unit();
    usage.price(plan, usage.billable("sum", "sum"), unit, null);
    UUID then = usage.block(customer, unit, "3", FEBRUARY, MARCH);
    UUID now = usage.block(customer, unit, "10", MARCH, APRIL);
    UUID subscription = usage.subscription(customer, plan);
    usage.period(subscription, 0, FEBRUARY, MARCH);

    usage.count(event(customer, "sum", FEBRUARY, "{\"v\":5}"));

    assertThat(remaining(then)).isZero();
    assertThat(remaining(now)).isEqualByComparingTo("8");
    assertLedgerAddsUp();
  }

  @Test
  void unitsComeBackWhenTheQuantityFalls() {
    UUID unit = usage.unit();
    UUID price = usage.price(plan, usage.billable("latest", "latest"), unit, null);
    UUID soon = usage.block(customer, unit, "6", MARCH, APRIL);
    UUID late = usage.block(customer, unit, "6", MARCH, APRIL.plusSeconds(1));
    UUID subscription = usage.subscribed(customer, plan);

    usage.count(event(customer, "latest", 1, "4"));
    usage.count(event(customer, "latest", 2, "14"));
    assertThat(drawn(subscription, price)).isEqualByComparingTo("12");
    // two were never covered, the next come from what was drawn last
    usage.count(event(customer, "latest", 3, "5"));

    assertThat(remaining(soon).add(remaining(late))).isEqualByComparingTo("7");
    assertThat(required(subscription, price)).isEqualByComparingTo("5");
    assertThat(drawn(subscription, price)).isEqualByComparingTo("5");
    assertThat(remaining(late)).isEqualByComparingTo("6");
    assertThat(
            usage.number(
                "SELECT sum(amount) FROM credit_transaction WHERE type = 'reversal' AND"
                    + " customer_id = '%s'",
                customer))
        .isEqualByComparingTo("7");
    usage.count(event(customer, "latest", 2, "999"));
    assertThat(required(subscription, price)).as("older than the latest").isEqualByComparingTo("5");
    assertLedgerAddsUp();
  }

  /** Until it is written off, late usage of its time may draw from it again. */
  @Test
  void whatCameFromABlockThatHasExpiredGoesBackToIt() {
    UUID unit = usage.unit();
    UUID price = usage.price(plan, usage.billable("latest", "latest"), unit, null);
    UUID expired = usage.block(customer, unit, "6", MARCH, NOW);
    UUID subscription = usage.subscribed(customer, plan);

    usage.count(event(customer, "latest", 1, "4"));
    usage.count(event(customer, "latest", 2, "1"));

    assertThat(remaining(expired)).isEqualByComparingTo("5");
    assertThat(drawn(subscription, price)).isEqualByComparingTo("1");
    usage.count(event(customer, "latest", 3, "6"));
    assertThat(remaining(expired)).isZero();
    assertThat(drawn(subscription, price)).isEqualByComparingTo("6");
    assertLedgerAddsUp();
  }

  @Test
  void aBatchThatCannotBeFoldedIsPassedByAndCountedOnceMended() throws Exception {
    UUID billable = usage.billable("sum", "sum");
    usage.price(plan, billable, null, null);
    UUID subscription = usage.subscribed(customer, plan);
    usage.awaitFolded();
    usage.execute(
        """
        INSERT INTO event_batch
        SELECT nextval('event_batch_seq'), '%s', 1, 200, now(), '[{"c":"%s","k":"%2$s",\
        "t":1772409600000,"n":"sum","d":{"v":'
        """
            .formatted(usage.merchant, customer));

    for (int i = 0; i < 20; i++) {
      await(usage.ingest(usage.merchant, List.of(event(customer, "sum", 1, "1"))));
    }
    usage.awaitTrue(
        "SELECT sum(sum) = 20 FROM usage_counter WHERE subscription_id = '%s'"
            .formatted(subscription));
    assertThat(usage.number("SELECT count(*) FROM event_batch")).isEqualByComparingTo("1");
    assertThat(Merchant.eventually(this::failed, count -> count > 0)).isPositive();

    usage.execute("UPDATE event_batch SET content = content || '5}}]'");
    usage.awaitFolded();
    assertThat(currentUsage(subscription, billable)).isEqualByComparingTo("25");
  }

  @Test
  void manyEventsInAnyOrderOverManyPeriodsCountExactlyOnce() {
    UUID unit = usage.unit();
    usage.price(plan, usage.billable("sum", "load"), unit, null);
    usage.price(plan, usage.billable("uniqueCount", "load"), null, null);
    List<UUID> customers = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      UUID id = usage.customer(usage.merchant);
      customers.add(id);
      usage.block(id, unit, "300", FEBRUARY, APRIL);
    }
    Random random = new Random(7);
    List<io.vertx.core.Future<?>> answers = new ArrayList<>();
    for (int request = 0; request < 300; request++) {
      answers.add(usage.ingest(usage.merchant, randomEvents(customers, random)));
      if (request % 15 == 0) {
        // opened in the middle of it all, for some events too late and for others too early
        UUID subscription = usage.subscription(customers.get(request / 15), plan);
        usage.period(subscription, 0, FEBRUARY, MARCH);
        usage.period(subscription, 1, MARCH, APRIL);
      }
    }
    answers.forEach(UsageFixture::await);
    usage.awaitFolded();

    assertRightCounters("80");
    assertLedgerAddsUp();
  }

  /** As the clockwork does, in the customer's lock, in the middle of it all. */
  private static void allocatedUpTo(UUID customer, UUID subscription, Instant due) {
    usage.execute(
        """
        BEGIN;
        %s;
        UPDATE subscription SET due_at = '%s' WHERE id = '%s';
        COMMIT
        """
            .formatted(CustomerLock.taking(customer), due, subscription));
  }

  @Test
  void whatIsAheadOfUnitsThatComeMeanwhileCountsExactlyOnce() {
    usage.price(plan, usage.billable("sum", "load"), null, null);
    usage.price(plan, usage.billable("uniqueCount", "load"), null, null);
    List<UUID> customers = Stream.generate(() -> usage.customer(usage.merchant)).limit(20).toList();
    Map<UUID, UUID> subscriptions = new HashMap<>();
    for (UUID each : customers) {
      UUID id = usage.subscription(each, plan);
      usage.period(id, 0, FEBRUARY, APRIL);
      usage.execute("UPDATE subscription SET period_index = 0 WHERE id = '" + id + "'");
      allocatedUpTo(each, id, FEBRUARY.plusSeconds(86_400));
      subscriptions.put(each, id);
    }
    Random random = new Random(11);
    List<io.vertx.core.Future<?>> answers = new ArrayList<>();
    for (int request = 0; request < 300; request++) {
      answers.add(usage.ingest(usage.merchant, randomEvents(customers, random)));
      UUID one = customers.get(random.nextInt(customers.size()));
      int day = request * 59 / 300 + 1;
      allocatedUpTo(one, subscriptions.get(one), FEBRUARY.plusSeconds(day * 86_400L));
    }
    answers.forEach(UsageFixture::await);
    usage.awaitTrue("SELECT NOT EXISTS (SELECT FROM event_batch)");
    subscriptions.forEach((each, id) -> allocatedUpTo(each, id, APRIL));
    usage.awaitFolded();

    assertRightCounters("40");
  }

  /** So many of the plan's, and each as a plain count over the events has it. */
  private void assertRightCounters(String number) {
    assertThat(usage.text(WRONG_COUNTERS)).isNull();
    assertThat(
            usage.number(
                "SELECT count(*) FROM usage_counter c JOIN subscription s"
                    + " ON s.id = c.subscription_id WHERE s.plan_id = '%s'",
                plan))
        .isEqualByComparingTo(number);
  }

  @Test
  void whatIsAheadOfTheNextUnitsWaitsAndStopsNothingElse() {
    UUID billable = usage.billable("sum", "sum");
    usage.price(plan, billable, null, null);
    UUID subscription = usage.subscribed(customer, plan);
    usage.awaitFolded();
    usage.execute(
        "UPDATE subscription SET period_index = 0, due_at = '%s' WHERE id = '%s'"
            .formatted(MARCH.plusSeconds(10 * 86_400), subscription));

    usage.count(event(customer, "sum", 1, "1"), event(customer, "sum", 9, "2"));
    await(
        usage.ingest(
            usage.merchant,
            List.of(event(customer, "sum", 3, "4"), event(customer, "sum", 10, "8"))));
    await(usage.ingest(usage.merchant, List.of(event(customer, "sum", 5, "16"))));
    usage.awaitTrue("SELECT NOT EXISTS (SELECT FROM event_batch)");

    assertThat(currentUsage(subscription, billable)).isEqualByComparingTo("23");
    assertThat(
            usage.text(
                "SELECT ready_until = '%s' FROM subscription_period WHERE subscription_id = '%s'"
                    .formatted(MARCH.plusSeconds(10 * 86_400), subscription)))
        .isEqualTo("t");
    allocatedUpTo(customer, subscription, MARCH.plusSeconds(20 * 86_400));
    usage.awaitFolded();
    assertThat(currentUsage(subscription, billable)).isEqualByComparingTo("31");
    allocatedUpTo(customer, subscription, APRIL);
  }

  private static Logger logger() {
    return (Logger) LoggerFactory.getLogger(AggregationVerticle.class);
  }

  /** As a cancel does, which locks the period before the customer. */
  @Test
  void whoHoldsAPeriodBackDoesNotWaitForItWithTheCustomersLock() throws Exception {
    UUID billable = usage.billable("sum", "sum");
    usage.price(plan, billable, null, null);
    UUID subscription = usage.subscribed(customer, plan);
    usage.awaitFolded();
    usage.execute(
        "UPDATE subscription SET period_index = 0, due_at = '%s' WHERE id = '%s'"
            .formatted(MARCH.plusSeconds(10 * 86_400), subscription));
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    logger().addAppender(log);
    try (Connection other = Tables.connect(usage.endpoint);
        Statement statement = other.createStatement()) {
      other.setAutoCommit(false);
      // shorter than it would take the server to end a deadlock
      statement.execute("SET LOCAL lock_timeout = '500ms'");
      statement.execute(
          "SELECT FROM subscription_period WHERE subscription_id = '%s' FOR NO KEY UPDATE"
              .formatted(subscription));
      await(usage.ingest(usage.merchant, List.of(event(customer, "sum", 12, "8"))));
      usage.awaitTrue(
          "SELECT count(*) = 1 FROM event_batch WHERE merchant_id = '" + usage.merchant + "'");
      for (int attempt = 0; attempt < 20; attempt++) {
        statement.execute("SAVEPOINT before_the_customer");
        statement.execute(CustomerLock.taking(customer));
        statement.execute("ROLLBACK TO before_the_customer");
        Thread.sleep(50); // in which the fold tries
      }
      other.commit();
    } finally {
      logger().detachAppender(log);
    }
    usage.awaitTrue("SELECT NOT EXISTS (SELECT FROM event_batch)");
    assertThat(currentUsage(subscription, billable)).isZero();
    assertThat(List.copyOf(log.list)).as("nothing is wrong with the database").isEmpty();

    allocatedUpTo(customer, subscription, APRIL);
    usage.awaitFolded();
    assertThat(currentUsage(subscription, billable)).isEqualByComparingTo("8");
  }

  /** Nodes of the version before count it at once; whoever comes then must not count it again. */
  @Test
  void whatAnEarlierVersionHasCountedAheadOfItsUnitsStaysCounted() {
    UUID billable = usage.billable("sum", "sum");
    usage.price(plan, billable, null, null);
    UUID subscription = usage.subscribed(customer, plan);
    usage.count(event(customer, "sum", 12, "8"));
    usage.execute(
        "UPDATE subscription SET period_index = 0, due_at = '%s' WHERE id = '%s'"
            .formatted(MARCH.plusSeconds(10 * 86_400), subscription));

    usage.count(event(customer, "sum", 11, "1"), event(customer, "sum", 13, "2"));

    assertThat(currentUsage(subscription, billable)).isEqualByComparingTo("11");
    allocatedUpTo(customer, subscription, APRIL);
    usage.count(event(customer, "sum", 14, "4"));
    assertThat(currentUsage(subscription, billable)).isEqualByComparingTo("15");
  }

  private static List<UsageEvent> randomEvents(List<UUID> customers, Random random) {
    List<UsageEvent> events = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      // one key in four comes again, with the same payload
      int seed = random.nextInt(2000);
      Random own = new Random(seed);
      events.add(
          event(
              new UUID(customers.getFirst().getMostSignificantBits(), seed),
              customers.get(own.nextInt(customers.size())),
              "load",
              FEBRUARY.plusSeconds(own.nextInt(59 * 86_400)),
              "{\"v\":" + own.nextInt(40) + "." + own.nextInt(10) + "}"));
    }
    return events;
  }

  private static final String WRONG_COUNTERS =
      """
      SELECT p.subscription_id
      FROM subscription_period p
      JOIN counted_event e ON e.customer_id = p.customer_id AND e.merchant_id = p.merchant_id
       AND e.generated_at >= p.period_start AND e.generated_at < p.period_end
      JOIN usage_counter c USING (subscription_id, period_index)
      WHERE e.name = 'load'
      GROUP BY p.subscription_id, p.period_index, c.billable_id, c.events, c.sum, c.uniques
      HAVING count(*) <> c.events
          OR NOT (sum((e.data::json ->> 'v')::numeric) = c.sum
                  OR c.sum = 0 AND count(DISTINCT (e.data::json ->> 'v')::numeric) = c.uniques)
      """;

  private static void assertLedgerAddsUp() {
    assertThat(
            usage.text(
                """
                SELECT b.id FROM allocation_block b
                JOIN credit_transaction t ON t.allocation_block_id = b.id
                GROUP BY b.id HAVING sum(t.amount) <> b.remaining
                """))
        .isNull();
    assertThat(
            usage.text(
                """
                SELECT u.price_id FROM credit_usage u
                LEFT JOIN credit_draw d USING (subscription_id, period_index, price_id)
                GROUP BY u.subscription_id, u.period_index, u.price_id
                HAVING coalesce(sum(d.drawn), 0) <> u.drawn
                """))
        .isNull();
    assertThat(
            usage.text(
                """
                SELECT c.subscription_id FROM credit_usage u
                JOIN price p ON p.id = u.price_id
                JOIN usage_counter c USING (subscription_id, period_index, billable_id)
                WHERE u.required NOT IN (c.sum, c.latest)
                """))
        .isNull();
  }

  /** In the last of its periods. */
  private static BigDecimal currentUsage(UUID subscription, UUID billable) {
    return usage.number(
        "SELECT coalesce(sum("
            + Tables.QUANTITY
            + """
              ), 0)
              FROM usage_counter c JOIN billable_rules r USING (billable_id)
              WHERE c.subscription_id = '%1$s' AND c.billable_id = '%2$s'
                AND c.period_index =
                    (SELECT max(period_index) FROM subscription_period
                      WHERE subscription_id = '%1$s')
              """,
        subscription,
        billable);
  }

  private static String access(UUID subscription) {
    return usage.text(
        "SELECT access FROM billable_access WHERE subscription_id = '%s'".formatted(subscription));
  }

  private static int events(UUID subscription, int period) {
    return quantity("events", subscription, period).intValue();
  }

  private static BigDecimal quantity(String column, UUID subscription, int period) {
    return usage.number(
        "SELECT coalesce(sum(%s), 0) FROM usage_counter"
            + " WHERE subscription_id = '%s' AND period_index = %d",
        column, subscription, period);
  }

  private static BigDecimal remaining(UUID block) {
    return usage.number("SELECT remaining FROM allocation_block WHERE id = '%s'", block);
  }

  private static BigDecimal required(UUID subscription, UUID price) {
    return usage.number(
        "SELECT required FROM credit_usage WHERE subscription_id = '%s' AND price_id = '%s'",
        subscription, price);
  }

  private static BigDecimal drawn(UUID subscription, UUID price) {
    return usage.number(
        "SELECT drawn FROM credit_usage WHERE subscription_id = '%s' AND price_id = '%s'",
        subscription, price);
  }

  private static double unratable(String reason) {
    io.micrometer.core.instrument.Counter counter =
        usage.metrics.find("steelyard.usage.unratable").tag("reason", reason).counter();
    return counter == null ? 0 : counter.count();
  }
}
