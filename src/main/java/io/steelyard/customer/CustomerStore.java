package io.steelyard.customer;

import io.steelyard.customer.CustomerMessages.CustomerInput;
import io.steelyard.customer.CustomerMessages.CustomerView;
import io.steelyard.db.Ids;
import io.steelyard.db.Sql;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.Paging;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Customers and the private plans granted to them. */
final class CustomerStore {
  /** Each writable field and its column, in the order of {@link CustomerInput#FIELDS}. */
  static final List<String> COLUMNS =
      List.of(
          "external_id",
          "name",
          "email",
          "billing_address1",
          "billing_address2",
          "billing_city",
          "billing_country",
          "billing_state",
          "billing_zip_code",
          "shipping_address1",
          "shipping_address2",
          "shipping_city",
          "shipping_country",
          "shipping_state",
          "shipping_zip_code",
          "ledger_a_id",
          "card_gateway_id",
          "ledger_b_id");

  private static final String FIELD_LIST = String.join(", ", COLUMNS);

  /**
   * One array of values and one of flags for each field: a field that was left out keeps what is
   * stored, one sent as null is cleared. Known rows are locked, not written ({@code WHERE false}
   * locks all the same), and new ones inserted, in one order of external_id: with locks for the
   * known ones and inserts apart, two bulk calls could each hold what the other waits for.
   */
  private static final String INSERT_OR_LOCK =
      """
      INSERT INTO customer AS c (id, merchant_id, had_trial, created_at, updated_at, %1$s)
      SELECT t.id, $1, false, $2, $2, %2$s
        FROM unnest($3::uuid[], %3$s) AS t(id, %1$s, %4$s)
       ORDER BY t.external_id
      ON CONFLICT ON CONSTRAINT customer_external_id_key
      DO UPDATE SET updated_at = excluded.updated_at WHERE false
      RETURNING c.id
      """
          .formatted(
              FIELD_LIST,
              COLUMNS.stream().map(column -> "t." + column).collect(Collectors.joining(", ")),
              IntStream.range(0, 2 * COLUMNS.size())
                  .mapToObj(i -> "$" + (i + 4) + (i < COLUMNS.size() ? "::text[]" : "::boolean[]"))
                  .collect(Collectors.joining(", ")),
              COLUMNS.stream().map(column -> "has_" + column).collect(Collectors.joining(", ")));

  private static final String UPDATE_MANY =
      """
      UPDATE customer AS c
         SET updated_at = $2, %1$s
        FROM unnest($3::uuid[], %2$s) AS t(id, %3$s, %4$s)
       WHERE c.merchant_id = $1 AND c.external_id = t.external_id AND c.id <> t.id
      """
          .formatted(
              COLUMNS.stream()
                  .filter(column -> !column.equals("external_id"))
                  .map(
                      column ->
                          "%1$s = CASE WHEN t.has_%1$s THEN t.%1$s ELSE c.%1$s END"
                              .formatted(column))
                  .collect(Collectors.joining(", ")),
              IntStream.range(0, 2 * COLUMNS.size())
                  .mapToObj(i -> "$" + (i + 4) + (i < COLUMNS.size() ? "::text[]" : "::boolean[]"))
                  .collect(Collectors.joining(", ")),
              FIELD_LIST,
              COLUMNS.stream().map(column -> "has_" + column).collect(Collectors.joining(", ")));

  private static final String SELECT =
      "SELECT id, created_at, updated_at, " + FIELD_LIST + " FROM customer";

  private static final String FIND = SELECT + " WHERE merchant_id = $1 AND id = $2";
  private static final String FIND_BY_EXTERNAL_ID =
      SELECT + " WHERE merchant_id = $1 AND external_id = $2";
  private static final String FIND_MANY =
      SELECT + " WHERE merchant_id = $1 AND external_id = ANY ($2::text[])";

  private static final String LINK_CARD_GATEWAY =
      """
      UPDATE customer SET card_gateway_id = coalesce(card_gateway_id, $3), updated_at = $4
       WHERE merchant_id = $1 AND id = $2
      """;

  private static final String GRANT_PLAN =
      """
      INSERT INTO customer_private_plan (merchant_id, customer_id, plan_id, created_at)
      VALUES ($1, $2, $3, $4)
      ON CONFLICT DO NOTHING
      """;

  private static final Map<String, String> ORDER_COLUMNS =
      Map.of(
          "createdAt", "created_at",
          "email", "email",
          "id", "id",
          "name", "name",
          "ledgerAId", "ledger_a_id",
          "cardGatewayId", "card_gateway_id",
          "updatedAt", "updated_at");

  private static final List<String> FILTERS =
      List.of("externalId", "ledgerAId", "cardGatewayId", "email", "name");

  /** Creates the unknown ones and updates the others, and answers all in the order given. */
  Future<List<CustomerView>> upsert(
      SqlClient tx, UUID merchantId, List<CustomerInput> inputs, Instant now) {
    String[] externalIds = inputs.stream().map(CustomerInput::externalId).toArray(String[]::new);
    Tuple parameters = upsertParameters(merchantId, inputs, now);
    return tx.preparedQuery(INSERT_OR_LOCK)
        .execute(parameters)
        .compose(
            inserted ->
                inserted.size() == inputs.size()
                    ? Future.succeededFuture()
                    : tx.preparedQuery(UPDATE_MANY).execute(parameters).mapEmpty())
        .compose(
            done -> tx.preparedQuery(FIND_MANY).execute(Tuple.of(merchantId).addValue(externalIds)))
        .map(rows -> inOrder(rows, merchantId, inputs));
  }

  private static Tuple upsertParameters(UUID merchantId, List<CustomerInput> inputs, Instant now) {
    Tuple parameters = Tuple.of(merchantId, Sql.time(now));
    parameters.addValue(inputs.stream().map(input -> Ids.nextUuid()).toArray(UUID[]::new));
    for (String field : CustomerInput.FIELDS) {
      parameters.addValue(
          inputs.stream().map(input -> input.fields().get(field)).toArray(String[]::new));
    }
    for (String field : CustomerInput.FIELDS) {
      parameters.addValue(
          inputs.stream().map(input -> input.fields().containsKey(field)).toArray(Boolean[]::new));
    }
    return parameters;
  }

  private static List<CustomerView> inOrder(
      RowSet<Row> rows, UUID merchantId, List<CustomerInput> inputs) {
    Map<String, CustomerView> byExternalId = new HashMap<>();
    rows.forEach(row -> byExternalId.put(row.getString("external_id"), view(row, merchantId)));
    return inputs.stream().map(input -> byExternalId.get(input.externalId())).toList();
  }

  Future<Optional<CustomerView>> find(SqlClient client, UUID merchantId, String id) {
    return one(client, FIND, Tuple.of(merchantId, Sql.uuid(IdKind.CUSTOMER, id)), merchantId);
  }

  Future<Optional<CustomerView>> findByExternalId(
      SqlClient client, UUID merchantId, String externalId) {
    return one(client, FIND_BY_EXTERNAL_ID, Tuple.of(merchantId, externalId), merchantId);
  }

  private static Future<Optional<CustomerView>> one(
      SqlClient client, String sql, Tuple parameters, UUID merchantId) {
    return client
        .preparedQuery(sql)
        .execute(parameters)
        .map(
            rows ->
                rows.size() == 0
                    ? Optional.empty()
                    : Optional.of(view(rows.iterator().next(), merchantId)));
  }

  Future<Long> count(SqlClient client, UUID merchantId, Map<String, String> filters) {
    Tuple parameters = Tuple.of(merchantId);
    return client
        .preparedQuery("SELECT count(*) FROM customer" + where(filters, parameters))
        .execute(parameters)
        .map(rows -> rows.iterator().next().getLong(0));
  }

  Future<List<CustomerView>> page(
      SqlClient client, UUID merchantId, Map<String, String> filters, Paging paging) {
    Tuple parameters = Tuple.of(merchantId);
    String where = where(filters, parameters);
    String direction = paging.ascending() ? " ASC" : " DESC";
    String sql =
        SELECT
            + where
            + " ORDER BY "
            + ORDER_COLUMNS.get(paging.orderBy())
            + direction
            + ", id"
            + direction
            + " LIMIT $"
            + (parameters.size() + 1)
            + " OFFSET $"
            + (parameters.size() + 2);
    parameters.addValue(paging.pageSize()).addValue(paging.offset());
    return client
        .preparedQuery(sql)
        .execute(parameters)
        .map(
            rows -> {
              List<CustomerView> page = new ArrayList<>(rows.size());
              rows.forEach(row -> page.add(view(row, merchantId)));
              return page;
            });
  }

  /** The few combinations of filters keep the prepared statements few; values are parameters. */
  private static String where(Map<String, String> filters, Tuple parameters) {
    StringBuilder where = new StringBuilder(" WHERE merchant_id = $1");
    if (filters.containsKey("id")) {
      parameters.addValue(Sql.uuid(IdKind.CUSTOMER, filters.get("id")));
      where.append(" AND id = $").append(parameters.size());
    }
    for (String filter : FILTERS) {
      if (filters.containsKey(filter)) {
        parameters.addValue(filters.get(filter));
        where
            .append(" AND ")
            .append(COLUMNS.get(CustomerInput.FIELDS.indexOf(filter)))
            .append(" = $")
            .append(parameters.size());
      }
    }
    return where.toString();
  }

  Future<Void> linkCardGateway(
      SqlClient client, UUID merchantId, Id id, String cardGatewayId, Instant now) {
    return client
        .preparedQuery(LINK_CARD_GATEWAY)
        .execute(Tuple.of(merchantId, id.uuid(), cardGatewayId, Sql.time(now)))
        .mapEmpty();
  }

  Future<Void> grantPrivatePlan(
      SqlClient client, UUID merchantId, Id customerId, Id planId, Instant now) {
    return client
        .preparedQuery(GRANT_PLAN)
        .execute(Tuple.of(merchantId, customerId.uuid(), planId.uuid(), Sql.time(now)))
        .mapEmpty();
  }

  static CustomerView view(Row row, UUID merchantId) {
    return new CustomerView(
        Sql.id(row, "id", IdKind.CUSTOMER),
        new Id(IdKind.MERCHANT, merchantId),
        row.getString("external_id"),
        row.getString("name"),
        row.getString("email"),
        row.getString("billing_address1"),
        row.getString("billing_address2"),
        row.getString("billing_city"),
        row.getString("billing_country"),
        row.getString("billing_state"),
        row.getString("billing_zip_code"),
        row.getString("shipping_address1"),
        row.getString("shipping_address2"),
        row.getString("shipping_city"),
        row.getString("shipping_country"),
        row.getString("shipping_state"),
        row.getString("shipping_zip_code"),
        row.getString("ledger_a_id"),
        row.getString("card_gateway_id"),
        Sql.instant(row, "created_at"),
        Sql.instant(row, "updated_at"));
  }
}
