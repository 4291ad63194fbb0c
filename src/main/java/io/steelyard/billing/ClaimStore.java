package io.steelyard.billing;

import io.steelyard.billing.DueJob.Claim;
import io.steelyard.db.Sql;
import io.steelyard.subscription.Subscription;
import io.steelyard.subscription.SubscriptionRows;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Claims due work. SKIP LOCKED, so that any number of nodes may do it at once; NO KEY UPDATE, since
 * the fold's rows need these rows' keys.
 */
final class ClaimStore {
  private static final String ALONG_THE_INDEX =
      "SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off";
  private static final String AS_USUAL =
      "SET LOCAL enable_sort = on; SET LOCAL enable_bitmapscan = on";

  // A border is passed only when the period before it has been brought up to date, and after the
  // invoices that were to be final before it: what they correct must not be on a later one. Units
  // are allocated within a period when it has been brought up to date so far: what is dated later
  // waits for them.
  private static final String PASSABLE =
      """
         AND NOT EXISTS (
           SELECT FROM subscription_period p
            WHERE p.merchant_id = s.merchant_id AND p.subscription_id = s.id
              AND p.period_index = s.period_index
              AND p.ready_until < least(p.period_end, s.due_at))
         AND NOT EXISTS (
           SELECT FROM invoice i
            WHERE i.merchant_id = s.merchant_id AND i.subscription_id = s.id
              AND i.status = 'pending' AND i.finalise_at <= s.due_at)
      """;

  // Customers that share a lock fall to the same lane: their slot ends with this byte.
  private static final String DUE_SUBSCRIPTIONS =
      """
      SELECT s.id
        FROM subscription s
       WHERE s.merchant_id = $1 AND s.due_at <= $2 AND s.parked_at IS NULL
         AND ($3::uuid[] IS NULL OR s.id = ANY ($3))
         AND get_byte(uuid_send(s.customer_id), 15) % $5 = $4
      """
          + PASSABLE
          + """
             ORDER BY s.due_at, s.id LIMIT :max
               FOR NO KEY UPDATE OF s SKIP LOCKED
            """;

  // Once more, with the rows locked: of a row that changed after its snapshot was taken, the claim
  // has looked at the new version, but at nothing new beside it.
  private static final String STILL_DUE =
      "SELECT "
          + SubscriptionRows.COLUMNS
          + """
             FROM subscription s
            WHERE s.merchant_id = $1 AND s.id = ANY ($2::uuid[]) AND s.due_at <= $3
              AND s.parked_at IS NULL
            """
          + PASSABLE
          + " ORDER BY s.due_at, s.id";

  private static final String SUBSCRIPTIONS =
      "SELECT "
          + SubscriptionRows.COLUMNS
          + """
             FROM subscription
            WHERE merchant_id = $1 AND id = ANY ($2::uuid[])
            ORDER BY due_at, id
            """;

  private static final String DUE_INVOICES =
      """
      SELECT i.id
        FROM invoice i
        JOIN subscription s ON s.merchant_id = i.merchant_id AND s.id = i.subscription_id
       WHERE i.merchant_id = $1 AND i.status = 'pending' AND i.finalise_at <= $2
         AND s.parked_at IS NULL
         AND ($3::uuid[] IS NULL OR i.id = ANY ($3))
         AND get_byte(uuid_send(i.customer_id), 15) % $5 = $4
       ORDER BY i.finalise_at, i.boundary_index, i.id LIMIT :max
         FOR NO KEY UPDATE OF i SKIP LOCKED
      """;

  private static final String CORRECTABLE_SUBSCRIPTIONS =
      """
      SELECT s.id
        FROM subscription s
       WHERE s.merchant_id = $1 AND s.parked_at IS NULL
         AND s.id IN (SELECT subscription_id FROM rebill
                       WHERE merchant_id = $1 AND ended AND since <= $3)
         AND EXISTS (%s)
         AND ($4::uuid[] IS NULL OR s.id = ANY ($4))
         AND get_byte(uuid_send(s.customer_id), 15) %% $6 = $5
       ORDER BY s.id LIMIT $2
         FOR NO KEY UPDATE OF s SKIP LOCKED
      """
          .formatted(DueStore.CORRECTABLE);

  /** Subscriptions of which a period, or units within it, are due; the longest waiting first. */
  Future<List<UUID>> dueSubscriptions(SqlConnection tx, UUID merchantId, Instant now, Claim claim) {
    return inOrder(
        tx,
        limited(DUE_SUBSCRIPTIONS, claim),
        Tuple.of(merchantId, Sql.time(now))
            .addValue(claim.ids())
            .addValue(claim.lane())
            .addValue(claim.lanes()));
  }

  /** What was claimed and is due indeed, by when. */
  Future<List<Subscription>> stillDue(
      SqlConnection tx, UUID merchantId, List<UUID> ids, Instant now) {
    return tx.preparedQuery(STILL_DUE)
        .execute(Tuple.of(merchantId).addValue(ids.toArray(UUID[]::new)).addValue(Sql.time(now)))
        .map(rows -> subscriptions(rows, merchantId));
  }

  /** What was claimed. */
  Future<List<Subscription>> subscriptions(SqlConnection tx, UUID merchantId, List<UUID> ids) {
    return tx.preparedQuery(SUBSCRIPTIONS)
        .execute(Tuple.of(merchantId).addValue(ids.toArray(UUID[]::new)))
        .map(rows -> subscriptions(rows, merchantId));
  }

  private static List<Subscription> subscriptions(RowSet<Row> rows, UUID merchantId) {
    List<Subscription> claimed = new ArrayList<>(rows.size());
    rows.forEach(row -> claimed.add(SubscriptionRows.subscription(row, merchantId)));
    return claimed;
  }

  /** Pending invoices whose grace is over, in the order of their boundaries. */
  Future<List<UUID>> dueInvoices(SqlConnection tx, UUID merchantId, Instant now, Claim claim) {
    return inOrder(
        tx,
        limited(DUE_INVOICES, claim),
        Tuple.of(merchantId, Sql.time(now))
            .addValue(claim.ids())
            .addValue(claim.lane())
            .addValue(claim.lanes()));
  }

  /**
   * Subscriptions without further boundaries that have something to correct.
   *
   * @param since known for that long
   */
  Future<List<UUID>> correctable(SqlConnection tx, UUID merchantId, Instant since, Claim claim) {
    return tx.preparedQuery(CORRECTABLE_SUBSCRIPTIONS)
        .execute(
            Tuple.of(merchantId, claim.max(), Sql.time(since))
                .addValue(claim.ids())
                .addValue(claim.lane())
                .addValue(claim.lanes()))
        .map(ClaimStore::ids);
  }

  /**
   * Follows the index that has the order wanted, whatever share of the table is due: PostgreSQL,
   * which cannot estimate what falls to a lane, would read and sort all of it for each claim.
   */
  private static Future<List<UUID>> inOrder(SqlConnection tx, String sql, Tuple parameters) {
    return tx.query(ALONG_THE_INDEX)
        .execute()
        .compose(set -> tx.preparedQuery(sql).execute(parameters))
        .compose(rows -> tx.query(AS_USUAL).execute().map(ids(rows)));
  }

  /**
   * Says in the statement how few rows are wanted. Not knowing that, PostgreSQL plans for a tenth
   * of all that are due, and joins whole tables for each claim.
   */
  private static String limited(String sql, Claim claim) {
    return sql.replace(":max", Integer.toString(claim.max()));
  }

  private static List<UUID> ids(RowSet<Row> rows) {
    List<UUID> ids = new ArrayList<>(rows.size());
    rows.forEach(row -> ids.add(row.getUUID("id")));
    return ids;
  }
}
