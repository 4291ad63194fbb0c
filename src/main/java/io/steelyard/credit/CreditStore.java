package io.steelyard.credit;

import io.steelyard.db.Columns;
import io.steelyard.db.Ids;
import io.steelyard.db.Sql;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.TransactionType;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Allocation blocks, and what is left of them. */
public final class CreditStore {
  private static final String INSERT_BLOCKS =
      """
      WITH input AS (
        SELECT * FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::int[], $7::uuid[],
                             $8::numeric[], $9::timestamptz[], $10::timestamptz[], $11::uuid[],
                             $12::uuid[], $13::text[], $15::text[], $16::text[]::numeric[])
          AS t(id, customer_id, unit_id, subscription_id, period_index, invoice_id, amount,
               effective_at, expires_at, transaction_id, operation_id, type, origin, rollover_max)
      ), blocks AS (
        INSERT INTO allocation_block (id, merchant_id, customer_id, custom_pricing_unit_id,
            subscription_id, period_index, invoice_id, amount, remaining, effective_at, expires_at,
            created_at, origin, rollover_max)
        SELECT id, $1, customer_id, unit_id, subscription_id, period_index, invoice_id, amount,
               amount, effective_at, expires_at, $14, origin, rollover_max
          FROM input
      )
      INSERT INTO credit_transaction (id, merchant_id, customer_id, allocation_block_id, type,
          amount, operation_id, created_at)
      SELECT transaction_id, $1, customer_id, id, type, amount, operation_id, $14 FROM input
      """;

  private static final String CLIP =
      """
      WITH clipped AS MATERIALIZED (
        SELECT id FROM allocation_block
         WHERE merchant_id = $1 AND subscription_id = $2 AND expires_at > $3 AND effective_at < $3
         ORDER BY id FOR NO KEY UPDATE
      )
      UPDATE allocation_block b SET expires_at = $3
        FROM clipped c WHERE b.merchant_id = $1 AND b.id = c.id
      """;

  private static final String CLIPPED_AT =
      """
      SELECT b.id, b.custom_pricing_unit_id, p.opened_at, b.effective_at, b.expires_at
        FROM allocation_block b
        JOIN subscription_period p
          ON p.merchant_id = b.merchant_id AND p.subscription_id = b.subscription_id
         AND p.period_index = b.period_index
       WHERE b.merchant_id = $1 AND b.subscription_id = $2 AND b.expires_at = $3
       ORDER BY b.id FOR NO KEY UPDATE OF b
      """;

  private static final String EXTEND =
      """
      UPDATE allocation_block b SET expires_at = t.expires_at
        FROM unnest($1::uuid[], $2::timestamptz[]) AS t(id, expires_at)
       WHERE b.merchant_id = $3 AND b.id = t.id
      """;

  /**
   * A block of a subscription, and until when it may be used.
   *
   * @param pricedAt when the period it was allocated in opened, by the system's time
   * @param expiresAt exclusive
   */
  public record BlockTerm(
      UUID id, Id unitId, Instant pricedAt, Instant effectiveAt, Instant expiresAt) {
    public BlockTerm until(Instant end) {
      return new BlockTerm(id, unitId, pricedAt, effectiveAt, end);
    }
  }

  /**
   * A block to be.
   *
   * @param subscriptionId null for a manual allocation, as are {@code periodIndex} and {@code
   *     invoiceId}
   * @param expiresAt exclusive; null for never
   * @param rolloverMax how many units left at its end live one more period; null for none
   * @param cause what the allocation is for, unique to it: replaying it collides
   */
  public record NewBlock(
      Id id,
      Id customerId,
      Id unitId,
      Id subscriptionId,
      Integer periodIndex,
      Id invoiceId,
      BigDecimal amount,
      Instant effectiveAt,
      Instant expiresAt,
      BigDecimal rolloverMax,
      TransactionType type,
      String cause) {
    public boolean isValidAt(Instant now) {
      return !effectiveAt.isAfter(now) && (expiresAt == null || expiresAt.isAfter(now));
    }

    /** What the block came from. */
    private String origin() {
      return switch (type) {
        case PLAN_ALLOCATION -> "plan";
        case ROLLOVER -> "rollover";
        case MANUAL_ALLOCATION -> "manual";
        case USAGE, EXPIRATION, REVERSAL ->
            throw new IllegalStateException(type + " makes no block");
      };
    }
  }

  /** Inserts blocks, each with the ledger row that fills it. */
  public Future<Void> allocate(
      SqlClient transaction, UUID merchantId, List<NewBlock> blocks, Instant now) {
    if (blocks.isEmpty()) {
      return Future.succeededFuture();
    }
    Tuple parameters =
        Tuple.of(
            merchantId,
            blocks.stream().map(b -> b.id().uuid()).toArray(UUID[]::new),
            blocks.stream().map(b -> b.customerId().uuid()).toArray(UUID[]::new),
            blocks.stream().map(b -> b.unitId().uuid()).toArray(UUID[]::new),
            blocks.stream().map(b -> uuid(b.subscriptionId())).toArray(UUID[]::new),
            blocks.stream().map(NewBlock::periodIndex).toArray(Integer[]::new));
    parameters
        .addValue(blocks.stream().map(b -> uuid(b.invoiceId())).toArray(UUID[]::new))
        .addValue(blocks.stream().map(NewBlock::amount).toArray(BigDecimal[]::new))
        .addValue(
            blocks.stream().map(b -> Sql.time(b.effectiveAt())).toArray(OffsetDateTime[]::new))
        .addValue(blocks.stream().map(b -> Sql.time(b.expiresAt())).toArray(OffsetDateTime[]::new))
        .addValue(blocks.stream().map(b -> Ids.nextUuid()).toArray(UUID[]::new))
        .addValue(blocks.stream().map(b -> Ids.operation(b.cause())).toArray(UUID[]::new))
        .addValue(blocks.stream().map(b -> b.type().wire()).toArray(String[]::new))
        .addValue(Sql.time(now))
        .addValue(blocks.stream().map(NewBlock::origin).toArray(String[]::new))
        .addValue(
            blocks.stream()
                .map(b -> b.rolloverMax() == null ? null : b.rolloverMax().toString())
                .toArray(String[]::new));
    return transaction.preparedQuery(INSERT_BLOCKS).execute(parameters).mapEmpty();
  }

  /** Lets a subscription's blocks expire no later than at its end. */
  public Future<Void> clip(SqlClient tx, UUID merchantId, Id subscriptionId, Instant end) {
    return tx.preparedQuery(CLIP)
        .execute(Tuple.of(merchantId, subscriptionId.uuid(), Sql.time(end)))
        .mapEmpty();
  }

  /** A subscription's blocks that expire at {@code end}; locked. */
  public Future<List<BlockTerm>> clippedAt(
      SqlClient tx, UUID merchantId, Id subscriptionId, Instant end) {
    return tx.preparedQuery(CLIPPED_AT)
        .execute(Tuple.of(merchantId, subscriptionId.uuid(), Sql.time(end)))
        .map(
            rows -> {
              List<BlockTerm> terms = new ArrayList<>();
              rows.forEach(
                  row ->
                      terms.add(
                          new BlockTerm(
                              row.getUUID("id"),
                              Sql.id(row, "custom_pricing_unit_id", IdKind.CUSTOM_PRICING_UNIT),
                              Sql.instant(row, "opened_at"),
                              Sql.instant(row, "effective_at"),
                              Sql.instant(row, "expires_at"))));
              return terms;
            });
  }

  /** Gives blocks another expiry. */
  public Future<Void> extend(SqlClient tx, UUID merchantId, List<BlockTerm> blocks) {
    if (blocks.isEmpty()) {
      return Future.succeededFuture();
    }
    return tx.preparedQuery(EXTEND)
        .execute(
            new Columns<>(blocks).uuids(BlockTerm::id).times(BlockTerm::expiresAt).and(merchantId))
        .mapEmpty();
  }

  private static UUID uuid(Id id) {
    return id == null ? null : id.uuid();
  }
}
