package io.steelyard.usage;

import static io.steelyard.usage.UnitsFixture.FEBRUARY;
import static io.steelyard.usage.UnitsFixture.JANUARY;
import static io.steelyard.usage.UsageFixture.APRIL;
import static io.steelyard.usage.UsageFixture.MARCH;
import static io.steelyard.usage.UsageFixture.NOW;
import static io.steelyard.usage.UsageFixture.event;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.credit.Reversals;
import io.steelyard.domain.PeriodKey;
import io.vertx.sqlclient.Pool;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Units of a void invoice: given back, and drawn again for the next. */
class ReversalsIT {
  private static UsageFixture usage;
  private static Pool pool;

  private final Reversals reversals = new Reversals();
  private final UUID invoice = UUID.randomUUID();
  private UnitsFixture units;
  private UUID subscription;
  private UUID price;

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

  /** February is the closed period; what it needs is the latest value. */
  @BeforeEach
  void subscribed() {
    units = new UnitsFixture(usage, pool);
    subscription = usage.subscription(units.customer, units.plan);
    usage.period(subscription, 0, FEBRUARY, MARCH);
    price = usage.price(units.plan, usage.billable("latest", "feb"), units.unit, null);
  }

  /** What February needs from now on. */
  private void require(int day, String quantity) {
    usage.count(
        event(
            units.customer,
            "feb",
            FEBRUARY.plusSeconds(day * 86_400L),
            "{\"v\":" + quantity + "}"));
  }

  private void release(UUID cause, Instant now) {
    units.inTransaction(
        tx ->
            reversals.release(
                tx, usage.merchant, List.of(UnitsFixture.period(subscription, 0)), cause, now));
    units.assertBooksBalance();
  }

  private void redraw(UUID cause, Instant now) {
    units.inTransaction(
        tx ->
            reversals.redraw(
                tx, usage.merchant, List.of(UnitsFixture.period(subscription, 0)), cause, now));
    units.assertBooksBalance();
  }

  private String use() {
    return units.use(subscription, 0, price);
  }

  @Test
  void unitsGoBackToLivingBlocksAndAreDrawnAgain() {
    UUID block = usage.block(units.customer, units.unit, "10", JANUARY, APRIL);
    require(1, "4");

    release(invoice, NOW);
    assertThat(units.remaining(block)).isEqualByComparingTo("10");
    assertThat(units.ledger(block, "reversal")).isEqualTo("4");
    assertThat(use()).isEqualTo("4 0 4");

    redraw(UUID.randomUUID(), NOW);
    assertThat(units.remaining(block)).isEqualByComparingTo("6");
    assertThat(units.ledger(block, "usage")).isEqualTo("-4 -4");
    assertThat(use()).isEqualTo("4 4 0");
    assertThat(
            usage.text(
                "SELECT string_agg(DISTINCT (billable_id IS NOT NULL)::text, '')"
                    + " FROM credit_transaction WHERE allocation_block_id = '%s'".formatted(block)
                    + " AND type <> 'manualAllocation'"))
        .isEqualTo("true");
  }

  @Test
  void whatCameFromADeadBlockIsGoneAndComesFromALivingOneNext() {
    UUID dead = usage.block(units.customer, units.unit, "3", FEBRUARY, MARCH);
    UUID living = usage.block(units.customer, units.unit, "10", MARCH, APRIL);
    require(1, "5");
    assertThat(use()).isEqualTo("5 5 0");

    release(invoice, NOW);
    assertThat(units.remaining(dead)).isZero();
    assertThat(units.remaining(living)).isEqualByComparingTo("10");
    assertThat(use()).isEqualTo("5 0 5");

    redraw(UUID.randomUUID(), NOW);
    assertThat(units.remaining(living)).isEqualByComparingTo("5");
    assertThat(use()).isEqualTo("5 5 0");
  }

  @Test
  void whatNoBlockCoveredOrCoversAnyMoreIsOverage() {
    UUID block = usage.block(units.customer, units.unit, "10", JANUARY, APRIL);
    require(1, "14");
    assertThat(use()).isEqualTo("14 10 0");
    release(invoice, NOW);
    assertThat(use()).isEqualTo("14 0 10");
    UUID more = usage.block(units.customer, units.unit, "100", MARCH, APRIL);

    redraw(UUID.randomUUID(), APRIL);
    assertThat(use()).as("neither block is valid then").isEqualTo("14 0 0");
    assertThat(units.remaining(block).add(units.remaining(more))).isEqualByComparingTo("110");
  }

  @Test
  void unitsThatWereOverageStayOverage() {
    usage.block(units.customer, units.unit, "10", JANUARY, APRIL);
    require(1, "14");
    release(invoice, NOW);
    usage.block(units.customer, units.unit, "100", MARCH, APRIL);

    redraw(UUID.randomUUID(), NOW);

    assertThat(use()).isEqualTo("14 10 0");
  }

  @Test
  void blocksAreSharedOutAmongPricesInOneOrder() {
    UUID other = usage.price(units.plan, usage.billable("sum", "more"), units.unit, null);
    UUID soon = usage.block(units.customer, units.unit, "6", JANUARY, APRIL);
    UUID late = usage.block(units.customer, units.unit, "6", JANUARY, APRIL.plusSeconds(1));
    usage.count(event(units.customer, "more", FEBRUARY, "{\"v\":5}"));
    require(1, "5");
    release(invoice, NOW);
    assertThat(units.remaining(soon).add(units.remaining(late))).isEqualByComparingTo("12");

    redraw(UUID.randomUUID(), NOW);

    assertThat(units.remaining(soon)).isZero();
    assertThat(units.remaining(late)).isEqualByComparingTo("2");
    assertThat(use()).isEqualTo("5 5 0");
    assertThat(units.use(subscription, 0, other)).isEqualTo("5 5 0");
  }

  @Test
  void anEventBetweenTheTwoDrawsOnlyWhatItAdds() {
    UUID block = usage.block(units.customer, units.unit, "20", JANUARY, APRIL);
    require(1, "8");
    release(invoice, NOW);

    require(2, "11");
    assertThat(use()).isEqualTo("11 3 8");
    assertThat(units.remaining(block)).isEqualByComparingTo("17");
    redraw(UUID.randomUUID(), NOW);

    assertThat(use()).isEqualTo("11 11 0");
    assertThat(units.remaining(block)).isEqualByComparingTo("9");
  }

  @Test
  void lessIsDrawnAgainWhenLessIsNeededByThen() {
    UUID block = usage.block(units.customer, units.unit, "20", JANUARY, APRIL);
    require(1, "8");
    release(invoice, NOW);

    require(2, "3");
    assertThat(use()).isEqualTo("3 0 8");
    redraw(UUID.randomUUID(), NOW);

    assertThat(use()).isEqualTo("3 3 0");
    assertThat(units.remaining(block)).isEqualByComparingTo("17");
  }

  @Test
  void neverMoreThanIsNeededWhenTheNeedFellAndRose() {
    UUID block = usage.block(units.customer, units.unit, "20", JANUARY, APRIL);
    require(1, "8");
    release(invoice, NOW);

    require(2, "3");
    require(3, "8");
    assertThat(use()).isEqualTo("8 5 8");
    redraw(UUID.randomUUID(), NOW);

    assertThat(use()).isEqualTo("8 8 0");
    assertThat(units.remaining(block)).isEqualByComparingTo("12");
  }

  @Test
  void theNextInvoiceMayBecomeVoidToo() {
    UUID block = usage.block(units.customer, units.unit, "10", JANUARY, APRIL);
    require(1, "4");
    UUID next = UUID.randomUUID();
    release(invoice, NOW);
    redraw(next, NOW);
    release(next, NOW);
    assertThat(units.remaining(block)).isEqualByComparingTo("10");
    redraw(UUID.randomUUID(), NOW);

    require(2, "1");

    assertThat(use()).isEqualTo("1 1 0");
    assertThat(units.remaining(block)).isEqualByComparingTo("9");
    units.assertBooksBalance();
  }

  @Test
  void doingEitherAgainChangesNothing() {
    usage.block(units.customer, units.unit, "10", JANUARY, APRIL);
    require(1, "4");
    release(invoice, NOW);
    List<String> released = units.state();
    release(invoice, NOW);
    assertThat(units.state()).isEqualTo(released);

    UUID next = UUID.randomUUID();
    redraw(next, NOW);
    List<String> redrawn = units.state();
    redraw(next, NOW);
    assertThat(units.state()).isEqualTo(redrawn);

    assertThatThrownBy(() -> release(invoice, NOW)).hasMessageContaining("credit_transaction_once");
    assertThat(units.state()).isEqualTo(redrawn);
  }

  @Test
  void periodsThatDrewNothingAndNoPeriodsAreLeftAlone() {
    List<String> before = units.state();
    release(invoice, NOW);
    redraw(invoice, NOW);
    units.inTransaction(tx -> reversals.release(tx, usage.merchant, List.of(), invoice, NOW));
    units.inTransaction(tx -> reversals.redraw(tx, usage.merchant, List.of(), invoice, NOW));

    assertThat(units.state()).isEqualTo(before);
  }

  @Test
  void anotherMerchantCannotReleaseThem() {
    UsageFixture other = usage.neighbour();
    usage.block(units.customer, units.unit, "10", JANUARY, APRIL);
    require(1, "4");
    List<String> before = units.state();

    units.inTransaction(
        tx ->
            reversals.release(
                tx, other.merchant, List.of(UnitsFixture.period(subscription, 0)), invoice, NOW));

    assertThat(units.state()).isEqualTo(before);
  }

  @Test
  void manyPeriodsAreReleasedAndRedrawnTogether() {
    UUID block = usage.block(units.customer, units.unit, "100", JANUARY, APRIL);
    usage.period(subscription, 1, MARCH, APRIL);
    UsageEvent march = event(units.customer, "feb", 3, 7);
    usage.count(march);
    require(1, "4");
    List<PeriodKey> periods =
        List.of(UnitsFixture.period(subscription, 0), UnitsFixture.period(subscription, 1));

    units.inTransaction(tx -> reversals.release(tx, usage.merchant, periods, invoice, NOW));
    assertThat(units.remaining(block)).isEqualByComparingTo("100");
    units.inTransaction(tx -> reversals.redraw(tx, usage.merchant, periods, invoice, NOW));

    assertThat(use()).isEqualTo("4 4 0");
    assertThat(units.use(subscription, 1, price)).isEqualTo("7 7 0");
    assertThat(units.remaining(block)).isEqualByComparingTo("89");
    units.assertBooksBalance();
  }
}
