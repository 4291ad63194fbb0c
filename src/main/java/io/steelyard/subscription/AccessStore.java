package io.steelyard.subscription;

import io.steelyard.db.Ids;
import io.steelyard.db.Sql;
import io.steelyard.domain.Id;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.UUID;

/** Which billables a subscription gives its customer access to, as long as limits allow. */
public final class AccessStore {
  private static final String INSERT =
      """
      INSERT INTO billable_access (id, merchant_id, customer_id, subscription_id, billable_id,
          access, invalidated, start_date, end_date, current_usage, created_at, updated_at)
      SELECT id, $1, customer_id, subscription_id, billable_id, true, false, start_date, end_date,
             0, $8, $8
        FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::timestamptz[],
                    $7::timestamptz[])
          AS t(id, customer_id, subscription_id, billable_id, start_date, end_date)
      """;

  /** Access to be granted with an activated subscription. */
  public record NewAccess(Subscription subscription, Id billableId) {}

  public Future<Void> insert(
      SqlClient transaction, UUID merchantId, List<NewAccess> access, Instant now) {
    if (access.isEmpty()) {
      return Future.succeededFuture();
    }
    Tuple parameters = Tuple.tuple();
    parameters
        .addValue(merchantId)
        .addValue(access.stream().map(a -> Ids.nextUuid()).toArray(UUID[]::new))
        .addValue(
            access.stream()
                .map(a -> a.subscription().view().customerId().uuid())
                .toArray(UUID[]::new))
        .addValue(access.stream().map(a -> a.subscription().id().uuid()).toArray(UUID[]::new))
        .addValue(access.stream().map(a -> a.billableId().uuid()).toArray(UUID[]::new))
        .addValue(
            access.stream()
                .map(a -> Sql.time(a.subscription().view().startDate()))
                .toArray(OffsetDateTime[]::new))
        .addValue(
            access.stream()
                .map(a -> Sql.time(a.subscription().view().endDate()))
                .toArray(OffsetDateTime[]::new))
        .addValue(Sql.time(now));
    return transaction.preparedQuery(INSERT).execute(parameters).mapEmpty();
  }
}
