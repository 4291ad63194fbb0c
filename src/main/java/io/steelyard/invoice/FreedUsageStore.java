package io.steelyard.invoice;

import io.steelyard.db.Sql;
import io.steelyard.domain.BillingPeriod;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Closed periods whose usage is to be billed again. */
final class FreedUsageStore {
  // Of a paused invoice there may be no lines, and a period may cost nothing but units. An invoice
  // that lies behind the last boundary has no closed period of its own.
  private static final String BILLED_PERIODS =
      """
      SELECT DISTINCT l.period_index AS period_index
        FROM invoice_line_item l
       WHERE l.merchant_id = $1 AND l.invoice_id = $2 AND l.kind IN ('arrears', 'adjustment')
      UNION
      SELECT p.period_index
        FROM invoice i
        JOIN subscription_period p
          ON p.merchant_id = i.merchant_id AND p.subscription_id = i.subscription_id
         AND p.period_index = i.boundary_index - 1
       WHERE i.merchant_id = $1 AND i.id = $2
         AND (i.status = 'paused'
              OR EXISTS (SELECT FROM credit_usage u
                          WHERE u.merchant_id = $1 AND u.subscription_id = p.subscription_id
                            AND u.period_index = p.period_index AND u.drawn > 0))
       ORDER BY period_index
      """;

  private static final String STANDING =
      """
      SELECT s.customer_id, p.period_index IS NOT NULL AS exists,
             coalesce(p.period_index < s.period_index, false) OR s.status IN ('ended', 'deleted')
               AS closed,
             EXISTS (SELECT FROM invoice i
                      WHERE i.merchant_id = $1 AND i.subscription_id = s.id
                        AND i.boundary_index = p.period_index + 1
                        AND i.status IN ('pending', 'paused') AND i.issue_date IS NULL) AS awaited,
             s.status NOT IN ('ended', 'deleted')
               AND EXISTS (SELECT FROM subscription_period o
                            WHERE o.merchant_id = $1 AND o.subscription_id = s.id
                              AND o.period_index = s.period_index AND o.period_end = $4) AS endless
        FROM subscription s
        LEFT JOIN subscription_period p
          ON p.merchant_id = s.merchant_id AND p.subscription_id = s.id AND p.period_index = $3
       WHERE s.merchant_id = $1 AND s.id = $2
      """;

  private static final String REBILL_USAGE =
      """
      INSERT INTO rebill (merchant_id, subscription_id, period_index, usage, fixed, since, ended)
      SELECT $1, s.id, p.period_index, true, false, $4, s.status IN ('ended', 'deleted')
        FROM unnest($3::integer[]) AS p (period_index)
        JOIN subscription s ON s.merchant_id = $1 AND s.id = $2
      ON CONFLICT (subscription_id, period_index) DO UPDATE
      SET usage = true, ended = excluded.ended
      """;

  /**
   * How a period stands.
   *
   * @param exists whether the subscription has come to it
   * @param billed whether it is closed, and no invoice on its way is to bill it
   * @param last whether no invoice is to come after it, as the open period has no end
   */
  record Standing(UUID customerId, boolean exists, boolean billed, boolean last) {}

  /** Empty when the merchant has no such subscription. */
  Future<Optional<Standing>> standing(
      SqlClient tx, UUID merchantId, UUID subscriptionId, int period) {
    return tx.preparedQuery(STANDING)
        .execute(Tuple.of(merchantId, subscriptionId, period, Sql.time(BillingPeriod.END_OF_TIME)))
        .map(
            rows -> {
              if (rows.size() == 0) {
                return Optional.empty();
              }
              Row row = rows.iterator().next();
              return Optional.of(
                  new Standing(
                      row.getUUID("customer_id"),
                      row.getBoolean("exists"),
                      row.getBoolean("closed") && !row.getBoolean("awaited"),
                      row.getBoolean("endless")));
            });
  }

  /** The periods whose usage an invoice bills. */
  Future<List<Integer>> billedPeriods(SqlClient tx, UUID merchantId, UUID invoiceId) {
    return tx.preparedQuery(BILLED_PERIODS)
        .execute(Tuple.of(merchantId, invoiceId))
        .map(
            rows -> {
              List<Integer> periods = new ArrayList<>(rows.size());
              rows.forEach(row -> periods.add(row.getInteger("period_index")));
              return periods;
            });
  }

  /** The caller holds the customer's lock. */
  Future<Void> rebillUsage(
      SqlClient tx, UUID merchantId, UUID subscriptionId, List<Integer> periods, Instant since) {
    return periods.isEmpty()
        ? Future.succeededFuture()
        : tx.preparedQuery(REBILL_USAGE)
            .execute(
                Tuple.of(merchantId, subscriptionId)
                    .addValue(periods.toArray(Integer[]::new))
                    .addOffsetDateTime(Sql.time(since)))
            .mapEmpty();
  }
}
