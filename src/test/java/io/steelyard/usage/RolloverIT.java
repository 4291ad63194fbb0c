package io.steelyard.usage;

import static io.steelyard.usage.UnitsFixture.FEBRUARY;
import static io.steelyard.usage.UnitsFixture.JANUARY;
import static io.steelyard.usage.UnitsFixture.MAY;
import static io.steelyard.usage.UsageFixture.APRIL;
import static io.steelyard.usage.UsageFixture.MARCH;
import static io.steelyard.usage.UsageFixture.event;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.credit.CreditStore;
import io.steelyard.credit.CreditStore.NewBlock;
import io.steelyard.credit.RolloverStore;
import io.vertx.sqlclient.Pool;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Units that live one more period. */
class RolloverIT {
  private static UsageFixture usage;
  private static Pool pool;

  private final CreditStore credits = new CreditStore();
  private final RolloverStore rollovers = new RolloverStore();
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
  }

  /** As the clockwork does at a slice's start. */
  private void open(Instant at, NewBlock... blocks) {
    units.inTransaction(
        tx ->
            credits
                .allocate(tx, usage.merchant, List.of(blocks), at)
                .compose(done -> rollovers.rollOver(tx, usage.merchant, List.of(blocks), at)));
  }

  private UUID rolled(Instant from) {
    String id =
        usage.text(
            "SELECT id FROM allocation_block WHERE subscription_id = '%s' AND origin = 'rollover'"
                    .formatted(subscription)
                + " AND effective_at = '%s'".formatted(from));
    return id == null ? null : UUID.fromString(id);
  }

  private void use(UUID block, String amount) {
    usage.execute(
        """
        UPDATE allocation_block SET remaining = remaining - %s WHERE id = '%s';
        INSERT INTO credit_transaction (id, merchant_id, customer_id, allocation_block_id, type,
          amount, operation_id, created_at)
        SELECT gen_random_uuid(), merchant_id, customer_id, id, 'usage', -%1$s, gen_random_uuid(),
               now()
          FROM allocation_block WHERE id = '%2$s'
        """
            .formatted(amount, block));
  }

  @ParameterizedTest
  @CsvSource({"0, 20, 20", "85, 20, 15", "80, 20, 20", "99.75, 20, 0.25", "0, 1000, 100"})
  void whatIsLeftMovesUpToTheMost(String used, String rolloverMax, String moved) {
    UUID old = units.allocated(subscription, "100", FEBRUARY, MARCH, rolloverMax);
    use(old, used);

    NewBlock block = units.planBlock(subscription, "100", MARCH, APRIL, rolloverMax);
    open(MARCH, block);

    UUID rolled = rolled(MARCH);
    assertThat(units.ledger(old, "rollover")).isEqualTo("-" + moved);
    assertThat(units.ledger(rolled, "rollover")).isEqualTo(moved);
    assertThat(units.remaining(rolled)).isEqualByComparingTo(moved);
    assertThat(units.remaining(block.id().uuid())).isEqualByComparingTo("100");
    assertThat(
            usage.number(
                "SELECT count(DISTINCT operation_id) FROM credit_transaction WHERE type ="
                    + " 'rollover' AND allocation_block_id IN ('%s', '%s')",
                old, rolled))
        .isEqualByComparingTo("1");
    assertThat(
            usage.text(
                "SELECT (expires_at = '%s' AND rollover_max IS NULL AND amount = %s)::text"
                        .formatted(APRIL, moved)
                    + " FROM allocation_block WHERE id = '%s'".formatted(rolled)))
        .isEqualTo("true");
    units.assertBooksBalance();
  }

  @ParameterizedTest
  @CsvSource({"100, 20", "0, ", "0, 0"})
  void nothingMovesWhenNothingIsLeftOrMayMove(String used, String rolloverMax) {
    UUID old = units.allocated(subscription, "100", FEBRUARY, MARCH, rolloverMax);
    use(old, used);

    open(MARCH, units.planBlock(subscription, "100", MARCH, APRIL, rolloverMax));

    assertThat(rolled(MARCH)).isNull();
  }

  @Test
  void onlyTheBlockThatEndsThereOfTheSameSubscriptionAndUnitPassesOn() {
    UUID earlier = units.allocated(subscription, "100", JANUARY, FEBRUARY, "20");
    UUID longer = units.allocated(subscription, "100", FEBRUARY, APRIL, "20");
    UUID other = usage.subscription(units.customer, units.plan);
    UUID others = units.allocated(other, "100", FEBRUARY, MARCH, "20");

    open(MARCH, units.planBlock(subscription, "100", MARCH, APRIL, "20"));

    assertThat(rolled(MARCH)).isNull();
    for (UUID block : List.of(earlier, longer, others)) {
      assertThat(units.remaining(block)).isEqualByComparingTo("100");
    }
  }

  @Test
  void rolledOverUnitsLiveOnePeriodOnly() {
    units.allocated(subscription, "100", FEBRUARY, MARCH, "20");
    open(MARCH, units.planBlock(subscription, "100", MARCH, APRIL, "20"));

    open(APRIL, units.planBlock(subscription, "100", APRIL, MAY, "20"));

    assertThat(units.remaining(rolled(MARCH))).isEqualByComparingTo("20");
    assertThat(units.remaining(rolled(APRIL))).isEqualByComparingTo("20");
  }

  @Test
  void rolledOverUnitsGoBeforeNewOnes() {
    usage.price(units.plan, usage.billable("sum", "rolled"), units.unit, null);
    usage.period(subscription, 0, MARCH, APRIL);
    units.allocated(subscription, "100", FEBRUARY, MARCH, "20");
    NewBlock block = units.planBlock(subscription, "100", MARCH, APRIL, "20");
    open(MARCH, block);

    usage.count(event(units.customer, "rolled", 1, 15));

    assertThat(units.remaining(rolled(MARCH))).isEqualByComparingTo("5");
    assertThat(units.remaining(block.id().uuid())).isEqualByComparingTo("100");
    assertThat(units.amounts(UsageFixture.NOW)).isEqualTo("120 15 105");
  }

  @Test
  void rollingOverAgainChangesNothing() {
    units.allocated(subscription, "100", FEBRUARY, MARCH, "20");
    NewBlock block = units.planBlock(subscription, "100", MARCH, APRIL, "20");
    open(MARCH, block);
    List<String> before = units.state();

    assertThatThrownBy(
            () ->
                units.inTransaction(
                    tx -> rollovers.rollOver(tx, usage.merchant, List.of(block), MARCH)))
        .hasMessageContaining("credit_transaction_once");
    assertThat(units.state()).isEqualTo(before);
  }

  @Test
  void rollingOverAllAgainFindsNothingLeft() {
    units.allocated(subscription, "100", FEBRUARY, MARCH, "100");
    NewBlock block = units.planBlock(subscription, "100", MARCH, APRIL, "100");
    open(MARCH, block);
    List<String> before = units.state();

    units.inTransaction(tx -> rollovers.rollOver(tx, usage.merchant, List.of(block), MARCH));

    assertThat(units.state()).isEqualTo(before);
  }

  @Test
  void manySubscriptionsRollOverTogether() {
    List<UUID> subscriptions =
        Stream.generate(() -> usage.subscription(units.customer, units.plan)).limit(300).toList();
    subscriptions.forEach(each -> units.allocated(each, "100", FEBRUARY, MARCH, "20"));

    open(
        MARCH,
        subscriptions.stream()
            .map(each -> units.planBlock(each, "100", MARCH, APRIL, "20"))
            .toArray(NewBlock[]::new));

    assertThat(
            usage.number(
                "SELECT sum(amount) FROM allocation_block WHERE customer_id = '%s'"
                    + " AND origin = 'rollover'",
                units.customer))
        .isEqualByComparingTo("6000");
    units.assertBooksBalance();
  }
}
