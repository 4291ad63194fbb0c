package io.steelyard.credit;

import io.steelyard.db.Columns;
import io.steelyard.db.CustomerLocks;
import io.steelyard.db.Ids;
import io.steelyard.db.Sql;
import io.steelyard.domain.TransactionType;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** Writes off what is left of blocks whose time is over, so that nothing can draw from it. */
public final class ExpiryStore {
  /** A block {@code b} whose parked subscription has yet to take over what is left of it. */
  public static final String AWAITS_ROLLOVER =
      """
      b.origin = 'plan' AND b.rollover_max > 0 AND EXISTS (
        SELECT FROM subscription p
         WHERE p.merchant_id = b.merchant_id AND p.id = b.subscription_id
           AND p.parked_at IS NOT NULL AND p.due_at <= b.expires_at)
      """;

  // A block waits for the subscriptions of its customer that are behind: what is left of it may be
  // theirs to roll over, and usage of its time may not have been counted yet. It waits too for
  // periods that have just been opened or allocated units, until what had waited for that has been
  // counted. Nobody knows for how long one is parked: only what that would roll over itself waits
  // for it. That such a period is not ready is said once more, for its index.
  private static final String CANDIDATES =
      """
      SELECT b.id, b.customer_id
        FROM allocation_block b
       WHERE b.merchant_id = $1 AND b.expires_at <= $2 AND b.remaining > 0
         AND NOT EXISTS (
           SELECT FROM subscription s
            WHERE s.merchant_id = $1 AND s.customer_id = b.customer_id
              AND s.due_at <= b.expires_at AND s.parked_at IS NULL)
         AND NOT EXISTS (
           SELECT FROM subscription_period p
             JOIN subscription s ON s.merchant_id = p.merchant_id AND s.id = p.subscription_id
            WHERE p.merchant_id = $1 AND p.customer_id = b.customer_id
              AND p.period_start < b.expires_at AND p.ready_until < p.period_end
              AND p.ready_until < least(p.period_end, b.expires_at) AND s.parked_at IS NULL)
         AND NOT (%s)
       ORDER BY b.expires_at, b.id LIMIT $3
      """
          .formatted(AWAITS_ROLLOVER);

  // In the order of their ids, as the fold and rollover lock them. What another run has expired
  // meanwhile, or a late event has emptied, drops out here.
  private static final String LOCK =
      """
      SELECT id, customer_id, remaining FROM allocation_block
       WHERE merchant_id = $1 AND id = ANY ($2::uuid[]) AND remaining > 0
       ORDER BY id
         FOR NO KEY UPDATE
      """;

  private static final String EMPTY =
      """
      UPDATE allocation_block SET remaining = 0 WHERE merchant_id = $1 AND id = ANY ($2::uuid[])
      """;

  private static final String WRITE_OFF =
      """
      INSERT INTO credit_transaction (id, merchant_id, customer_id, allocation_block_id, type,
          amount, operation_id, created_at)
      SELECT t.transaction_id, $6, t.customer_id, t.block_id, $7, -t.amount, t.operation_id, $8
        FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[]::numeric[], $5::uuid[])
          AS t (transaction_id, block_id, customer_id, amount, operation_id)
      ON CONFLICT (operation_id, allocation_block_id) DO NOTHING
      RETURNING allocation_block_id
      """;

  private static final String WRITTEN_OFF =
      """
      SELECT allocation_block_id AS id, count(*) AS times FROM credit_transaction
       WHERE merchant_id = $1 AND allocation_block_id = ANY ($2::uuid[]) AND type = $3
       GROUP BY allocation_block_id
      """;

  /** What the first row is known by that writes a block off. */
  public static UUID operation(UUID blockId) {
    return Ids.operation("expire:" + blockId);
  }

  private record Expired(UUID blockId, UUID customerId, BigDecimal amount, UUID operationId) {
    static Expired of(Row row) {
      UUID blockId = row.getUUID("id");
      return new Expired(
          blockId, row.getUUID("customer_id"), row.getBigDecimal("remaining"), operation(blockId));
    }

    Expired again(long times) {
      return new Expired(
          blockId, customerId, amount, Ids.operation("expire:" + blockId + ":" + times));
    }
  }

  /**
   * Expires up to {@code max} blocks, the first to expire first, but none whose customer has a
   * subscription that the clockwork has not brought past the block's end, or a period that has not
   * been brought up to date so far. Takes the locks of their customers, so the caller holds none,
   * and nothing else that a fold waits for. Another run may take some of them first.
   *
   * @param expiredBy blocks that ended by then, by the merchant's clock
   * @param now the date of the ledger's rows
   * @return how many
   */
  public Future<Integer> expire(
      SqlConnection transaction, UUID merchantId, Instant expiredBy, Instant now, int max) {
    return transaction
        .preparedQuery(CANDIDATES)
        .execute(Tuple.of(merchantId, Sql.time(expiredBy), max))
        .compose(
            rows -> {
              Set<UUID> customers = new HashSet<>();
              rows.forEach(row -> customers.add(row.getUUID("customer_id")));
              return CustomerLocks.lock(transaction, customers)
                  .compose(locked -> lock(transaction, merchantId, ids(rows)));
            })
        .compose(
            expired ->
                expired.isEmpty()
                    ? Future.succeededFuture(0)
                    : empty(transaction, merchantId, expired)
                        .compose(done -> writeOff(transaction, merchantId, expired, now))
                        .map(expired.size()));
  }

  private static UUID[] ids(RowSet<Row> rows) {
    List<UUID> ids = new ArrayList<>(rows.size());
    rows.forEach(row -> ids.add(row.getUUID("id")));
    return ids.toArray(UUID[]::new);
  }

  private static Future<List<Expired>> lock(SqlClient transaction, UUID merchantId, UUID[] ids) {
    if (ids.length == 0) {
      return Future.succeededFuture(List.of());
    }
    return transaction
        .preparedQuery(LOCK)
        .execute(Tuple.of(merchantId, (Object) ids))
        .map(
            rows -> {
              List<Expired> expired = new ArrayList<>(rows.size());
              rows.forEach(row -> expired.add(Expired.of(row)));
              return expired;
            });
  }

  private static Future<Void> empty(SqlClient transaction, UUID merchantId, List<Expired> expired) {
    UUID[] ids = expired.stream().map(Expired::blockId).toArray(UUID[]::new);
    return transaction.preparedQuery(EMPTY).execute(Tuple.of(merchantId, (Object) ids)).mapEmpty();
  }

  /**
   * A block is expired once, after which nobody gives units back to it; builds of before do, where
   * a clock lags behind this one by more than the grace. They are written off by rows of their own
   * then.
   */
  private static Future<Void> writeOff(
      SqlClient transaction, UUID merchantId, List<Expired> expired, Instant now) {
    return insert(transaction, merchantId, expired, now)
        .compose(
            written -> {
              List<Expired> before =
                  expired.stream().filter(row -> !written.contains(row.blockId())).toList();
              return before.isEmpty()
                  ? Future.succeededFuture()
                  : writeOffAgain(transaction, merchantId, before, now);
            });
  }

  private static Future<Set<UUID>> insert(
      SqlClient transaction, UUID merchantId, List<Expired> expired, Instant now) {
    return transaction
        .preparedQuery(WRITE_OFF)
        .execute(
            new Columns<>(expired)
                .uuids(row -> Ids.nextUuid())
                .uuids(Expired::blockId)
                .uuids(Expired::customerId)
                .numbers(Expired::amount)
                .uuids(Expired::operationId)
                .and(merchantId, TransactionType.EXPIRATION.wire(), Sql.time(now)))
        .map(
            rows -> {
              Set<UUID> written = new HashSet<>();
              rows.forEach(row -> written.add(row.getUUID("allocation_block_id")));
              return written;
            });
  }

  private static Future<Void> writeOffAgain(
      SqlClient transaction, UUID merchantId, List<Expired> expired, Instant now) {
    UUID[] ids = expired.stream().map(Expired::blockId).toArray(UUID[]::new);
    return transaction
        .preparedQuery(WRITTEN_OFF)
        .execute(Tuple.of(merchantId, ids, TransactionType.EXPIRATION.wire()))
        .compose(
            rows -> {
              List<Expired> again = new ArrayList<>(rows.size());
              for (Row row : rows) {
                expired.stream()
                    .filter(each -> each.blockId().equals(row.getUUID("id")))
                    .forEach(each -> again.add(each.again(row.getLong("times"))));
              }
              return insert(transaction, merchantId, again, now);
            })
        .compose(
            written ->
                written.size() == expired.size()
                    ? Future.succeededFuture()
                    : Future.failedFuture(
                        new IllegalStateException("expirations collide: " + expired)));
  }
}
