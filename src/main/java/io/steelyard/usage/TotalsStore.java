package io.steelyard.usage;

import io.steelyard.db.Sql;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.PeriodKey;
import io.steelyard.domain.UsageTotal;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** What periods' usage has come to, for those who bill it. */
public final class TotalsStore {
  private static final String TOTALS =
      """
      SELECT c.subscription_id, c.period_index, c.billable_id, c.events, c.sum, c.min, c.max,
             c.latest, c.latest_at, c.latest_key, c.uniques
        FROM unnest($2::uuid[], $3::int[]) AS t(subscription_id, period_index)
        JOIN usage_counter c
          ON c.subscription_id = t.subscription_id AND c.period_index = t.period_index
       WHERE c.merchant_id = $1
      """;

  private static final String FORGET =
      """
      DELETE FROM usage_counter
       WHERE merchant_id = $1 AND subscription_id = $2 AND period_index = $3
      """;

  /** By period and billable; what is left out had no usage. */
  public Future<Map<PeriodKey, Map<Id, UsageTotal>>> totals(
      SqlClient client, UUID merchantId, Collection<PeriodKey> periods) {
    if (periods.isEmpty()) {
      return Future.succeededFuture(Map.of());
    }
    List<PeriodKey> list = List.copyOf(periods);
    return client
        .preparedQuery(TOTALS)
        .execute(
            Tuple.of(
                merchantId,
                list.stream().map(each -> each.subscriptionId().uuid()).toArray(UUID[]::new),
                list.stream().map(PeriodKey::index).toArray(Integer[]::new)))
        .map(
            rows -> {
              Map<PeriodKey, Map<Id, UsageTotal>> totals = new HashMap<>();
              for (Row row : rows) {
                PeriodKey period =
                    new PeriodKey(
                        Sql.id(row, "subscription_id", IdKind.SUBSCRIPTION),
                        row.getInteger("period_index"));
                totals
                    .computeIfAbsent(period, each -> new HashMap<>())
                    .put(Sql.id(row, "billable_id", IdKind.BILLABLE), CounterStore.total(row));
              }
              return totals;
            });
  }

  /** Throws away what a period has come to, for a backfill to count it anew. */
  public Future<Void> forget(SqlClient transaction, UUID merchantId, PeriodKey period) {
    return transaction
        .preparedQuery(FORGET)
        .execute(Tuple.of(merchantId, period.subscriptionId().uuid(), period.index()))
        .mapEmpty();
  }
}
