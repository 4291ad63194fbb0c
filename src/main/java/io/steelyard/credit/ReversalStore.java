package io.steelyard.credit;

import io.steelyard.db.Columns;
import io.steelyard.db.Ids;
import io.steelyard.db.Sql;
import io.steelyard.domain.CreditDrawdown;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.PeriodKey;
import io.steelyard.domain.TransactionType;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;

/** What periods have drawn and were given back, and the blocks concerned. */
final class ReversalStore {
  private static final String DRAWS =
      """
      SELECT d.subscription_id, d.period_index, d.price_id, p.billable_id, b.customer_id,
             d.allocation_block_id, d.drawn
        FROM unnest($1::uuid[], $2::integer[]) AS w (subscription_id, period_index)
        JOIN credit_draw d
          ON d.subscription_id = w.subscription_id AND d.period_index = w.period_index
        JOIN price p ON p.merchant_id = $3 AND p.id = d.price_id
        JOIN allocation_block b ON b.merchant_id = $3 AND b.id = d.allocation_block_id
       WHERE d.merchant_id = $3 AND d.drawn > 0
      """;

  // What no block could cover stays uncovered: only what was drawn before is asked for again, and
  // no more of it than the period needs by now.
  private static final String OPEN =
      """
      SELECT u.subscription_id, u.period_index, u.price_id, p.billable_id,
             p.custom_pricing_unit_id, s.customer_id,
             least(u.released, u.required - u.drawn) AS wanted
        FROM unnest($1::uuid[], $2::integer[]) AS w (subscription_id, period_index)
        JOIN credit_usage u
          ON u.subscription_id = w.subscription_id AND u.period_index = w.period_index
        JOIN price p ON p.merchant_id = $3 AND p.id = u.price_id
        JOIN subscription_period s
          ON s.merchant_id = $3 AND s.subscription_id = u.subscription_id
         AND s.period_index = u.period_index
       WHERE u.merchant_id = $3 AND u.released > 0
       ORDER BY u.period_index, u.subscription_id, u.price_id
      """;

  // In the order of their ids, as the fold locks them.
  private static final String LIVING =
      """
      SELECT id FROM allocation_block
       WHERE merchant_id = $1 AND id = ANY ($2::uuid[]) AND (expires_at IS NULL OR expires_at > $3)
       ORDER BY id
         FOR NO KEY UPDATE
      """;

  private static final String AVAILABLE =
      """
      SELECT id, customer_id, custom_pricing_unit_id, remaining, effective_at, expires_at,
             created_at
        FROM allocation_block
       WHERE merchant_id = $1 AND customer_id = ANY ($2::uuid[])
         AND custom_pricing_unit_id = ANY ($3::uuid[]) AND remaining > 0
         AND effective_at <= $4 AND (expires_at IS NULL OR expires_at > $4)
       ORDER BY id
         FOR NO KEY UPDATE
      """;

  private static final String MOVE =
      """
      WITH input AS (
        SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[]::numeric[], $5::uuid[],
                             $6::uuid[])
          AS t (transaction_id, customer_id, block_id, amount, billable_id, operation_id)
      ), moved AS (
        UPDATE allocation_block b SET remaining = b.remaining + i.amount
          FROM (SELECT block_id, sum(amount) AS amount FROM input GROUP BY block_id) i
         WHERE b.merchant_id = $7 AND b.id = i.block_id
      )
      INSERT INTO credit_transaction (id, merchant_id, customer_id, allocation_block_id, type,
          amount, billable_id, operation_id, created_at)
      SELECT transaction_id, $7, customer_id, block_id, $8, amount, billable_id, operation_id, $9
        FROM input
      """;

  private static final String FORGET_DRAWS =
      """
      UPDATE credit_draw d SET drawn = 0
        FROM unnest($1::uuid[], $2::integer[]) AS w (subscription_id, period_index)
       WHERE d.merchant_id = $3 AND d.subscription_id = w.subscription_id
         AND d.period_index = w.period_index AND d.drawn > 0
      """;

  private static final String RELEASE =
      """
      UPDATE credit_usage u SET released = u.released + u.drawn, drawn = 0
        FROM unnest($1::uuid[], $2::integer[]) AS w (subscription_id, period_index)
       WHERE u.merchant_id = $3 AND u.subscription_id = w.subscription_id
         AND u.period_index = w.period_index AND u.drawn > 0
      """;

  private static final String REMEMBER_DRAWS =
      """
      INSERT INTO credit_draw AS d (merchant_id, subscription_id, period_index, price_id,
                                    allocation_block_id, drawn, drawn_at)
      SELECT $6, w.subscription_id, w.period_index, w.price_id, w.block_id, w.drawn, $7
        FROM unnest($1::uuid[], $2::integer[], $3::uuid[], $4::uuid[], $5::text[]::numeric[])
          AS w (subscription_id, period_index, price_id, block_id, drawn)
      ON CONFLICT (subscription_id, period_index, price_id, allocation_block_id) DO UPDATE
      SET drawn = d.drawn + excluded.drawn, drawn_at = greatest(d.drawn_at, excluded.drawn_at)
      """;

  private static final String SETTLE =
      """
      UPDATE credit_usage u SET drawn = u.drawn + w.drawn, released = 0
        FROM unnest($1::uuid[], $2::integer[], $3::uuid[], $4::text[]::numeric[])
          AS w (subscription_id, period_index, price_id, drawn)
       WHERE u.merchant_id = $5 AND u.subscription_id = w.subscription_id
         AND u.period_index = w.period_index AND u.price_id = w.price_id
      """;

  private static final String DRAWING =
      """
      SELECT u.subscription_id, u.period_index, u.price_id, p.billable_id, s.customer_id
        FROM credit_usage u
        JOIN price p ON p.merchant_id = $1 AND p.id = u.price_id
        JOIN subscription s ON s.merchant_id = $1 AND s.id = u.subscription_id
       WHERE u.merchant_id = $1 AND u.subscription_id = $2 AND u.drawn > 0
      """;

  private static final String DONE =
      """
      SELECT DISTINCT operation_id FROM credit_transaction
       WHERE merchant_id = $1 AND operation_id = ANY ($2::uuid[])
      """;

  /** What a price has asked for in a period. */
  record Use(PeriodKey period, UUID priceId, UUID billableId, UUID customerId) {}

  record Drawn(Use use, UUID blockId, BigDecimal amount) {}

  /**
   * @param units to be drawn
   */
  record Wanted(Use use, UUID unitId, BigDecimal units) {}

  /** A customer's block of a unit. */
  record Available(UUID customerId, UUID unitId, CreditDrawdown.Block block) {}

  /** What a price got again. */
  record Settled(Use use, BigDecimal drawn) {}

  Future<List<Drawn>> draws(SqlClient transaction, UUID merchantId, Collection<PeriodKey> periods) {
    return list(
        transaction.preparedQuery(DRAWS).execute(columns(periods, merchantId)),
        row -> new Drawn(use(row), row.getUUID("allocation_block_id"), row.getBigDecimal("drawn")));
  }

  /** What has drawn units of all periods of a subscription. */
  Future<List<Use>> drawing(SqlClient transaction, UUID merchantId, UUID subscriptionId) {
    return list(
        transaction.preparedQuery(DRAWING).execute(Tuple.of(merchantId, subscriptionId)),
        ReversalStore::use);
  }

  /** Those of the operations that have rows in the ledger. */
  Future<List<UUID>> done(SqlClient transaction, UUID merchantId, Collection<UUID> operations) {
    return list(
        transaction
            .preparedQuery(DONE)
            .execute(Tuple.of(merchantId, (Object) operations.toArray(UUID[]::new))),
        row -> row.getUUID("operation_id"));
  }

  Future<List<Wanted>> open(SqlClient transaction, UUID merchantId, Collection<PeriodKey> periods) {
    return list(
        transaction.preparedQuery(OPEN).execute(columns(periods, merchantId)),
        row ->
            new Wanted(
                use(row), row.getUUID("custom_pricing_unit_id"), row.getBigDecimal("wanted")));
  }

  /** Those of the blocks that may still be drawn from; locked. */
  Future<List<UUID>> living(
      SqlClient transaction, UUID merchantId, Collection<UUID> blocks, Instant now) {
    return list(
        transaction
            .preparedQuery(LIVING)
            .execute(Tuple.of(merchantId, blocks.toArray(UUID[]::new), Sql.time(now))),
        row -> row.getUUID("id"));
  }

  /** Blocks with units that may be drawn now, some perhaps of a unit nobody asked for; locked. */
  Future<List<Available>> available(
      SqlClient transaction, UUID merchantId, List<Wanted> wanted, Instant now) {
    UUID[] customers =
        wanted.stream().map(each -> each.use().customerId()).distinct().toArray(UUID[]::new);
    UUID[] units = wanted.stream().map(Wanted::unitId).distinct().toArray(UUID[]::new);
    return list(
        transaction
            .preparedQuery(AVAILABLE)
            .execute(Tuple.of(merchantId, customers, units, Sql.time(now))),
        row ->
            new Available(
                row.getUUID("customer_id"),
                row.getUUID("custom_pricing_unit_id"),
                new CreditDrawdown.Block(
                    row.getUUID("id"),
                    row.getBigDecimal("remaining"),
                    Sql.instant(row, "effective_at"),
                    Sql.instant(row, "expires_at"),
                    Sql.instant(row, "created_at"))));
  }

  /**
   * Adds the amounts, negative ones too, to what remains of the blocks, with a ledger row each.
   *
   * @param operation the id of the operation that a use's rows belong to
   */
  Future<Void> move(
      SqlClient transaction,
      UUID merchantId,
      TransactionType type,
      List<Drawn> moves,
      Function<Use, UUID> operation,
      Instant now) {
    if (moves.isEmpty()) {
      return Future.succeededFuture();
    }
    return transaction
        .preparedQuery(MOVE)
        .execute(
            new Columns<>(moves)
                .uuids(move -> Ids.nextUuid())
                .uuids(move -> move.use().customerId())
                .uuids(Drawn::blockId)
                .numbers(Drawn::amount)
                .uuids(move -> move.use().billableId())
                .uuids(move -> operation.apply(move.use()))
                .and(merchantId, type.wire(), Sql.time(now)))
        .mapEmpty();
  }

  /** Turns all that the periods have drawn into released units. */
  Future<Void> release(SqlClient transaction, UUID merchantId, Collection<PeriodKey> periods) {
    return transaction
        .preparedQuery(FORGET_DRAWS)
        .execute(columns(periods, merchantId))
        .compose(done -> transaction.preparedQuery(RELEASE).execute(columns(periods, merchantId)))
        .mapEmpty();
  }

  Future<Void> settle(SqlClient transaction, UUID merchantId, List<Settled> settled) {
    return transaction
        .preparedQuery(SETTLE)
        .execute(
            new Columns<>(settled)
                .uuids(each -> each.use().period().subscriptionId().uuid())
                .integers(each -> each.use().period().index())
                .uuids(each -> each.use().priceId())
                .numbers(Settled::drawn)
                .and(merchantId))
        .mapEmpty();
  }

  Future<Void> remember(SqlClient transaction, UUID merchantId, List<Drawn> draws, Instant now) {
    if (draws.isEmpty()) {
      return Future.succeededFuture();
    }
    return transaction
        .preparedQuery(REMEMBER_DRAWS)
        .execute(
            new Columns<>(draws)
                .uuids(draw -> draw.use().period().subscriptionId().uuid())
                .integers(draw -> draw.use().period().index())
                .uuids(draw -> draw.use().priceId())
                .uuids(Drawn::blockId)
                .numbers(Drawn::amount)
                .and(merchantId, Sql.time(now)))
        .mapEmpty();
  }

  private static Tuple columns(Collection<PeriodKey> periods, UUID merchantId) {
    return new Columns<>(periods)
        .uuids(period -> period.subscriptionId().uuid())
        .integers(PeriodKey::index)
        .and(merchantId);
  }

  private static Use use(Row row) {
    return new Use(
        new PeriodKey(
            Sql.id(row, "subscription_id", IdKind.SUBSCRIPTION), row.getInteger("period_index")),
        row.getUUID("price_id"),
        row.getUUID("billable_id"),
        row.getUUID("customer_id"));
  }

  private static <T> Future<List<T>> list(Future<RowSet<Row>> rows, Function<Row, T> mapping) {
    return rows.map(
        found -> {
          List<T> list = new ArrayList<>(found.size());
          found.forEach(row -> list.add(mapping.apply(row)));
          return list;
        });
  }
}
