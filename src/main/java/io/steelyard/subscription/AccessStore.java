package io.steelyard.subscription;

import io.steelyard.db.Columns;
import io.steelyard.db.Sql;
import io.steelyard.domain.Id;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.UUID;

/**
 * Which billables a subscription gives its customer access to, as long as limits allow. Rows are
 * always locked by subscription and billable, in the order in which the fold writes them, and no
 * key is locked that a foreign key of the fold's rows needs, so that the two never deadlock.
 */
public final class AccessStore {
  private static final String OPEN =
      """
      INSERT INTO billable_access (id, merchant_id, customer_id, subscription_id, billable_id,
          access, invalidated, start_date, end_date, created_at, updated_at)
      SELECT t.id, $9, t.customer_id, t.subscription_id, t.billable_id, t.access, false,
             t.start_date, t.end_date, t.at, t.at
        FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::boolean[],
                    $6::timestamptz[], $7::timestamptz[], $8::timestamptz[])
          AS t(id, customer_id, subscription_id, billable_id, access, start_date, end_date, at)
       ORDER BY t.subscription_id, t.billable_id
          ON CONFLICT (subscription_id, billable_id) DO UPDATE
         SET access = excluded.access, invalidated = false, updated_at = excluded.updated_at
       WHERE billable_access.invalidated OR billable_access.access <> excluded.access
      """;

  private static final String INVALIDATE =
      """
      WITH gone AS MATERIALIZED (
        SELECT a.id, t.at
          FROM unnest($2::uuid[], $3::timestamptz[]) AS t(subscription_id, at)
          JOIN billable_access a ON a.subscription_id = t.subscription_id
         WHERE a.merchant_id = $1 AND NOT a.invalidated
           AND NOT EXISTS (
             SELECT FROM unnest($4::uuid[], $5::uuid[]) AS kept(subscription_id, billable_id)
              WHERE kept.subscription_id = a.subscription_id AND kept.billable_id = a.billable_id)
         ORDER BY a.subscription_id, a.billable_id
           FOR NO KEY UPDATE OF a
      )
      UPDATE billable_access a SET invalidated = true, access = false, updated_at = gone.at
        FROM gone WHERE a.merchant_id = $1 AND a.id = gone.id
      """;

  private static final String CLOSE =
      """
      WITH open AS MATERIALIZED (
        SELECT a.id, t.at
          FROM unnest($2::uuid[], $3::timestamptz[]) AS t(subscription_id, at)
          JOIN billable_access a ON a.subscription_id = t.subscription_id
         WHERE a.merchant_id = $1
         ORDER BY a.subscription_id, a.billable_id
           FOR NO KEY UPDATE OF a
      )
      UPDATE billable_access a SET access = false, updated_at = open.at
        FROM open WHERE a.merchant_id = $1 AND a.id = open.id
      """;

  private static final String SET_END =
      """
      WITH access AS MATERIALIZED (
        SELECT id FROM billable_access
         WHERE merchant_id = $1 AND subscription_id = $2
         ORDER BY billable_id FOR NO KEY UPDATE
      )
      UPDATE billable_access a SET end_date = $3, updated_at = $4
        FROM access WHERE a.merchant_id = $1 AND a.id = access.id
      """;

  /**
   * Access in a new period, in which nothing is used yet.
   *
   * @param id of its row, unless the subscription has had one of the billable before
   * @param access whether no usage at all leaves access
   */
  public record OpenAccess(
      Id id, Subscription subscription, Id billableId, boolean access, Instant at) {}

  /** A subscription whose access changes at an instant of the merchant's. */
  public record Changed(Id subscriptionId, Instant at) {}

  public Future<Void> open(SqlClient transaction, UUID merchantId, List<OpenAccess> access) {
    if (access.isEmpty()) {
      return Future.succeededFuture();
    }
    return transaction
        .preparedQuery(OPEN)
        .execute(
            new Columns<>(access)
                .uuids(each -> each.id().uuid())
                .uuids(each -> each.subscription().view().customerId().uuid())
                .uuids(each -> each.subscription().id().uuid())
                .uuids(each -> each.billableId().uuid())
                .booleans(OpenAccess::access)
                .times(each -> each.subscription().view().startDate())
                .times(each -> each.subscription().view().endDate())
                .times(OpenAccess::at)
                .and(merchantId))
        .mapEmpty();
  }

  /** Takes away access to billables that the new period has no price for any more. */
  public Future<Void> invalidateOthers(
      SqlClient transaction, UUID merchantId, List<Changed> opened, List<OpenAccess> kept) {
    if (opened.isEmpty()) {
      return Future.succeededFuture();
    }
    Tuple parameters = changed(merchantId, opened);
    parameters.addValue(
        kept.stream().map(each -> each.subscription().id().uuid()).toArray(UUID[]::new));
    parameters.addValue(kept.stream().map(each -> each.billableId().uuid()).toArray(UUID[]::new));
    return transaction.preparedQuery(INVALIDATE).execute(parameters).mapEmpty();
  }

  /** Ends all access of subscriptions that ended. */
  public Future<Void> close(SqlClient transaction, UUID merchantId, List<Changed> ended) {
    return ended.isEmpty()
        ? Future.succeededFuture()
        : transaction.preparedQuery(CLOSE).execute(changed(merchantId, ended)).mapEmpty();
  }

  private static Tuple changed(UUID merchantId, Collection<Changed> changed) {
    return Tuple.of(
        merchantId,
        changed.stream().map(each -> each.subscriptionId().uuid()).toArray(UUID[]::new),
        new Columns<>(changed).times(Changed::at).and().getValue(0));
  }

  /**
   * @param endDate exclusive; null takes it away
   */
  public Future<Void> setEnd(
      SqlClient transaction, UUID merchantId, Id subscriptionId, Instant endDate, Instant now) {
    return transaction
        .preparedQuery(SET_END)
        .execute(Tuple.of(merchantId, subscriptionId.uuid(), Sql.time(endDate), Sql.time(now)))
        .mapEmpty();
  }
}
