package io.steelyard.invoice;

import io.steelyard.db.Columns;
import io.steelyard.db.Sql;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.PeriodKey;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Periods whose cost may differ from what was billed for them, and what that was. */
public final class RebillStore {
  private static final String WAITING =
      """
      SELECT r.subscription_id, r.period_index, r.usage, r.fixed, p.period_start, p.period_end,
             p.is_trial, p.opened_at
        FROM rebill r
        JOIN subscription_period p
          ON p.merchant_id = r.merchant_id AND p.subscription_id = r.subscription_id
         AND p.period_index = r.period_index
       WHERE r.merchant_id = $1 AND r.subscription_id = ANY ($2::uuid[])
         AND NOT EXISTS (
           SELECT FROM invoice i
            WHERE i.merchant_id = $1 AND i.subscription_id = r.subscription_id
              AND i.boundary_index %s
              AND i.status IN ('pending', 'paused') AND i.issue_date IS NULL
              AND i.id <> ALL ($3::uuid[]))
       ORDER BY r.subscription_id, r.period_index
      """;

  // A period whose own invoice is still on its way is corrected there.
  private static final String DUE = WAITING.formatted("= r.period_index + 1");

  // Any that is on its way corrects all periods before its boundary, as soon as it is final.
  // One that only stands for what could not be made is the next itself.
  private static final String DUE_LATER =
      WAITING.formatted("> r.period_index AND i.finalise_at IS NOT NULL");

  // What a void invoice billed for usage is free again; its fixed prices stay as they are. What an
  // invoice corrects is billed once that is final: until then another may do it.
  private static final String BILLED =
      """
      SELECT i.subscription_id, l.period_index, l.price_id, sum(l.amount) AS amount
        FROM unnest($2::uuid[], $3::int[]) AS t(subscription_id, period_index)
        JOIN invoice i ON i.merchant_id = $1 AND i.subscription_id = t.subscription_id
         AND i.boundary_index >= t.period_index AND i.id <> ALL ($4::uuid[])
        JOIN invoice_line_item l ON l.merchant_id = $1 AND l.invoice_id = i.id
         AND l.period_index = t.period_index
        JOIN price p ON p.merchant_id = $1 AND p.id = l.price_id
       WHERE (i.status <> 'void' OR p.billing_mode = 'advance')
         AND (l.kind <> 'adjustment' OR i.issue_date IS NOT NULL)
       GROUP BY i.subscription_id, l.period_index, l.price_id
      """;

  private static final String INCLUDE_EVENTS =
      """
      UPDATE late_event e SET boundary_index = t.boundary_index
        FROM unnest($2::uuid[], $3::int[], $4::int[]) AS t(subscription_id, period_index,
                                                           boundary_index)
       WHERE e.merchant_id = $1 AND e.subscription_id = t.subscription_id
         AND e.period_index = t.period_index AND e.boundary_index IS NULL
      """;

  private static final String DELETE =
      """
      DELETE FROM rebill r
       USING unnest($2::uuid[], $3::int[]) AS t(subscription_id, period_index)
       WHERE r.merchant_id = $1 AND r.subscription_id = t.subscription_id
         AND r.period_index = t.period_index
      """;

  private static final String REQUEST_FIXED =
      """
      INSERT INTO rebill (merchant_id, subscription_id, period_index, usage, fixed, since, ended)
      VALUES ($1, $2, $3, false, true, $4, false)
      ON CONFLICT (subscription_id, period_index) DO UPDATE SET fixed = true
      """;

  private static final String ENDED =
      """
      UPDATE rebill SET ended = true
       WHERE merchant_id = $1 AND subscription_id = ANY ($2::uuid[]) AND NOT ended
      """;

  /**
   * A period to be corrected.
   *
   * @param end exclusive, clipped by the subscription's end
   */
  public record Due(
      Id subscriptionId,
      int periodIndex,
      boolean usage,
      boolean fixed,
      Instant start,
      Instant end,
      boolean trial,
      Instant openedAt) {}

  /**
   * What has become of a correction.
   *
   * @param boundaryIndex of the invoice
   * @param hasLines whether that has lines for the period
   * @param last whether the invoice is final, so that nothing is left to correct
   */
  public record Settled(
      Id subscriptionId, int periodIndex, int boundaryIndex, boolean hasLines, boolean last) {}

  /**
   * The corrections that an invoice of these subscriptions made now should have.
   *
   * @param invoices being made final: their own periods may be corrected on them
   */
  public Future<List<Due>> due(
      SqlClient client, UUID merchantId, Collection<Id> subscriptions, Collection<Id> invoices) {
    return due(DUE, client, merchantId, subscriptions, invoices);
  }

  /**
   * The corrections that invoices of these subscriptions will have which are yet to be made: those
   * on their way leave none of their own.
   */
  public Future<List<Due>> dueLater(
      SqlClient client, UUID merchantId, Collection<Id> subscriptions) {
    return due(DUE_LATER, client, merchantId, subscriptions, List.of());
  }

  private static Future<List<Due>> due(
      String sql,
      SqlClient client,
      UUID merchantId,
      Collection<Id> subscriptions,
      Collection<Id> invoices) {
    return client
        .preparedQuery(sql)
        .execute(
            Tuple.of(
                merchantId,
                subscriptions.stream().map(Id::uuid).toArray(UUID[]::new),
                invoices.stream().map(Id::uuid).toArray(UUID[]::new)))
        .map(
            rows -> {
              List<Due> due = new ArrayList<>(rows.size());
              for (Row row : rows) {
                due.add(
                    new Due(
                        Sql.id(row, "subscription_id", IdKind.SUBSCRIPTION),
                        row.getInteger("period_index"),
                        row.getBoolean("usage"),
                        row.getBoolean("fixed"),
                        Sql.instant(row, "period_start"),
                        Sql.instant(row, "period_end"),
                        row.getBoolean("is_trial"),
                        Sql.instant(row, "opened_at")));
              }
              return due;
            });
  }

  /** What was billed for these periods, by price, on invoices other than {@code except}. */
  public Future<Map<PeriodKey, Map<Id, BigDecimal>>> billed(
      SqlClient client, UUID merchantId, List<PeriodKey> periods, Collection<Id> except) {
    if (periods.isEmpty()) {
      return Future.succeededFuture(Map.of());
    }
    return client
        .preparedQuery(BILLED)
        .execute(
            Tuple.of(
                merchantId,
                periods.stream().map(each -> each.subscriptionId().uuid()).toArray(UUID[]::new),
                periods.stream().map(PeriodKey::index).toArray(Integer[]::new),
                except.stream().map(Id::uuid).toArray(UUID[]::new)))
        .map(
            rows -> {
              Map<PeriodKey, Map<Id, BigDecimal>> billed = new HashMap<>();
              for (Row row : rows) {
                PeriodKey period =
                    new PeriodKey(
                        Sql.id(row, "subscription_id", IdKind.SUBSCRIPTION),
                        row.getInteger("period_index"));
                billed
                    .computeIfAbsent(period, each -> new HashMap<>())
                    .put(Sql.id(row, "price_id", IdKind.PRICE), row.getBigDecimal("amount"));
              }
              return billed;
            });
  }

  /** Notes which invoice includes late events, and takes what needs no correction any more. */
  public Future<Void> settle(SqlClient transaction, UUID merchantId, List<Settled> settled) {
    List<Settled> included = settled.stream().filter(Settled::hasLines).toList();
    List<Settled> last = settled.stream().filter(Settled::last).toList();
    Future<?> noted =
        included.isEmpty()
            ? Future.succeededFuture()
            : transaction
                .preparedQuery(INCLUDE_EVENTS)
                .execute(
                    periods(merchantId, included)
                        .addValue(
                            included.stream().map(Settled::boundaryIndex).toArray(Integer[]::new)));
    return noted.compose(
        done ->
            last.isEmpty()
                ? Future.succeededFuture()
                : transaction
                    .preparedQuery(DELETE)
                    .execute(periods(merchantId, last))
                    .<Void>mapEmpty());
  }

  private static Tuple periods(UUID merchantId, List<Settled> settled) {
    Tuple columns =
        new Columns<>(settled)
            .uuids(each -> each.subscriptionId().uuid())
            .integers(Settled::periodIndex)
            .and();
    return Tuple.of(merchantId, columns.getValue(0), columns.getValue(1));
  }

  /**
   * Has what is left to correct of these subscriptions, which have ended, wait for nothing more.
   */
  public Future<Void> ended(SqlClient transaction, UUID merchantId, Collection<Id> subscriptions) {
    return subscriptions.isEmpty()
        ? Future.succeededFuture()
        : transaction
            .preparedQuery(ENDED)
            .execute(
                Tuple.of(merchantId)
                    .addValue(subscriptions.stream().map(Id::uuid).toArray(UUID[]::new)))
            .mapEmpty();
  }

  /**
   * Has the next invoice bill what the fixed prices of this period, of a subscription that goes on,
   * cost more than was billed.
   */
  public Future<Void> requestFixed(
      SqlClient transaction, UUID merchantId, PeriodKey period, Instant since) {
    return transaction
        .preparedQuery(REQUEST_FIXED)
        .execute(
            Tuple.of(merchantId, period.subscriptionId().uuid(), period.index(), Sql.time(since)))
        .mapEmpty();
  }
}
