package io.steelyard.customer;

import io.steelyard.customer.CustomerMessages.AccessView;
import io.steelyard.customer.CustomerMessages.CustomerInput;
import io.steelyard.db.Sql;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Inserts customers by sets, and reads what their creation has brought them. */
final class CreationStore {
  private static final int FIRST_FIELD_PARAMETER = 5;

  /**
   * In one order of external_id, so that two of these never each hold what the other waits for; of
   * those with the same one, the first of the list is inserted.
   */
  private static final String INSERT =
      """
      INSERT INTO customer (id, merchant_id, had_trial, created_at, updated_at, %1$s)
      SELECT t.id, $1, $2, $3, $3, %2$s
        FROM unnest($4::uuid[], %3$s) WITH ORDINALITY AS t(id, %1$s, n)
       ORDER BY t.external_id, t.n
      ON CONFLICT ON CONSTRAINT customer_external_id_key DO NOTHING
      RETURNING id
      """
          .formatted(
              String.join(", ", CustomerStore.COLUMNS),
              CustomerStore.COLUMNS.stream()
                  .map(column -> "t." + column)
                  .collect(Collectors.joining(", ")),
              IntStream.range(0, CustomerStore.COLUMNS.size())
                  .mapToObj(i -> "$" + (FIRST_FIELD_PARAMETER + i) + "::text[]")
                  .collect(Collectors.joining(", ")));

  private static final String ACCESS =
      """
      SELECT id, access, invalidated, start_date, end_date, current_usage, created_at, updated_at,
             billable_id, customer_id, subscription_id
        FROM billable_access
       WHERE merchant_id = $1 AND customer_id = ANY ($2::uuid[])
       ORDER BY id
      """;

  /** A customer to be. */
  record NewCustomer(Id id, CustomerInput input) {}

  /** Inserts those whose externalId is free, and answers the ids of these. */
  Future<Set<UUID>> insert(
      SqlClient tx, UUID merchantId, List<NewCustomer> customers, boolean trial, Instant now) {
    Tuple parameters = Tuple.of(merchantId, trial, Sql.time(now));
    parameters.addValue(customers.stream().map(each -> each.id().uuid()).toArray(UUID[]::new));
    for (String field : CustomerInput.FIELDS) {
      parameters.addValue(
          customers.stream().map(each -> each.input().fields().get(field)).toArray(String[]::new));
    }
    return tx.preparedQuery(INSERT)
        .execute(parameters)
        .map(
            rows -> {
              Set<UUID> inserted = new HashSet<>();
              rows.forEach(row -> inserted.add(row.getUUID("id")));
              return inserted;
            });
  }

  /** Access by customer. */
  Future<Map<UUID, List<AccessView>>> access(SqlClient client, UUID merchantId, UUID[] customers) {
    return client
        .preparedQuery(ACCESS)
        .execute(Tuple.of(merchantId, (Object) customers))
        .map(
            rows -> {
              Map<UUID, List<AccessView>> access = new HashMap<>();
              rows.forEach(
                  row ->
                      access
                          .computeIfAbsent(row.getUUID("customer_id"), id -> new ArrayList<>())
                          .add(access(row, merchantId)));
              return access;
            });
  }

  private static AccessView access(Row row, UUID merchantId) {
    return new AccessView(
        row.getBoolean("access"),
        Sql.instant(row, "created_at"),
        Sql.instant(row, "end_date"),
        Sql.id(row, "id", IdKind.ACCESS),
        row.getBoolean("invalidated"),
        Sql.instant(row, "start_date"),
        Sql.instant(row, "updated_at"),
        Sql.id(row, "billable_id", IdKind.BILLABLE),
        Sql.id(row, "customer_id", IdKind.CUSTOMER),
        new Id(IdKind.MERCHANT, merchantId),
        Sql.id(row, "subscription_id", IdKind.SUBSCRIPTION),
        row.getBigDecimal("current_usage"));
  }
}
