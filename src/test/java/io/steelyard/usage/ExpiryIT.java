package io.steelyard.usage;

import static io.steelyard.usage.UnitsFixture.FEBRUARY;
import static io.steelyard.usage.UnitsFixture.JANUARY;
import static io.steelyard.usage.UsageFixture.APRIL;
import static io.steelyard.usage.UsageFixture.MARCH;
import static io.steelyard.usage.UsageFixture.NOW;
import static io.steelyard.usage.UsageFixture.await;
import static io.steelyard.usage.UsageFixture.event;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.credit.ExpiryStore;
import io.steelyard.support.Merchant;
import io.vertx.sqlclient.Pool;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What becomes of units whose time is over, also while late events still come. */
class ExpiryIT {
  private static final String LATE = "{\"v\":1}";
  private static UsageFixture usage;
  private static Pool pool;

  private final ExpiryStore expiries = new ExpiryStore();
  private UnitsFixture units;
  private UUID subscription;

  @BeforeAll
  static void deploy() {
    usage = new UsageFixture();
    usage.ingestion(UsageFixture.INGEST);
    usage.aggregation(2);
    pool = usage.pools.api(usage.vertx);
  }

  @AfterAll
  static void close() {
    usage.close();
  }

  @BeforeEach
  void subscribed() {
    usage.execute("TRUNCATE credit_draw, credit_usage, credit_transaction, allocation_block");
    units = new UnitsFixture(usage, pool);
    subscription = usage.subscription(units.customer, units.plan);
  }

  private int expire(Instant expiredBy, int max) {
    return units.inTransaction(tx -> expiries.expire(tx, usage.merchant, expiredBy, NOW, max));
  }

  private static boolean isAnyLeft(Instant expiredBy) {
    return usage
            .number(
                "SELECT count(*) FROM allocation_block WHERE remaining > 0 AND expires_at <= '%s'",
                expiredBy)
            .signum()
        > 0;
  }

  @Test
  void blocksThatEndedAreWrittenOffTheFirstToEndFirst() {
    UUID first = usage.block(units.customer, units.unit, "3", JANUARY, FEBRUARY);
    UUID second = usage.block(units.customer, units.unit, "5.25", JANUARY, MARCH);
    UUID later = usage.block(units.customer, units.unit, "7", JANUARY, APRIL);

    assertThat(expire(MARCH, 1)).isEqualTo(1);
    assertThat(units.remaining(first)).isZero();
    assertThat(expire(MARCH.minusMillis(1), 100)).isZero();
    assertThat(expire(MARCH, 100)).isEqualTo(1);

    assertThat(units.remaining(second)).isZero();
    assertThat(units.ledger(second, "expiration")).isEqualTo("-5.25");
    assertThat(units.remaining(later)).isEqualByComparingTo("7");
    assertThat(expire(MARCH, 100)).isZero();
    units.assertBooksBalance();
  }

  @Test
  void expiringAgainChangesNothing() {
    usage.block(units.customer, units.unit, "3", JANUARY, FEBRUARY);
    expire(NOW, 100);
    List<String> before = units.state();

    assertThat(expire(NOW, 100)).isZero();

    assertThat(units.state()).isEqualTo(before);
  }

  @Test
  void anotherMerchantsBlocksAreLeftAlone() {
    UsageFixture other = usage.neighbour();
    UUID theirs = other.block(other.customer(other.merchant), other.unit(), "3", JANUARY, FEBRUARY);

    assertThat(expire(NOW, 100)).isZero();

    assertThat(units.remaining(theirs)).isEqualByComparingTo("3");
    assertThat(
            units.<Integer>inTransaction(tx -> expiries.expire(tx, other.merchant, NOW, NOW, 100)))
        .isEqualTo(1);
  }

  /** Else a run that catches up would write off what the next boundary is to roll over. */
  @Test
  void aBlockWaitsForTheSubscriptionsOfItsCustomerThatAreBehind() {
    UUID block = usage.block(units.customer, units.unit, "3", JANUARY, FEBRUARY);
    due(FEBRUARY, null);
    assertThat(expire(NOW, 100)).isZero();

    due(FEBRUARY.plusMillis(1), null);
    assertThat(expire(NOW, 100)).isEqualTo(1);
    assertThat(units.remaining(block)).isZero();

    UUID ofParked = usage.block(units.customer, units.unit, "3", JANUARY, FEBRUARY);
    due(FEBRUARY, NOW);
    assertThat(expire(NOW, 100)).as("not for a parked one").isEqualTo(1);
    assertThat(units.remaining(ofParked)).isZero();
  }

  private void due(Instant at, Instant parkedAt) {
    usage.execute(
        "UPDATE subscription SET due_at = '%s', parked_at = %s WHERE id = '%s'"
            .formatted(at, parkedAt == null ? "NULL" : "'" + parkedAt + "'", subscription));
  }

  @Test
  void aLateEventDrawsFromABlockThatEndedUntilItIsWrittenOff() {
    usage.price(units.plan, usage.billable("sum", "late"), units.unit, null);
    UUID ended = usage.block(units.customer, units.unit, "3", FEBRUARY, MARCH);
    UUID current = usage.block(units.customer, units.unit, "10", MARCH, APRIL);
    usage.period(subscription, 0, FEBRUARY, MARCH);

    usage.count(event(units.customer, "late", FEBRUARY, LATE));
    assertThat(units.remaining(ended)).isEqualByComparingTo("2");
    expire(MARCH, 100);
    usage.count(event(units.customer, "late", FEBRUARY, LATE));

    assertThat(units.remaining(ended)).isZero();
    assertThat(units.ledger(ended, "usage")).isEqualTo("-1");
    assertThat(units.ledger(ended, "expiration")).isEqualTo("-2");
    assertThat(units.ledger(current, "usage")).isEqualTo("-1");
    units.assertBooksBalance();
  }

  @Test
  void whatCameFromABlockThatWasWrittenOffDoesNotRevive() {
    UUID price = usage.price(units.plan, usage.billable("latest", "level"), units.unit, null);
    UUID ended = usage.block(units.customer, units.unit, "6", FEBRUARY, MARCH);
    UUID drained = usage.block(units.customer, units.unit, "2", FEBRUARY, MARCH.minusSeconds(1));
    usage.period(subscription, 0, FEBRUARY, MARCH);
    usage.count(event(units.customer, "level", FEBRUARY, "{\"v\":6}"));
    assertThat(expire(MARCH, 100)).isEqualTo(1);

    usage.count(event(units.customer, "level", FEBRUARY.plusSeconds(1), "{\"v\":1}"));

    assertThat(units.use(subscription, 0, price)).startsWith("1 1 ");
    assertThat(units.remaining(ended)).isZero();
    assertThat(units.ledger(ended, "reversal")).isEmpty();
    // of this one nothing was left that could have been written off
    assertThat(units.remaining(drained)).isEqualByComparingTo("1");
    assertThat(expire(MARCH, 100)).isEqualTo(1);
    assertThat(units.ledger(drained, "expiration")).isEqualTo("-1");
    units.assertBooksBalance();
  }

  /**
   * No clock of ours does this; it must not stop the expiry of everything else if one ever does.
   */
  @Test
  void unitsGivenBackToAnExpiredBlockAreWrittenOffBesideTheOthers() {
    UUID revived = usage.block(units.customer, units.unit, "5", JANUARY, FEBRUARY);
    expire(NOW, 100);
    for (String back : List.of("2", "1")) {
      UUID fresh = usage.block(units.customer, units.unit, "4", JANUARY, FEBRUARY);
      usage.execute(
          """
          UPDATE allocation_block SET remaining = %s WHERE id = '%s';
          INSERT INTO credit_transaction (id, merchant_id, customer_id, allocation_block_id, type,
            amount, operation_id, created_at)
          SELECT gen_random_uuid(), merchant_id, customer_id, id, 'reversal', %1$s,
                 gen_random_uuid(), now()
            FROM allocation_block WHERE id = '%2$s'
          """
              .formatted(back, revived));

      assertThat(expire(NOW, 100)).isEqualTo(2);
      assertThat(units.remaining(fresh)).isZero();
      assertThat(units.remaining(revived)).isZero();
    }

    assertThat(
            usage.number(
                "SELECT sum(amount) FROM credit_transaction WHERE type = 'expiration'"
                    + " AND allocation_block_id = '%s'",
                revived))
        .isEqualByComparingTo("-8");
    units.assertBooksBalance();
  }

  @Test
  void expiryAndTheFoldOfLateEventsNeverTakeTheSameUnitTwice() {
    usage.price(units.plan, usage.billable("sum", "race"), units.unit, null);
    List<UUID> customers = Stream.generate(() -> usage.customer(usage.merchant)).limit(40).toList();
    for (UUID customer : customers) {
      usage.block(customer, units.unit, "10", FEBRUARY, MARCH);
      usage.period(usage.subscription(customer, units.plan), 0, FEBRUARY, MARCH);
    }
    usage.awaitFolded();

    Merchant.atOnce(
        5,
        i -> {
          if (i > 1) {
            while (isAnyLeft(MARCH)) {
              expire(MARCH, 7);
            }
          } else {
            for (int round = 0; round < 8; round++) {
              List<UsageEvent> events =
                  customers.stream()
                      .map(customer -> event(customer, "race", FEBRUARY, LATE))
                      .toList();
              await(usage.ingest(usage.merchant, events));
            }
          }
          return i;
        });
    usage.awaitFolded();

    assertThat(usage.number("SELECT sum(remaining) FROM allocation_block")).isZero();
    assertThat(
            usage.number(
                "SELECT sum(required) FROM credit_usage u JOIN subscription_period p"
                    + " USING (subscription_id, period_index) WHERE p.customer_id IN ('%s')",
                String.join("','", customers.stream().map(UUID::toString).toList())))
        .as("every event counted")
        .isEqualByComparingTo("" + 40 * 16);
    assertThat(
            usage.number(
                "SELECT coalesce(sum(amount), 0) FROM credit_transaction WHERE type = 'expiration'"))
        .isEqualByComparingTo(
            usage.number("SELECT coalesce(sum(drawn), 0) - 400 FROM credit_draw"));
    assertThat(
            usage.number(
                "SELECT count(*) - count(DISTINCT allocation_block_id)"
                    + " FROM credit_transaction WHERE type = 'expiration'"))
        .isZero();
    units.assertBooksBalance();
  }

  @Test
  void severalRunsAtOnceExpireEachBlockOnce() {
    IntStream.range(0, 60)
        .forEach(
            i -> usage.block(usage.customer(usage.merchant), units.unit, "1", JANUARY, FEBRUARY));

    List<Integer> expired =
        Merchant.atOnce(
            4,
            i -> {
              int sum = 0;
              while (isAnyLeft(NOW)) {
                sum += expire(NOW, 10);
              }
              return sum;
            });

    assertThat(expired.stream().mapToInt(Integer::intValue).sum()).isEqualTo(60);
    units.assertBooksBalance();
  }
}
