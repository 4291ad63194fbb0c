package io.steelyard.customer;

import io.steelyard.customer.CustomerMessages.CustomerInput;
import io.steelyard.db.Sql;
import io.steelyard.domain.Id;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Inserts customers by sets. */
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
}
