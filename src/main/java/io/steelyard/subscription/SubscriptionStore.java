package io.steelyard.subscription;

import io.steelyard.db.Columns;
import io.steelyard.db.Sql;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.Paging;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.domain.WireName;
import io.steelyard.subscription.SubscriptionMessages.SubscriptionView;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** Subscriptions. */
public final class SubscriptionStore {
  private static final String INSERT =
      """
      INSERT INTO subscription (id, merchant_id, customer_id, plan_id, status, start_date, end_date,
          trial_end, billing_cadence, currency, net_terms, payment_gateway, allow_customer_changes,
          auto_charge_invoice, auto_sync_invoice, auto_send_invoice, is_trial,
          charge_usage_during_trial, invoice_generation_start_date, due_at, period_index, created_at,
          updated_at)
      SELECT id, $21, customer_id, plan_id, status, start_date, end_date, trial_end, cadence,
             currency, net_terms, gateway, allow_changes, auto_charge, auto_sync, auto_send,
             is_trial, charge_usage, invoices_from, due_at, period_index, $22, $22
        FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[],
                    $6::timestamptz[], $7::timestamptz[], $8::text[], $9::text[], $10::text[],
                    $11::text[], $12::boolean[], $13::boolean[], $14::boolean[], $15::boolean[],
                    $16::boolean[], $17::boolean[], $18::timestamptz[], $19::timestamptz[],
                    $20::int[])
          AS t(id, customer_id, plan_id, status, start_date, end_date, trial_end, cadence, currency,
               net_terms, gateway, allow_changes, auto_charge, auto_sync, auto_send, is_trial,
               charge_usage, invoices_from, due_at, period_index)
      """;

  private static final String PROGRESS =
      """
      UPDATE subscription s
         SET status = t.status, is_trial = t.is_trial, period_index = t.period_index,
             due_at = t.due_at, updated_at = t.at, parked_reason = NULL
        FROM unnest($1::uuid[], $2::text[], $3::boolean[], $4::int[], $5::timestamptz[],
                    $6::timestamptz[])
          AS t(id, status, is_trial, period_index, due_at, at)
       WHERE s.merchant_id = $7 AND s.id = t.id
      """;

  private static final String FIND =
      "SELECT "
          + SubscriptionRows.COLUMNS
          + " FROM subscription WHERE merchant_id = $1 AND id = $2";

  // NO KEY, since rows that the fold writes meanwhile need this row's key
  private static final String FIND_AND_LOCK = FIND + " FOR NO KEY UPDATE";

  private static final String FIND_ALL =
      "SELECT "
          + SubscriptionRows.COLUMNS
          + " FROM subscription WHERE merchant_id = $1 AND id = ANY ($2::uuid[])";

  private static final String EXTERNAL_CUSTOMER_ID =
      """
      SELECT c.external_id FROM customer c
        JOIN subscription s ON s.merchant_id = c.merchant_id AND s.customer_id = c.id
       WHERE s.merchant_id = $1 AND s.id = $2
      """;

  private static final String SET_END =
      """
      UPDATE subscription SET end_date = $3, due_at = $4, updated_at = $5
       WHERE merchant_id = $1 AND id = $2
      """;

  private static final String SET_STATUS =
      """
      UPDATE subscription SET status = $4, due_at = NULL, updated_at = $5
       WHERE merchant_id = $1 AND id = $2 AND status = $3
      """;

  // The page's ids are found in an index alone; sorted or passed over as whole rows, those before
  // it would take several times as long. As an array they are looked up whatever else is planned.
  private static final String PAGE =
      "SELECT "
          + SubscriptionRows.COLUMNS
          + " FROM subscription WHERE merchant_id = $1 AND id = ANY (ARRAY("
          + "SELECT id FROM subscription%1$s%2$s LIMIT $%3$d OFFSET $%4$d))%2$s";

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

  /** How far the clockwork has come with a subscription, and when by the merchant's clock. */
  public record Progress(Subscription after, Instant at) {}

  public Future<Void> insert(SqlClient transaction, List<Subscription> list, UUID merchantId) {
    if (list.isEmpty()) {
      return Future.succeededFuture();
    }
    Tuple parameters =
        new Columns<>(list)
            .uuids(each -> each.id().uuid())
            .uuids(each -> each.view().customerId().uuid())
            .uuids(each -> each.view().planId().uuid())
            .texts(each -> each.view().status().wire())
            .times(each -> each.view().startDate())
            .times(each -> each.view().endDate())
            .times(Subscription::trialEnd)
            .texts(each -> wire(each.view().billingCadence()))
            .texts(each -> wire(each.view().currency()))
            .texts(each -> wire(each.view().netTerms()))
            .texts(each -> wire(each.view().paymentGateway()))
            .booleans(each -> each.view().allowCustomerChanges())
            .booleans(each -> each.view().autoChargeInvoice())
            .booleans(each -> each.view().autoSyncInvoice())
            .booleans(each -> each.view().autoSendInvoice())
            .booleans(each -> each.view().isTrial())
            .booleans(each -> each.view().chargeForUsageBasedPricesDuringTrial())
            .times(Subscription::invoiceGenerationStartDate)
            .times(Subscription::dueAt)
            .integers(Subscription::periodIndex)
            .and(merchantId, Sql.time(list.getFirst().view().createdAt()));
    return transaction.preparedQuery(INSERT).execute(parameters).mapEmpty();
  }

  /** Stores status, trial, period and due date of subscriptions whose rows are locked. */
  Future<Void> progress(SqlClient transaction, UUID merchantId, List<Progress> progress) {
    if (progress.isEmpty()) {
      return Future.succeededFuture();
    }
    return transaction
        .preparedQuery(PROGRESS)
        .execute(
            new Columns<>(progress)
                .uuids(each -> each.after().id().uuid())
                .texts(each -> each.after().view().status().wire())
                .booleans(each -> each.after().view().isTrial())
                .integers(each -> each.after().periodIndex())
                .times(each -> each.after().dueAt())
                .times(Progress::at)
                .and(merchantId))
        .mapEmpty();
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
                    : Optional.of(
                        SubscriptionRows.subscription(rows.iterator().next(), merchantId)));
  }

  /** The merchant's id of a subscription's customer. */
  public Future<String> externalCustomerId(SqlClient client, UUID merchantId, Id id) {
    return client
        .preparedQuery(EXTERNAL_CUSTOMER_ID)
        .execute(Tuple.of(merchantId, id.uuid()))
        .map(rows -> rows.iterator().next().getString("external_id"));
  }

  /** These subscriptions of the merchant, by id. */
  public Future<Map<Id, Subscription>> findAll(
      SqlClient client, UUID merchantId, Collection<Id> ids) {
    return client
        .preparedQuery(FIND_ALL)
        .execute(Tuple.of(merchantId).addValue(ids.stream().map(Id::uuid).toArray(UUID[]::new)))
        .map(
            rows -> {
              Map<Id, Subscription> found = new HashMap<>();
              for (Row row : rows) {
                Subscription subscription = SubscriptionRows.subscription(row, merchantId);
                found.put(subscription.id(), subscription);
              }
              return found;
            });
  }

  /**
   * @param endDate exclusive; null takes it away
   * @param dueAt when the clockwork must act next; null for never
   */
  public Future<Void> setEnd(
      SqlClient transaction, UUID merchantId, Id id, Instant endDate, Instant dueAt, Instant now) {
    return transaction
        .preparedQuery(SET_END)
        .execute(Tuple.of(merchantId, id.uuid(), Sql.time(endDate), Sql.time(dueAt), Sql.time(now)))
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
    Tuple parameters = Tuple.of(merchantId);
    return client
        .preparedQuery("SELECT count(*) FROM subscription" + where(filter, parameters))
        .execute(parameters)
        .map(rows -> rows.iterator().next().getLong(0));
  }

  public Future<List<SubscriptionView>> page(
      SqlClient client, UUID merchantId, Filter filter, Paging paging) {
    String direction = paging.ascending() ? " ASC" : " DESC";
    String order =
        " ORDER BY " + ORDER_COLUMNS.get(paging.orderBy()) + direction + ", id" + direction;
    Tuple parameters = Tuple.of(merchantId);
    String where = where(filter, parameters);
    String sql = PAGE.formatted(where, order, parameters.size() + 1, parameters.size() + 2);
    parameters.addValue(paging.pageSize()).addValue(paging.offset());
    return client
        .preparedQuery(sql)
        .execute(parameters)
        .map(
            rows -> {
              List<SubscriptionView> page = new ArrayList<>(rows.size());
              rows.forEach(row -> page.add(SubscriptionRows.subscription(row, merchantId).view()));
              return page;
            });
  }

  /** A plan that is kept must not have to fit those who ask for all and those who filter. */
  private static String where(Filter filter, Tuple parameters) {
    parameters.addValue(filter.statuses());
    StringBuilder where =
        new StringBuilder(" WHERE merchant_id = $1 AND status = ANY ($2::text[])");
    Sql.and("customer_id", filter.customerId(), where, parameters);
    Sql.and("id", filter.id(), where, parameters);
    Sql.and("plan_id", filter.planId(), where, parameters);
    return where.toString();
  }

  private static String wire(WireName value) {
    return value == null ? null : value.wire();
  }
}
