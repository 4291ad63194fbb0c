package io.steelyard.customer;

import io.steelyard.customer.CustomerMessages.CustomerView;
import io.steelyard.db.Columns;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;

/** Single customers, many at once. */
final class CustomerReadStore {
  private static final String FIND_GROUP =
      """
      SELECT w.at, c.id, c.created_at, c.updated_at, %s
        FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS w(merchant_id, id, at)
        JOIN customer c ON c.merchant_id = w.merchant_id AND c.id = w.id
      """
          .formatted(
              CustomerStore.COLUMNS.stream()
                  .map(column -> "c." + column)
                  .collect(Collectors.joining(", ")));

  /** A customer of a merchant; an id of null is nobody's. */
  record Wanted(UUID merchantId, UUID id) {}

  /** Customers of any merchants, each of its own only, in the order given. */
  Future<List<Optional<CustomerView>>> findGroup(SqlClient client, List<Wanted> wanted) {
    return client
        .preparedQuery(FIND_GROUP)
        .execute(Columns.planned(wanted).uuids(Wanted::merchantId).uuids(Wanted::id).and())
        .map(
            rows -> {
              List<Optional<CustomerView>> found =
                  new ArrayList<>(Collections.nCopies(wanted.size(), Optional.empty()));
              for (Row row : rows) {
                int at = Math.toIntExact(row.getLong("at")) - 1;
                found.set(at, Optional.of(CustomerStore.view(row, wanted.get(at).merchantId())));
              }
              return found;
            });
  }
}
