package io.steelyard.usage;

import static io.steelyard.usage.UsageFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.credit.CreditStore;
import io.steelyard.credit.CreditStore.NewBlock;
import io.steelyard.credit.UnitUsageStore;
import io.steelyard.credit.UnitUsageStore.UnitUsage;
import io.steelyard.credit.UnitUsageStore.Wanted;
import io.steelyard.db.Ids;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.PeriodKey;
import io.steelyard.domain.TransactionType;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;

/** A customer with a plan and a unit, beside the fold, to see what becomes of blocks. */
final class UnitsFixture {
  static final Instant JANUARY = Instant.parse("2026-01-01T00:00:00Z");
  static final Instant FEBRUARY = Instant.parse("2026-02-01T00:00:00Z");
  static final Instant MAY = Instant.parse("2026-05-01T00:00:00Z");

  final UsageFixture usage;
  final Pool pool;
  final UUID customer;
  final UUID plan;
  final UUID unit;
  private final CreditStore credits = new CreditStore();
  private final UnitUsageStore usages = new UnitUsageStore();
  private Instant clock;

  UnitsFixture(UsageFixture usage, Pool pool) {
    this.usage = usage;
    this.pool = pool;
    customer = usage.customer(usage.merchant);
    plan = usage.plan();
    unit = usage.unit();
    clock(UsageFixture.NOW);
  }

  void clock(Instant now) {
    clock = now;
    usage.execute(
        "UPDATE merchant SET clock_now = '%s' WHERE id = '%s'".formatted(now, usage.merchant));
  }

  <T> T inTransaction(Function<SqlConnection, Future<T>> work) {
    return await(pool.withTransaction(work));
  }

  /** A plan's block of the customer, to be. */
  NewBlock planBlock(
      UUID subscription, String amount, Instant from, Instant until, String rolloverMax) {
    return new NewBlock(
        Ids.next(IdKind.ALLOCATION_BLOCK),
        new Id(IdKind.CUSTOMER, customer),
        new Id(IdKind.CUSTOM_PRICING_UNIT, unit),
        new Id(IdKind.SUBSCRIPTION, subscription),
        0,
        null,
        new BigDecimal(amount),
        from,
        until,
        rolloverMax == null ? null : new BigDecimal(rolloverMax),
        TransactionType.PLAN_ALLOCATION,
        "alloc:" + subscription + ":" + unit + ":" + from);
  }

  /** Stores a plan's block as at its beginning. */
  UUID allocated(
      UUID subscription, String amount, Instant from, Instant until, String rolloverMax) {
    NewBlock block = planBlock(subscription, amount, from, until, rolloverMax);
    inTransaction(tx -> credits.allocate(tx, usage.merchant, List.of(block), from));
    return block.id().uuid();
  }

  /** As seen when the merchant's clock stands there. */
  UnitUsage unitUsage(Instant now) {
    String externalId =
        usage.text("SELECT external_id FROM customer WHERE id = '" + customer + "'");
    Wanted wanted = new Wanted(usage.merchant, externalId, unit);
    Instant before = clock;
    clock(now);
    UnitUsage seen = await(usages.read(pool, List.of(wanted), now)).getFirst().usage();
    clock(before);
    return seen;
  }

  /** Allocated, used and remaining, which must add up, as text. */
  String amounts(Instant now) {
    UnitUsage seen = unitUsage(now);
    assertThat(seen.allocated()).isEqualByComparingTo(seen.used().add(seen.remaining()));
    return plain(seen.allocated()) + " " + plain(seen.used()) + " " + plain(seen.remaining());
  }

  private static String plain(BigDecimal number) {
    return number.signum() == 0 ? "0" : number.stripTrailingZeros().toPlainString();
  }

  BigDecimal remaining(UUID block) {
    return usage.number("SELECT remaining FROM allocation_block WHERE id = '%s'", block);
  }

  /** The amounts in the block's ledger of one type, oldest first. */
  String ledger(UUID block, String type) {
    return usage.text(
        """
        SELECT coalesce(string_agg(trim_scale(amount)::text, ' ' ORDER BY created_at, id), '')
          FROM credit_transaction WHERE allocation_block_id = '%s' AND type = '%s'
        """
            .formatted(block, type));
  }

  /** {@code required drawn released} of a price in a period. */
  String use(UUID subscription, int period, UUID price) {
    return usage.text(
        """
        SELECT trim_scale(required) || ' ' || trim_scale(drawn) || ' ' || trim_scale(released)
          FROM credit_usage
         WHERE subscription_id = '%s' AND period_index = %d AND price_id = '%s'
        """
            .formatted(subscription, period, price));
  }

  /** Everything there is, to compare. */
  List<String> state() {
    return List.of(
        rows("allocation_block", "id"),
        rows("credit_transaction", "id"),
        rows("credit_usage", "subscription_id, period_index, price_id"),
        rows("credit_draw", "subscription_id, period_index, price_id, allocation_block_id"));
  }

  private String rows(String table, String order) {
    return usage.text(
        "SELECT coalesce(string_agg(t::text, ';' ORDER BY %s), '') FROM %s t"
            .formatted(order, table));
  }

  /** The ledger makes what remains, and draws make what prices have drawn. */
  void assertBooksBalance() {
    assertThat(
            usage.text(
                """
                SELECT string_agg(b.id::text, ' ') FROM allocation_block b
                 WHERE b.remaining <> (SELECT sum(amount) FROM credit_transaction t
                                        WHERE t.allocation_block_id = b.id)
                """))
        .as("blocks whose ledger says otherwise")
        .isNull();
    assertThat(
            usage.text(
                """
                SELECT string_agg(u.price_id::text, ' ') FROM credit_usage u
                 WHERE u.drawn <> (SELECT coalesce(sum(drawn), 0) FROM credit_draw d
                                    WHERE d.subscription_id = u.subscription_id
                                      AND d.period_index = u.period_index
                                      AND d.price_id = u.price_id)
                """))
        .as("prices whose draws say otherwise")
        .isNull();
  }

  static PeriodKey period(UUID subscription, int index) {
    return new PeriodKey(new Id(IdKind.SUBSCRIPTION, subscription), index);
  }
}
