package io.steelyard.credit;

import io.steelyard.credit.CreditStore.NewBlock;
import io.steelyard.db.Columns;
import io.steelyard.db.Ids;
import io.steelyard.db.Sql;
import io.steelyard.domain.TransactionType;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Moves units left of a plan's block into one that lives as long as the plan's next block. */
public final class RolloverStore {
  // In the order of their ids, as the fold and expiry lock them.
  private static final String LEFT_OVER =
      """
      SELECT b.id, b.subscription_id, b.custom_pricing_unit_id, b.expires_at, b.created_at,
             least(b.remaining, b.rollover_max) AS amount
        FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) AS n (subscription_id, unit_id, at)
        JOIN allocation_block b
          ON b.subscription_id = n.subscription_id AND b.custom_pricing_unit_id = n.unit_id
         AND b.expires_at = n.at
       WHERE b.merchant_id = $4 AND b.origin = 'plan' AND b.rollover_max > 0 AND b.remaining > 0
       ORDER BY b.id
         FOR NO KEY UPDATE OF b
      """;

  private static final String TAKE_OUT =
      """
      WITH input AS (
        SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[]::numeric[],
                             $5::uuid[])
          AS t (transaction_id, block_id, customer_id, amount, operation_id)
      ), taken AS (
        UPDATE allocation_block b SET remaining = b.remaining - i.amount
          FROM input i WHERE b.merchant_id = $6 AND b.id = i.block_id
      )
      INSERT INTO credit_transaction (id, merchant_id, customer_id, allocation_block_id, type,
          amount, operation_id, created_at)
      SELECT transaction_id, $6, customer_id, block_id, $7, -amount, operation_id, $8 FROM input
      """;

  private static final String PUT_IN =
      """
      WITH input AS (
        SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[],
                             $6::integer[], $7::uuid[], $8::text[]::numeric[], $9::timestamptz[],
                             $10::timestamptz[], $11::timestamptz[], $12::uuid[])
          AS t (id, transaction_id, customer_id, unit_id, subscription_id, period_index, invoice_id,
                amount, effective_at, expires_at, created_at, operation_id)
      ), blocks AS (
        INSERT INTO allocation_block (id, merchant_id, customer_id, custom_pricing_unit_id,
            subscription_id, period_index, invoice_id, amount, remaining, effective_at, expires_at,
            created_at, origin, rollover_max)
        SELECT id, $13, customer_id, unit_id, subscription_id, period_index, invoice_id, amount,
               amount, effective_at, expires_at, created_at, 'rollover', NULL
          FROM input
      )
      INSERT INTO credit_transaction (id, merchant_id, customer_id, allocation_block_id, type,
          amount, operation_id, created_at)
      SELECT transaction_id, $13, customer_id, id, $14, amount, operation_id, $15 FROM input
      """;

  /** What a block goes by that takes over from the ones before. */
  private record Successor(UUID subscriptionId, UUID unitId, Instant at) {
    static Successor of(NewBlock block) {
      return new Successor(
          block.subscriptionId().uuid(), block.unitId().uuid(), block.effectiveAt());
    }

    UUID operationId() {
      return Ids.operation("rollover:%s:%s:%s".formatted(subscriptionId, unitId, at));
    }
  }

  /**
   * @param amount what it may pass on
   */
  private record Left(Successor to, UUID blockId, BigDecimal amount, Instant createdAt) {}

  /**
   * @param createdAt of the oldest units
   */
  private record Rolled(NewBlock beside, BigDecimal amount, Instant createdAt) {
    Rolled plus(Left left) {
      return new Rolled(
          beside,
          amount.add(left.amount()),
          createdAt.isBefore(left.createdAt()) ? createdAt : left.createdAt());
    }
  }

  /**
   * Rolls over what is left of the plan's blocks that end where those in {@code opened} begin. The
   * caller holds the locks of the customers. Doing it again for the same blocks finds nothing left,
   * or else fails as a second rollover of the same slice.
   *
   * @param opened blocks just allocated, of any kind; only a plan's take anything over
   * @param at by the merchant's clock
   */
  public Future<Void> rollOver(
      SqlClient transaction, UUID merchantId, List<NewBlock> opened, Instant at) {
    Map<Successor, NewBlock> successors = new LinkedHashMap<>();
    opened.stream()
        .filter(block -> block.type() == TransactionType.PLAN_ALLOCATION)
        .forEach(block -> successors.put(Successor.of(block), block));
    if (successors.isEmpty()) {
      return Future.succeededFuture();
    }
    return leftOver(transaction, merchantId, successors)
        .compose(
            left ->
                left.isEmpty()
                    ? Future.succeededFuture()
                    : takeOut(transaction, merchantId, successors, left, at)
                        .compose(taken -> putIn(transaction, merchantId, successors, left, at)));
  }

  private static Future<List<Left>> leftOver(
      SqlClient transaction, UUID merchantId, Map<Successor, NewBlock> successors) {
    Columns<Successor> wanted =
        new Columns<>(successors.keySet())
            .uuids(Successor::subscriptionId)
            .uuids(Successor::unitId)
            .times(Successor::at);
    return transaction
        .preparedQuery(LEFT_OVER)
        .execute(wanted.and(merchantId))
        .map(
            rows -> {
              List<Left> left = new ArrayList<>(rows.size());
              rows.forEach(row -> left.add(left(row)));
              return left;
            });
  }

  private static Left left(Row row) {
    return new Left(
        new Successor(
            row.getUUID("subscription_id"),
            row.getUUID("custom_pricing_unit_id"),
            Sql.instant(row, "expires_at")),
        row.getUUID("id"),
        row.getBigDecimal("amount"),
        Sql.instant(row, "created_at"));
  }

  private static Future<Void> takeOut(
      SqlClient transaction,
      UUID merchantId,
      Map<Successor, NewBlock> successors,
      List<Left> left,
      Instant at) {
    return transaction
        .preparedQuery(TAKE_OUT)
        .execute(
            new Columns<>(left)
                .uuids(row -> Ids.nextUuid())
                .uuids(Left::blockId)
                .uuids(row -> successors.get(row.to()).customerId().uuid())
                .numbers(Left::amount)
                .uuids(row -> row.to().operationId())
                .and(merchantId, TransactionType.ROLLOVER.wire(), Sql.time(at)))
        .mapEmpty();
  }

  /** As old as the oldest units in it, so that these go before the ones that came new. */
  private static Future<Void> putIn(
      SqlClient transaction,
      UUID merchantId,
      Map<Successor, NewBlock> successors,
      List<Left> left,
      Instant at) {
    Map<Successor, Rolled> rolled = new LinkedHashMap<>();
    for (Left each : left) {
      rolled.computeIfAbsent(
          each.to(), to -> new Rolled(successors.get(to), BigDecimal.ZERO, each.createdAt()));
      rolled.computeIfPresent(each.to(), (to, sum) -> sum.plus(each));
    }
    return transaction
        .preparedQuery(PUT_IN)
        .execute(
            new Columns<>(rolled.values())
                .uuids(row -> Ids.nextUuid())
                .uuids(row -> Ids.nextUuid())
                .uuids(row -> row.beside().customerId().uuid())
                .uuids(row -> row.beside().unitId().uuid())
                .uuids(row -> row.beside().subscriptionId().uuid())
                .integers(row -> row.beside().periodIndex())
                .uuids(
                    row ->
                        row.beside().invoiceId() == null ? null : row.beside().invoiceId().uuid())
                .numbers(Rolled::amount)
                .times(row -> row.beside().effectiveAt())
                .times(row -> row.beside().expiresAt())
                .times(Rolled::createdAt)
                .uuids(row -> Successor.of(row.beside()).operationId())
                .and(merchantId, TransactionType.ROLLOVER.wire(), Sql.time(at)))
        .mapEmpty();
  }
}
