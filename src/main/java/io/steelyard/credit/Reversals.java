package io.steelyard.credit;

import io.steelyard.db.Columns;
import io.steelyard.db.Ids;
import io.steelyard.db.Sql;
import io.steelyard.domain.TransactionType;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlConnection;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Gives back the units that the usage of periods has drawn, so that it can be drawn anew. */
public final class Reversals {
  // The blocks in the order of their ids, as the fold locks them.
  private static final String DRAWS =
      """
      SELECT d.subscription_id, d.period_index, d.price_id, d.drawn, b.id AS block_id,
             b.customer_id, p.billable_id,
             (SELECT count(*) FROM credit_transaction t
               WHERE t.merchant_id = $3 AND t.allocation_block_id = b.id AND t.type = 'reversal')
               AS reversals
        FROM unnest($1::uuid[], $2::integer[]) AS w(subscription_id, period_index)
        JOIN credit_draw d
          ON d.subscription_id = w.subscription_id AND d.period_index = w.period_index
         AND d.merchant_id = $3 AND d.drawn > 0
        JOIN allocation_block b ON b.merchant_id = $3 AND b.id = d.allocation_block_id
        JOIN price p ON p.merchant_id = $3 AND p.id = d.price_id
       WHERE b.expires_at IS NULL OR b.expires_at > $4
       ORDER BY b.id
         FOR NO KEY UPDATE OF b
      """;

  private static final String REFILL =
      """
      UPDATE allocation_block b SET remaining = b.remaining + g.given
        FROM (SELECT block_id, sum(drawn) AS given
                FROM unnest($1::uuid[], $2::text[]::numeric[]) AS t(block_id, drawn)
               GROUP BY block_id) g
       WHERE b.merchant_id = $3 AND b.id = g.block_id
      """;

  private static final String ADD_TO_LEDGER =
      """
      INSERT INTO credit_transaction (id, merchant_id, customer_id, allocation_block_id, type,
          amount, billable_id, operation_id, created_at)
      SELECT t.id, $7, t.customer_id, t.block_id, $8, t.amount, t.billable_id, t.operation_id, $9
        FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[]::numeric[], $5::uuid[],
                    $6::uuid[]) AS t(id, customer_id, block_id, amount, billable_id, operation_id)
      """;

  // What was drawn from blocks that have expired is gone, but is owed again as well.
  private static final String RELEASE =
      """
      WITH wanted AS (
        SELECT * FROM unnest($1::uuid[], $2::integer[]) AS w(subscription_id, period_index)
      ), undrawn AS (
        UPDATE credit_draw d SET drawn = 0
          FROM wanted w
         WHERE d.merchant_id = $3 AND d.subscription_id = w.subscription_id
           AND d.period_index = w.period_index AND d.drawn > 0
      )
      UPDATE credit_usage u SET released = u.released + u.drawn, drawn = 0
        FROM wanted w
       WHERE u.merchant_id = $3 AND u.subscription_id = w.subscription_id
         AND u.period_index = w.period_index AND u.drawn > 0
      """;

  /** A period of a subscription. */
  public record Period(UUID subscriptionId, int periodIndex) {}

  private record Draw(
      Period period,
      UUID priceId,
      UUID blockId,
      UUID customerId,
      UUID billableId,
      BigDecimal drawn,
      long reversals) {
    private static Draw of(Row row) {
      return new Draw(
          new Period(row.getUUID("subscription_id"), row.getInteger("period_index")),
          row.getUUID("price_id"),
          row.getUUID("block_id"),
          row.getUUID("customer_id"),
          row.getUUID("billable_id"),
          row.getBigDecimal("drawn"),
          row.getLong("reversals"));
    }

    /** A block's draws may be reversed several times: each time is an operation of its own. */
    private UUID operation() {
      return Ids.operation(
          "release:%s:%d:%s:%s:%d"
              .formatted(
                  period.subscriptionId(), period.periodIndex(), priceId, blockId, reversals));
    }
  }

  /**
   * Gives back what the usage of these periods has drawn from blocks that are still alive, and
   * notes that it is to be drawn again. The caller holds the customer's lock.
   *
   * @param now the merchant's time
   */
  public Future<Void> release(
      SqlConnection tx, UUID merchantId, List<Period> periods, Instant now) {
    if (periods.isEmpty()) {
      return Future.succeededFuture();
    }
    return tx.preparedQuery(DRAWS)
        .execute(columns(periods).and(merchantId, Sql.time(now)))
        .compose(
            rows -> {
              List<Draw> draws = new ArrayList<>();
              rows.forEach(row -> draws.add(Draw.of(row)));
              return draws.isEmpty()
                  ? Future.succeededFuture()
                  : refill(tx, merchantId, draws)
                      .compose(done -> addToLedger(tx, merchantId, draws, now));
            })
        .compose(done -> tx.preparedQuery(RELEASE).execute(columns(periods).and(merchantId)))
        .mapEmpty();
  }

  private static Columns<Period> columns(List<Period> periods) {
    return new Columns<>(periods).uuids(Period::subscriptionId).integers(Period::periodIndex);
  }

  private static Future<Void> refill(SqlConnection tx, UUID merchantId, List<Draw> draws) {
    return tx.preparedQuery(REFILL)
        .execute(new Columns<>(draws).uuids(Draw::blockId).numbers(Draw::drawn).and(merchantId))
        .mapEmpty();
  }

  private static Future<Void> addToLedger(
      SqlConnection tx, UUID merchantId, List<Draw> draws, Instant now) {
    return tx.preparedQuery(ADD_TO_LEDGER)
        .execute(
            new Columns<>(draws)
                .uuids(draw -> Ids.nextUuid())
                .uuids(Draw::customerId)
                .uuids(Draw::blockId)
                .numbers(Draw::drawn)
                .uuids(Draw::billableId)
                .uuids(Draw::operation)
                .and(merchantId, TransactionType.REVERSAL.wire(), Sql.time(now)))
        .mapEmpty();
  }
}
