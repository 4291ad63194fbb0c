package io.steelyard.subscription;

import io.steelyard.db.Sql;
import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.BillingPeriod;
import io.steelyard.domain.Currency;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.NetTerms;
import io.steelyard.domain.Paging;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.domain.WireName;
import io.steelyard.subscription.SubscriptionMessages.SubscriptionView;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;

/** Subscriptions and their periods. */
public final class SubscriptionStore {
  private static final String INSERT =
      """
      INSERT INTO subscription (id, merchant_id, customer_id, plan_id, status, start_date, end_date,
          trial_end, billing_cadence, currency, net_terms, payment_gateway, allow_customer_changes,
          auto_charge_invoice, auto_sync_invoice, auto_send_invoice, is_trial,
          charge_usage_during_trial, invoice_generation_start_date, created_at, updated_at)
      SELECT id, $1, customer_id, plan_id, status, start_date, end_date, trial_end, cadence,
             currency, net_terms, gateway, allow_changes, auto_charge, auto_sync, auto_send,
             is_trial, charge_usage, invoices_from, $20, $20
        FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::timestamptz[],
                    $7::timestamptz[], $8::timestamptz[], $9::text[], $10::text[], $11::text[],
                    $12::text[], $13::boolean[], $14::boolean[], $15::boolean[], $16::boolean[],
                    $17::boolean[], $18::boolean[], $19::timestamptz[])
          AS t(id, customer_id, plan_id, status, start_date, end_date, trial_end, cadence, currency,
               net_terms, gateway, allow_changes, auto_charge, auto_sync, auto_send, is_trial,
               charge_usage, invoices_from)
      """;

  private static final String INSERT_PERIODS =
      """
      INSERT INTO subscription_period (merchant_id, subscription_id, period_index, customer_id,
          plan_id, period_start, period_end, is_trial, opened_at, ready_until)
      SELECT $1, subscription_id, period_index, customer_id, plan_id, period_start, period_end,
             is_trial, $9, period_start
        FROM unnest($2::uuid[], $3::int[], $4::uuid[], $5::uuid[], $6::timestamptz[],
                    $7::timestamptz[], $8::boolean[])
          AS t(subscription_id, period_index, customer_id, plan_id, period_start, period_end,
               is_trial)
      """;

  static final String COLUMNS =
      """
      id, customer_id, plan_id, status, start_date, end_date, trial_end, billing_cadence, currency,
      net_terms, payment_gateway, allow_customer_changes, auto_charge_invoice, auto_sync_invoice,
      auto_send_invoice, is_trial, charge_usage_during_trial, invoice_generation_start_date,
      created_at, updated_at
      """;

  private static final String FIND =
      "SELECT " + COLUMNS + " FROM subscription WHERE merchant_id = $1 AND id = $2";

  private static final String FIND_AND_LOCK = FIND + " FOR UPDATE";

  private static final String EXTERNAL_CUSTOMER_ID =
      """
      SELECT c.external_id FROM customer c
        JOIN subscription s ON s.merchant_id = c.merchant_id AND s.customer_id = c.id
       WHERE s.merchant_id = $1 AND s.id = $2
      """;

  // The rows of access are locked in the order in which the fold locks them.
  private static final String SET_END =
      """
      WITH changed AS (
        UPDATE subscription SET end_date = $3, updated_at = $4
         WHERE merchant_id = $1 AND id = $2
      ), access AS MATERIALIZED (
        SELECT id FROM billable_access
         WHERE merchant_id = $1 AND subscription_id = $2
         ORDER BY billable_id FOR NO KEY UPDATE
      )
      UPDATE billable_access a SET end_date = $3, updated_at = $4
        FROM access WHERE a.merchant_id = $1 AND a.id = access.id
      """;

  private static final String CUT_PERIOD =
      """
      UPDATE subscription_period
         SET period_end = $3, ready_until = least(ready_until, $3)
       WHERE merchant_id = $1 AND subscription_id = $2 AND period_start < $3 AND period_end > $3
      """;

  // ready_until stays: events of the part that comes back may have been folded already
  private static final String EXTEND_PERIOD =
      """
      WITH extended AS (
        UPDATE subscription_period SET period_end = $4
         WHERE merchant_id = $1 AND subscription_id = $2 AND period_end = $3
        RETURNING period_index
      )
      UPDATE allocation_block b SET expires_at = $4
        FROM extended
       WHERE b.merchant_id = $1 AND b.subscription_id = $2
         AND b.period_index = extended.period_index AND b.expires_at = $3
      """;

  private static final String SET_STATUS =
      """
      UPDATE subscription SET status = $4, updated_at = $5
       WHERE merchant_id = $1 AND id = $2 AND status = $3
      """;

  private static final String FILTERED =
      """
       FROM subscription
      WHERE merchant_id = $1
        AND ($2::uuid IS NULL OR customer_id = $2)
        AND ($3::uuid IS NULL OR id = $3)
        AND ($4::uuid IS NULL OR plan_id = $4)
        AND status = ANY ($5::text[])
      """;

  private static final String COUNT = "SELECT count(*)" + FILTERED;

  private static final Map<String, String> ORDER_COLUMNS =
      Map.of(
          "createdAt", "created_at",
          "endDate", "end_date",
          "id", "id",
          "startDate", "start_date",
          "status", "status",
          "updatedAt", "updated_at");

  /** Null means any, for the status: all but deleted ones. */
  public record Filter(UUID customerId, UUID id, UUID planId, SubscriptionStatus status) {
    String[] statuses() {
      if (status != null) {
        return new String[] {status.wire()};
      }
      return Arrays.stream(SubscriptionStatus.values())
          .filter(each -> each != SubscriptionStatus.DELETED)
          .map(SubscriptionStatus::wire)
          .toArray(String[]::new);
    }
  }

  /** A period to be opened. */
  public record NewPeriod(Subscription subscription, BillingPeriod period) {}

  public Future<Void> insert(SqlClient transaction, List<Subscription> list, UUID merchantId) {
    if (list.isEmpty()) {
      return Future.succeededFuture();
    }
    Columns<Subscription> of = new Columns<>(list);
    Tuple parameters = Tuple.tuple();
    parameters
        .addValue(merchantId)
        .addValue(of.uuids(s -> s.view().id()))
        .addValue(of.uuids(s -> s.view().customerId()))
        .addValue(of.uuids(s -> s.view().planId()))
        .addValue(of.names(s -> s.view().status()))
        .addValue(of.times(s -> s.view().startDate()))
        .addValue(of.times(s -> s.view().endDate()))
        .addValue(of.times(Subscription::trialEnd))
        .addValue(of.names(s -> s.view().billingCadence()))
        .addValue(of.names(s -> s.view().currency()))
        .addValue(of.names(s -> s.view().netTerms()))
        .addValue(of.names(s -> s.view().paymentGateway()))
        .addValue(of.flags(s -> s.view().allowCustomerChanges()))
        .addValue(of.flags(s -> s.view().autoChargeInvoice()))
        .addValue(of.flags(s -> s.view().autoSyncInvoice()))
        .addValue(of.flags(s -> s.view().autoSendInvoice()))
        .addValue(of.flags(s -> s.view().isTrial()))
        .addValue(of.flags(s -> s.view().chargeForUsageBasedPricesDuringTrial()))
        .addValue(of.times(Subscription::invoiceGenerationStartDate))
        .addValue(Sql.time(list.get(0).view().createdAt()));
    return transaction.preparedQuery(INSERT).execute(parameters).mapEmpty();
  }

  /** Opens periods; their usage is counted once the fold has looked for events before them. */
  public Future<Void> insertPeriods(
      SqlClient transaction, UUID merchantId, List<NewPeriod> periods, Instant openedAt) {
    if (periods.isEmpty()) {
      return Future.succeededFuture();
    }
    Columns<NewPeriod> of = new Columns<>(periods);
    Tuple parameters = Tuple.tuple();
    parameters
        .addValue(merchantId)
        .addValue(of.uuids(p -> p.subscription().id()))
        .addValue(periods.stream().map(p -> p.period().index()).toArray(Integer[]::new))
        .addValue(of.uuids(p -> p.subscription().view().customerId()))
        .addValue(of.uuids(p -> p.subscription().view().planId()))
        .addValue(of.times(p -> p.period().start()))
        .addValue(of.times(p -> p.period().end()))
        .addValue(of.flags(p -> p.period().trial()))
        .addValue(Sql.time(openedAt));
    return transaction.preparedQuery(INSERT_PERIODS).execute(parameters).mapEmpty();
  }

  public Future<Optional<Subscription>> find(SqlClient client, UUID merchantId, String id) {
    return findBy(client, FIND, merchantId, id);
  }

  /** As {@link #find}, holding the row's lock until the transaction ends. */
  public Future<Optional<Subscription>> findAndLock(
      SqlClient transaction, UUID merchantId, String id) {
    return findBy(transaction, FIND_AND_LOCK, merchantId, id);
  }

  private static Future<Optional<Subscription>> findBy(
      SqlClient client, String sql, UUID merchantId, String id) {
    return client
        .preparedQuery(sql)
        .execute(Tuple.of(merchantId, Sql.uuid(IdKind.SUBSCRIPTION, id)))
        .map(
            rows ->
                rows.size() == 0
                    ? Optional.empty()
                    : Optional.of(subscription(rows.iterator().next(), merchantId)));
  }

  /** The merchant's id of a subscription's customer. */
  public Future<String> externalCustomerId(SqlClient client, UUID merchantId, Id id) {
    return client
        .preparedQuery(EXTERNAL_CUSTOMER_ID)
        .execute(Tuple.of(merchantId, id.uuid()))
        .map(rows -> rows.iterator().next().getString("external_id"));
  }

  /**
   * @param endDate exclusive; null takes it away
   */
  public Future<Void> setEnd(
      SqlClient transaction, UUID merchantId, Id id, Instant endDate, Instant now) {
    return transaction
        .preparedQuery(SET_END)
        .execute(Tuple.of(merchantId, id.uuid(), Sql.time(endDate), Sql.time(now)))
        .mapEmpty();
  }

  /** Ends the period that is open at {@code end} there. */
  public Future<Void> cutPeriod(SqlClient transaction, UUID merchantId, Id id, Instant end) {
    return transaction
        .preparedQuery(CUT_PERIOD)
        .execute(Tuple.of(merchantId, id.uuid(), Sql.time(end)))
        .mapEmpty();
  }

  /** Lets the period that was cut at {@code cut}, and the units of it, last until {@code end}. */
  public Future<Void> extendPeriod(
      SqlClient transaction, UUID merchantId, Id id, Instant cut, Instant end) {
    return transaction
        .preparedQuery(EXTEND_PERIOD)
        .execute(Tuple.of(merchantId, id.uuid(), Sql.time(cut), Sql.time(end)))
        .mapEmpty();
  }

  /** Changes the status if it still is {@code from}; the row is locked by the caller. */
  public Future<Void> setStatus(
      SqlClient transaction,
      UUID merchantId,
      Subscription subscription,
      SubscriptionStatus to,
      Instant now) {
    return transaction
        .preparedQuery(SET_STATUS)
        .execute(
            Tuple.of(
                merchantId,
                subscription.id().uuid(),
                subscription.view().status().wire(),
                to.wire(),
                Sql.time(now)))
        .mapEmpty();
  }

  public Future<Long> count(SqlClient client, UUID merchantId, Filter filter) {
    return client
        .preparedQuery(COUNT)
        .execute(
            Tuple.of(
                merchantId, filter.customerId(), filter.id(), filter.planId(), filter.statuses()))
        .map(rows -> rows.iterator().next().getLong(0));
  }

  public Future<List<SubscriptionView>> page(
      SqlClient client, UUID merchantId, Filter filter, Paging paging) {
    String direction = paging.ascending() ? " ASC" : " DESC";
    String sql =
        "SELECT "
            + COLUMNS
            + FILTERED
            + " ORDER BY "
            + ORDER_COLUMNS.get(paging.orderBy())
            + direction
            + ", id"
            + direction
            + " LIMIT $6 OFFSET $7";
    Tuple parameters =
        Tuple.of(merchantId, filter.customerId(), filter.id(), filter.planId(), filter.statuses());
    parameters.addValue(paging.pageSize()).addValue(paging.offset());
    return client
        .preparedQuery(sql)
        .execute(parameters)
        .map(
            rows -> {
              List<SubscriptionView> page = new ArrayList<>(rows.size());
              rows.forEach(row -> page.add(subscription(row, merchantId).view()));
              return page;
            });
  }

  static Subscription subscription(Row row, UUID merchantId) {
    SubscriptionView view =
        new SubscriptionView(
            Sql.id(row, "id", IdKind.SUBSCRIPTION),
            Sql.id(row, "customer_id", IdKind.CUSTOMER),
            Sql.id(row, "plan_id", IdKind.PLAN),
            new Id(IdKind.MERCHANT, merchantId),
            WireName.parse(SubscriptionStatus.class, row.getString("status")),
            Sql.instant(row, "start_date"),
            Sql.instant(row, "end_date"),
            WireName.parse(BillingCadence.class, row.getString("billing_cadence")),
            WireName.parse(Currency.class, row.getString("currency")),
            WireName.parseNullable(NetTerms.class, row.getString("net_terms")),
            WireName.parseNullable(PaymentGateway.class, row.getString("payment_gateway")),
            row.getBoolean("allow_customer_changes"),
            row.getBoolean("auto_charge_invoice"),
            row.getBoolean("auto_sync_invoice"),
            row.getBoolean("auto_send_invoice"),
            row.getBoolean("is_trial"),
            row.getBoolean("charge_usage_during_trial"),
            Sql.instant(row, "created_at"),
            Sql.instant(row, "updated_at"),
            null);
    return new Subscription(
        view, Sql.instant(row, "trial_end"), Sql.instant(row, "invoice_generation_start_date"));
  }

  /** Turns rows into the arrays that unnest takes. */
  private record Columns<T>(List<T> rows) {
    UUID[] uuids(Function<T, Id> field) {
      return rows.stream().map(row -> field.apply(row).uuid()).toArray(UUID[]::new);
    }

    String[] names(Function<T, WireName> field) {
      return rows.stream()
          .map(row -> field.apply(row) == null ? null : field.apply(row).wire())
          .toArray(String[]::new);
    }

    OffsetDateTime[] times(Function<T, Instant> field) {
      return rows.stream().map(row -> Sql.time(field.apply(row))).toArray(OffsetDateTime[]::new);
    }

    Boolean[] flags(Function<T, Boolean> field) {
      return rows.stream().map(field).toArray(Boolean[]::new);
    }
  }
}
