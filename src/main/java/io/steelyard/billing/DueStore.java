package io.steelyard.billing;

import io.steelyard.bus.Call;
import io.steelyard.credit.ExpiryStore;
import io.steelyard.db.Sql;
import io.steelyard.domain.Environment;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.WireName;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** What the passing of time demands, and of whom. */
final class DueStore {
  // While an invoice of an ended subscription is on its way, earlier periods are corrected there.
  static final String CORRECTABLE =
      """
      SELECT FROM rebill r
       WHERE r.merchant_id = s.merchant_id AND r.subscription_id = s.id AND r.ended
         AND r.since <= $3
         AND NOT EXISTS (
           SELECT FROM invoice i
            WHERE i.merchant_id = r.merchant_id AND i.subscription_id = r.subscription_id
              AND i.boundary_index > r.period_index
              AND i.status IN ('pending', 'paused') AND i.issue_date IS NULL)
      """;

  // Not those that wait for the next units within them: these are due before.
  private static final String ANY_BEHIND =
      """
      EXISTS (
        SELECT FROM subscription_period p
         WHERE p.merchant_id = $1 AND p.ready_until < p.period_end
           AND coalesce(p.ready_until < (SELECT s.due_at FROM subscription s
                                          WHERE s.merchant_id = p.merchant_id
                                            AND s.id = p.subscription_id
                                            AND s.period_index = p.period_index), true))
      """;

  private static final String ANY_DUE =
      """
      SELECT EXISTS (SELECT FROM subscription
                      WHERE merchant_id = $1 AND due_at <= $2 AND parked_at IS NULL)
          OR EXISTS (SELECT FROM invoice i
                       JOIN subscription s
                         ON s.merchant_id = i.merchant_id AND s.id = i.subscription_id
                      WHERE i.merchant_id = $1 AND i.status = 'pending' AND i.finalise_at <= $2
                        AND s.parked_at IS NULL)
          OR EXISTS (SELECT FROM invoice
                      WHERE merchant_id = $1 AND status = 'issued' AND due_date < $2)
          OR EXISTS (SELECT FROM allocation_block b
                      WHERE b.merchant_id = $1 AND b.remaining > 0 AND b.expires_at <= $3
                        AND NOT (%2$s))
          OR EXISTS (SELECT FROM subscription s
                      WHERE s.merchant_id = $1 AND s.parked_at IS NULL
                        AND s.id IN (SELECT subscription_id FROM rebill
                                      WHERE merchant_id = $1 AND ended AND since <= $3)
                        AND EXISTS (%1$s))
          OR %3$s
          AS due
      """
          .formatted(CORRECTABLE, ExpiryStore.AWAITS_ROLLOVER, ANY_BEHIND);

  // In the order of their ids, each measured by its own clock: what is due may still have to wait,
  // and must not be in the way of those behind it.
  private static final String DUE_MERCHANTS =
      """
      SELECT m.id, m.environment, m.timezone
        FROM merchant m
       CROSS JOIN LATERAL (
         SELECT least((SELECT min(due_at) FROM subscription
                        WHERE merchant_id = m.id AND parked_at IS NULL AND due_at IS NOT NULL),
                      (SELECT i.finalise_at
                         FROM invoice i
                         JOIN subscription s
                           ON s.merchant_id = i.merchant_id AND s.id = i.subscription_id
                        WHERE i.merchant_id = m.id AND i.status = 'pending'
                          AND s.parked_at IS NULL
                        ORDER BY i.finalise_at LIMIT 1),
                      (SELECT min(due_date) FROM invoice
                        WHERE merchant_id = m.id AND status = 'issued') + interval '1 ms',
                      (SELECT b.expires_at FROM allocation_block b
                        WHERE b.merchant_id = m.id AND b.remaining > 0
                          AND b.expires_at IS NOT NULL AND NOT (%s)
                        ORDER BY b.expires_at LIMIT 1)
                        + $4 * interval '1 ms',
                      (SELECT r.since
                         FROM rebill r
                         JOIN subscription s
                           ON s.merchant_id = r.merchant_id AND s.id = r.subscription_id
                        WHERE r.merchant_id = m.id AND r.ended AND s.parked_at IS NULL
                          AND NOT EXISTS (
                            SELECT FROM invoice i
                             WHERE i.merchant_id = r.merchant_id
                               AND i.subscription_id = r.subscription_id
                               AND i.status IN ('pending', 'paused') AND i.issue_date IS NULL)
                        ORDER BY r.since LIMIT 1)
                        + $4 * interval '1 ms') AS since) due
       WHERE m.id > $5 AND due.since <= coalesce(m.clock_now, $1) AND m.id <> ALL ($3::uuid[])
       ORDER BY m.id LIMIT $2
      """
          .formatted(ExpiryStore.AWAITS_ROLLOVER);

  // At the instant itself too: in less than the millisecond that it is told in, an event may have
  // been stored and acknowledged before who asks was asked.
  private static final String IS_FOLDED =
      """
      SELECT NOT EXISTS (SELECT FROM event_batch WHERE merchant_id = $1 AND stored_at <= $2)
      """;

  // An event that is counted before its period has been brought up to date waits for that.
  private static final String IS_SETTLED = IS_FOLDED + "AND NOT " + ANY_BEHIND;

  private static final String LAST_BOUNDARIES =
      """
      SELECT s.id, greatest(coalesce(s.period_index, 0) + 1,
                            (SELECT max(i.boundary_index) FROM invoice i
                              WHERE i.merchant_id = $1 AND i.subscription_id = s.id)) AS last,
             (SELECT min(r.since) FROM rebill r
               WHERE r.merchant_id = $1 AND r.subscription_id = s.id) AS since
        FROM subscription s
       WHERE s.merchant_id = $1 AND s.id = ANY ($2::uuid[])
      """;

  /**
   * The last boundary of a subscription that has or could have had an invoice.
   *
   * @param since when it is known that something is to be corrected
   */
  record LastBoundary(Id subscriptionId, int index, Instant since) {}

  /**
   * Whose turn it is.
   *
   * @param after the merchant whose turn was last
   * @param passBy merchants who are to be left alone
   */
  record Turn(UUID after, int max, Set<UUID> passBy) {}

  private final long graceMs;

  /**
   * @param graceMs how long after their expiry units may still be drawn, and how long late usage of
   *     an ended subscription waits for more
   */
  DueStore(long graceMs) {
    this.graceMs = graceMs;
  }

  /** When the grace of what happened then is over. */
  Instant afterGrace(Instant since) {
    return since.plusMillis(graceMs);
  }

  /** By when something must have happened for its grace to be over. */
  Instant graceOver(Instant now) {
    return now.minusMillis(graceMs);
  }

  /** The next merchants by id, by whose clocks something should have been done. */
  Future<List<Call.Merchant>> dueMerchants(SqlClient client, Instant now, Turn turn) {
    return client
        .preparedQuery(DUE_MERCHANTS)
        .execute(
            Tuple.of(Sql.time(now), turn.max())
                .addValue(turn.passBy().toArray(UUID[]::new))
                .addValue((double) graceMs)
                .addUUID(turn.after()))
        .map(
            rows -> {
              List<Call.Merchant> due = new ArrayList<>();
              rows.forEach(
                  row ->
                      due.add(
                          new Call.Merchant(
                              Sql.id(row, "id", IdKind.MERCHANT),
                              WireName.parse(Environment.class, row.getString("environment")),
                              ZoneId.of(row.getString("timezone")))));
              return due;
            });
  }

  /**
   * Whether any work of the merchant's is due by {@code now}, or what it has opened or allocated is
   * still to be brought up to date.
   */
  Future<Boolean> isAnyDue(SqlClient client, UUID merchantId, Instant now) {
    return client
        .preparedQuery(ANY_DUE)
        .execute(Tuple.of(merchantId, Sql.time(now), Sql.time(graceOver(now))))
        .map(rows -> rows.iterator().next().getBoolean("due"));
  }

  /**
   * Whether every event of the merchant's that was accepted before has been counted.
   *
   * @param acceptedBefore by the system's time
   */
  Future<Boolean> isFolded(SqlClient client, UUID merchantId, Instant acceptedBefore) {
    return holds(client, IS_FOLDED, merchantId, acceptedBefore);
  }

  /** As {@link #isFolded}, and in every period that is open. */
  Future<Boolean> isSettled(SqlClient client, UUID merchantId, Instant acceptedBefore) {
    return holds(client, IS_SETTLED, merchantId, acceptedBefore);
  }

  private static Future<Boolean> holds(
      SqlClient client, String question, UUID merchantId, Instant acceptedBefore) {
    return client
        .preparedQuery(question)
        .execute(Tuple.of(merchantId, Sql.time(acceptedBefore)))
        .map(rows -> rows.iterator().next().getBoolean(0));
  }

  Future<List<LastBoundary>> lastBoundaries(
      SqlClient client, UUID merchantId, List<Id> subscriptions) {
    return client
        .preparedQuery(LAST_BOUNDARIES)
        .execute(
            Tuple.of(merchantId)
                .addValue(subscriptions.stream().map(Id::uuid).toArray(UUID[]::new)))
        .map(
            rows -> {
              List<LastBoundary> last = new ArrayList<>();
              rows.forEach(
                  row ->
                      last.add(
                          new LastBoundary(
                              Sql.id(row, "id", IdKind.SUBSCRIPTION),
                              row.getInteger("last"),
                              Sql.instant(row, "since"))));
              return last;
            });
  }
}
