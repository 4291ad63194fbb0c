package io.steelyard.integrity;

import io.steelyard.db.Sql;
import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.domain.WireName;
import io.steelyard.integrity.Tiling.Stored;
import io.steelyard.integrity.Tiling.Terms;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Subscriptions with all their periods. */
final class PeriodStore {
  private static final String PAGE =
      """
      SELECT s.id, s.status, s.start_date, s.end_date, s.trial_end, s.billing_cadence,
             s.period_index AS last_index, p.period_index, p.period_start, p.period_end, p.is_trial
        FROM (SELECT id, status, start_date, end_date, trial_end, billing_cadence, period_index
                FROM subscription WHERE merchant_id = $1 AND id > $2 ORDER BY id LIMIT $3) s
        LEFT JOIN subscription_period p ON p.merchant_id = $1 AND p.subscription_id = s.id
       ORDER BY s.id, p.period_index
      """;

  /** The next subscriptions by id, each with its periods by index. */
  Future<Map<Terms, List<Stored>>> page(SqlClient client, UUID merchantId, UUID after, int max) {
    return client
        .preparedQuery(PAGE)
        .execute(Tuple.of(merchantId, after, max))
        .map(
            rows -> {
              Map<Terms, List<Stored>> page = new LinkedHashMap<>();
              for (Row row : rows) {
                List<Stored> periods = page.computeIfAbsent(terms(row), terms -> new ArrayList<>());
                if (row.getInteger("period_index") != null) {
                  periods.add(stored(row));
                }
              }
              return page;
            });
  }

  private static Terms terms(Row row) {
    return new Terms(
        row.getUUID("id"),
        WireName.parse(SubscriptionStatus.class, row.getString("status")),
        Sql.instant(row, "start_date"),
        Sql.instant(row, "end_date"),
        Sql.instant(row, "trial_end"),
        WireName.parse(BillingCadence.class, row.getString("billing_cadence")),
        row.getInteger("last_index"));
  }

  private static Stored stored(Row row) {
    return new Stored(
        row.getInteger("period_index"),
        Sql.instant(row, "period_start"),
        Sql.instant(row, "period_end"),
        row.getBoolean("is_trial"));
  }
}
