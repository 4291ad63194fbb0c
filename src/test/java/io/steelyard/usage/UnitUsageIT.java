package io.steelyard.usage;

import static io.steelyard.usage.UnitsFixture.FEBRUARY;
import static io.steelyard.usage.UnitsFixture.JANUARY;
import static io.steelyard.usage.UnitsFixture.MAY;
import static io.steelyard.usage.UsageFixture.APRIL;
import static io.steelyard.usage.UsageFixture.MARCH;
import static io.steelyard.usage.UsageFixture.NOW;
import static io.steelyard.usage.UsageFixture.event;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.credit.CreditMessages.NextExpiring;
import io.steelyard.credit.CreditStore;
import io.steelyard.credit.CreditStore.NewBlock;
import io.steelyard.credit.ExpiryStore;
import io.steelyard.credit.Reversals;
import io.steelyard.credit.RolloverStore;
import io.steelyard.domain.PeriodKey;
import io.vertx.sqlclient.Pool;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Allocated, used and remaining units of the current period, after each step that changes them. */
class UnitUsageIT {
  private static final Instant MID_FEBRUARY = Instant.parse("2026-02-15T00:00:00Z");
  private static final Instant MID_MARCH = Instant.parse("2026-03-15T00:00:00Z");

  private static UsageFixture usage;
  private static Pool pool;

  private final CreditStore credits = new CreditStore();
  private final RolloverStore rollovers = new RolloverStore();
  private final ExpiryStore expiries = new ExpiryStore();
  private final Reversals reversals = new Reversals();
  private UnitsFixture units;
  private UUID subscription;

  @BeforeAll
  static void deploy() {
    usage = new UsageFixture();
    usage.ingestion(UsageFixture.INGEST);
    usage.aggregation(1);
    pool = usage.pools.api(usage.vertx);
  }

  @AfterAll
  static void close() {
    usage.close();
  }

  @BeforeEach
  void subscribed() {
    units = new UnitsFixture(usage, pool);
    subscription = usage.subscription(units.customer, units.plan);
    usage.price(units.plan, usage.billable("sum", "use"), units.unit, null);
  }

  private void use(Instant at, String amount) {
    usage.count(event(units.customer, "use", at, "{\"v\":" + amount + "}"));
  }

  private void open(Instant at, NewBlock block) {
    units.clock(at);
    units.inTransaction(
        tx ->
            credits
                .allocate(tx, usage.merchant, List.of(block), at)
                .compose(done -> rollovers.rollOver(tx, usage.merchant, List.of(block), at)));
  }

  private void expire(Instant expiredBy, Instant now) {
    units.inTransaction(tx -> expiries.expire(tx, usage.merchant, expiredBy, now, 100));
  }

  @Test
  void rolloverLateUsageAndExpiryStepByStep() {
    units.clock(FEBRUARY);
    usage.period(subscription, 0, FEBRUARY, MARCH);
    units.allocated(subscription, "100", FEBRUARY, MARCH, "20");
    assertThat(units.amounts(FEBRUARY)).isEqualTo("100 0 100");
    use(FEBRUARY, "30");
    assertThat(units.amounts(FEBRUARY)).isEqualTo("100 30 70");

    usage.period(subscription, 1, MARCH, APRIL);
    open(MARCH, units.planBlock(subscription, "100", MARCH, APRIL, "20"));
    assertThat(units.amounts(MARCH)).as("what was rolled over is new").isEqualTo("120 0 120");
    assertThat(units.unitUsage(MARCH).nextExpiring().expiration()).isEqualTo(APRIL);
    assertThat(units.unitUsage(MARCH).nextExpiring().amountRemaining()).isEqualByComparingTo("120");

    use(FEBRUARY, "10");
    assertThat(units.amounts(MARCH)).as("from February's block").isEqualTo("120 0 120");
    use(FEBRUARY, "45");
    assertThat(units.amounts(MARCH)).as("5 more than it held").isEqualTo("120 5 115");
    use(MARCH, "15");
    assertThat(units.amounts(MARCH)).isEqualTo("120 20 100");

    expire(MARCH, NOW);
    assertThat(units.amounts(NOW)).isEqualTo("120 20 100");
    use(FEBRUARY, "1");
    assertThat(units.amounts(NOW)).as("nothing is left of February").isEqualTo("120 21 99");

    usage.period(subscription, 2, APRIL, MAY);
    open(APRIL, units.planBlock(subscription, "100", APRIL, MAY, "20"));
    assertThat(units.amounts(APRIL)).isEqualTo("120 0 120");
    expire(APRIL, APRIL);
    assertThat(units.amounts(APRIL)).isEqualTo("120 0 120");
    units.assertBooksBalance();
  }

  @Test
  void writingOffChangesNothingInThePeriodItself() {
    units.clock(MARCH);
    usage.period(subscription, 0, MARCH, APRIL);
    usage.block(units.customer, units.unit, "10", MARCH, MID_MARCH);
    units.allocated(subscription, "100", MARCH, APRIL, null);
    use(MARCH, "4");
    assertThat(units.amounts(MARCH)).isEqualTo("110 4 106");

    units.clock(NOW);
    assertThat(units.amounts(NOW)).as("six lapsed").isEqualTo("104 4 100");
    use(MARCH, "1");
    assertThat(units.amounts(NOW)).as("one of them did not").isEqualTo("105 5 100");
    expire(NOW, NOW);
    assertThat(units.amounts(NOW)).isEqualTo("105 5 100");
    use(MARCH, "1");
    assertThat(units.amounts(NOW)).isEqualTo("105 6 99");
  }

  @Test
  void slicesShorterThanThePeriodAddUpToWhatWasUsedOfThem() {
    units.clock(JANUARY);
    usage.period(subscription, 0, JANUARY, Instant.parse("2027-01-01T00:00:00Z"));
    units.allocated(subscription, "100", JANUARY, FEBRUARY, "10");
    use(JANUARY, "30");
    open(FEBRUARY, units.planBlock(subscription, "100", FEBRUARY, MARCH, "10"));

    assertThat(units.amounts(FEBRUARY)).isEqualTo("140 30 110");
    use(FEBRUARY, "25");
    assertThat(units.amounts(FEBRUARY)).isEqualTo("140 55 85");
    expire(FEBRUARY, FEBRUARY);
    assertThat(units.amounts(FEBRUARY)).isEqualTo("140 55 85");
    open(MARCH, units.planBlock(subscription, "100", MARCH, APRIL, "10"));
    assertThat(units.amounts(MARCH)).as("75 of February's lapsed").isEqualTo("165 55 110");
  }

  @Test
  void aSliceLongerThanThePeriodIsAllocatedWithWhatEarlierPeriodsLeft() {
    units.clock(FEBRUARY);
    usage.period(subscription, 0, FEBRUARY, MARCH);
    usage.period(subscription, 1, MARCH, APRIL);
    units.allocated(subscription, "300", FEBRUARY, MAY, null);
    use(FEBRUARY, "50");
    assertThat(units.amounts(FEBRUARY)).isEqualTo("300 50 250");

    units.clock(MARCH);
    assertThat(units.amounts(MARCH)).isEqualTo("250 0 250");
    use(MARCH, "20");
    assertThat(units.amounts(MARCH)).isEqualTo("250 20 230");
    use(FEBRUARY, "10");
    assertThat(units.amounts(MARCH)).as("as if it had come in time").isEqualTo("240 20 220");
  }

  @Test
  void aVoidInvoiceGivesBackToTheAllocatedAndTakesNothingFromTheUsed() {
    units.clock(FEBRUARY);
    usage.period(subscription, 0, FEBRUARY, MARCH);
    usage.period(subscription, 1, MARCH, APRIL);
    units.allocated(subscription, "300", FEBRUARY, MAY, null);
    use(FEBRUARY, "50");
    units.clock(NOW);
    use(MARCH, "20");
    assertThat(units.amounts(NOW)).isEqualTo("250 20 230");

    List<PeriodKey> february = List.of(UnitsFixture.period(subscription, 0));
    units.inTransaction(
        tx -> reversals.release(tx, usage.merchant, february, UUID.randomUUID(), NOW));
    assertThat(units.amounts(NOW)).isEqualTo("300 20 280");
    units.inTransaction(
        tx -> reversals.redraw(tx, usage.merchant, february, UUID.randomUUID(), NOW));
    assertThat(units.amounts(NOW)).isEqualTo("250 20 230");
  }

  @Test
  void aVoidInvoiceOfThePeriodBeforeIsDrawnFromThisOne() {
    units.clock(FEBRUARY);
    usage.period(subscription, 0, FEBRUARY, MARCH);
    usage.period(subscription, 1, MARCH, APRIL);
    units.allocated(subscription, "100", FEBRUARY, MARCH, null);
    use(FEBRUARY, "50");
    units.clock(NOW);
    units.allocated(subscription, "100", MARCH, APRIL, null);
    List<PeriodKey> february = List.of(UnitsFixture.period(subscription, 0));

    units.inTransaction(
        tx -> reversals.release(tx, usage.merchant, february, UUID.randomUUID(), NOW));
    assertThat(units.amounts(NOW)).isEqualTo("100 0 100");
    units.inTransaction(
        tx -> reversals.redraw(tx, usage.merchant, february, UUID.randomUUID(), NOW));
    assertThat(units.amounts(NOW)).isEqualTo("100 50 50");
  }

  @Test
  void blocksByHandCountInThePeriodTheyCameInAndWithTheirRestLater() {
    units.clock(FEBRUARY);
    usage.period(subscription, 0, FEBRUARY, MARCH);
    usage.period(subscription, 1, MARCH, APRIL);
    usage.block(units.customer, units.unit, "40", MID_FEBRUARY, MAY);
    units.clock(MID_FEBRUARY);
    assertThat(units.amounts(FEBRUARY)).as("not there yet").isEqualTo("0 0 0");
    use(MID_FEBRUARY, "15");
    assertThat(units.amounts(MID_FEBRUARY)).isEqualTo("40 15 25");

    units.clock(NOW);
    assertThat(units.amounts(NOW)).isEqualTo("25 0 25");
    NextExpiring next = units.unitUsage(NOW).nextExpiring();
    assertThat(next.expiration()).isEqualTo(MAY);
    assertThat(next.amountRemaining()).isEqualByComparingTo("25");
  }

  @Test
  void withSeveralSubscriptionsThePeriodThatEndsFirstCounts() {
    units.clock(FEBRUARY);
    UUID longer = usage.subscription(units.customer, units.plan);
    usage.period(subscription, 0, FEBRUARY, MARCH);
    usage.period(longer, 0, JANUARY, APRIL);
    units.allocated(subscription, "100", FEBRUARY, MARCH, null);
    units.allocated(longer, "500", JANUARY, APRIL, null);
    // both subscriptions count the event
    use(FEBRUARY, "30");
    assertThat(units.amounts(FEBRUARY)).isEqualTo("600 60 540");
    use(JANUARY, "7");
    assertThat(units.amounts(FEBRUARY)).as("of a period not over").isEqualTo("600 67 533");
  }

  @Test
  void withoutACurrentPeriodTheValidBlocksCountWithAllThatWasDrawn() {
    units.clock(FEBRUARY);
    usage.period(subscription, 0, FEBRUARY, MARCH);
    usage.block(units.customer, units.unit, "40", FEBRUARY, MAY);
    units.allocated(subscription, "100", FEBRUARY, MARCH, null);
    use(FEBRUARY, "110");

    units.clock(NOW);

    assertThat(units.amounts(NOW)).isEqualTo("40 10 30");
  }

  @Test
  void aQuantityThatFallsGivesBackWhatWasUsed() {
    usage.price(units.plan, usage.billable("latest", "level"), units.unit, null);
    usage.period(subscription, 0, MARCH, APRIL);
    units.allocated(subscription, "100", MARCH, APRIL, null);
    usage.count(event(units.customer, "level", 1, 30));
    assertThat(units.amounts(NOW)).isEqualTo("100 30 70");
    usage.count(event(units.customer, "level", 2, 10));
    assertThat(units.amounts(NOW)).isEqualTo("100 10 90");
  }
}
