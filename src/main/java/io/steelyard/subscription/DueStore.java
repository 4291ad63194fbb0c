package io.steelyard.subscription;

import io.steelyard.bus.Call;
import io.steelyard.db.Sql;
import io.steelyard.domain.Environment;
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

/**
 * What the passing of time demands of subscriptions: which are due, claimed by whoever is first.
 */
public final class DueStore {
  // SKIP LOCKED: any number of nodes may do this work at once
  private static final String CLAIM_STARTING =
      "SELECT "
          + SubscriptionStore.COLUMNS
          + """
             FROM subscription
            WHERE merchant_id = $1 AND status = 'pendingActivation' AND start_date <= $2
            ORDER BY start_date, id LIMIT $3
              FOR UPDATE SKIP LOCKED
            """;

  private static final String ACTIVATE =
      """
      UPDATE subscription SET status = 'active', updated_at = $3
       WHERE merchant_id = $1 AND id = ANY ($2::uuid[])
      """;

  // Access is locked in the order in which the fold writes it, and no key is locked that a foreign
  // key of the fold's rows needs, so that the two never deadlock.
  private static final String END_DUE =
      """
      WITH due AS MATERIALIZED (
        SELECT id FROM subscription
         WHERE merchant_id = $1 AND status = 'active' AND end_date <= $2
         ORDER BY end_date, id LIMIT $3
           FOR NO KEY UPDATE SKIP LOCKED
      ), ended AS (
        UPDATE subscription s SET status = 'ended', updated_at = $2
          FROM due WHERE s.merchant_id = $1 AND s.id = due.id
      RETURNING s.id
      ), open AS MATERIALIZED (
        SELECT a.id FROM billable_access a JOIN due ON a.subscription_id = due.id
         WHERE a.merchant_id = $1
         ORDER BY a.subscription_id, a.billable_id
           FOR NO KEY UPDATE OF a
      ), closed AS (
        UPDATE billable_access a SET access = false, updated_at = $2
          FROM open WHERE a.merchant_id = $1 AND a.id = open.id
      )
      SELECT count(*) FROM ended
      """;

  private static final String ANY_DUE =
      """
      SELECT EXISTS (SELECT FROM subscription
                      WHERE merchant_id = $1 AND status = 'pendingActivation' AND start_date <= $2)
          OR EXISTS (SELECT FROM subscription
                      WHERE merchant_id = $1 AND status = 'active' AND end_date <= $2) AS due
      """;

  // Those that wait longest first, measured by their own clocks, so that every one has its turn.
  private static final String DUE_MERCHANTS =
      """
      SELECT m.id, m.environment, m.timezone
        FROM merchant m
       CROSS JOIN LATERAL (
         SELECT least((SELECT min(start_date) FROM subscription
                        WHERE merchant_id = m.id AND status = 'pendingActivation'),
                      (SELECT min(end_date) FROM subscription
                        WHERE merchant_id = m.id AND status = 'active')) AS since) due
       WHERE due.since <= coalesce(m.clock_now, $1) AND m.id <> ALL ($3::uuid[])
       ORDER BY coalesce(m.clock_now, $1) - due.since DESC, m.id
       LIMIT $2
      """;

  /** Merchants by whose clocks a subscription should have started or ended, but {@code passBy}. */
  public Future<List<Call.Merchant>> dueMerchants(
      SqlClient client, Instant now, int max, Set<UUID> passBy) {
    return client
        .preparedQuery(DUE_MERCHANTS)
        .execute(Tuple.of(Sql.time(now), max).addValue(passBy.toArray(UUID[]::new)))
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

  /** Whether one of the merchant's subscriptions should have started or ended by {@code now}. */
  public Future<Boolean> isAnyDue(SqlClient client, UUID merchantId, Instant now) {
    return client
        .preparedQuery(ANY_DUE)
        .execute(Tuple.of(merchantId, Sql.time(now)))
        .map(rows -> rows.iterator().next().getBoolean("due"));
  }

  /** Locks upcoming subscriptions whose start has come, the earliest first. */
  public Future<List<Subscription>> claimStarting(
      SqlClient transaction, UUID merchantId, Instant now, int max) {
    return transaction
        .preparedQuery(CLAIM_STARTING)
        .execute(Tuple.of(merchantId, Sql.time(now), max))
        .map(
            rows -> {
              List<Subscription> claimed = new ArrayList<>();
              rows.forEach(row -> claimed.add(SubscriptionStore.subscription(row, merchantId)));
              return claimed;
            });
  }

  public Future<Void> activate(
      SqlClient transaction, UUID merchantId, List<Subscription> claimed, Instant now) {
    UUID[] ids = claimed.stream().map(each -> each.id().uuid()).toArray(UUID[]::new);
    return transaction
        .preparedQuery(ACTIVATE)
        .execute(Tuple.of(merchantId).addValue(ids).addValue(Sql.time(now)))
        .mapEmpty();
  }

  /**
   * Ends active subscriptions whose end has come, and the access they gave.
   *
   * @return how many
   */
  public Future<Long> endDue(SqlClient client, UUID merchantId, Instant now, int max) {
    return client
        .preparedQuery(END_DUE)
        .execute(Tuple.of(merchantId, Sql.time(now), max))
        .map(rows -> rows.iterator().next().getLong(0));
  }
}
