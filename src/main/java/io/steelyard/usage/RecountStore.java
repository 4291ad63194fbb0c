package io.steelyard.usage;

import io.steelyard.db.Columns;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Reads events back customer by customer, as far as they have been counted. */
final class RecountStore {
  private static final String CUSTOMERS =
      """
      SELECT c.id FROM customer c
       WHERE c.merchant_id = $1 AND c.id > $2
         AND EXISTS (SELECT FROM subscription_period p
                      WHERE p.merchant_id = $1 AND p.customer_id = c.id)
       ORDER BY c.id LIMIT $3
      """;

  // By customer, so that each page costs what it holds, however much came before it.
  private static final String EVENTS =
      """
      SELECT e.merchant_id, e.key, e.customer_id, e.generated_at, e.name, e.user_id, e.data
        FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::timestamptz[])
             AS c (customer_id, after_time, after_key, until)
       CROSS JOIN LATERAL (
         SELECT e.merchant_id, e.key, e.customer_id, e.generated_at, e.name, e.user_id, e.data
           FROM event e
          WHERE e.merchant_id = $5 AND e.customer_id = c.customer_id
            AND e.generated_at >= c.after_time AND e.generated_at < c.until
            AND (e.generated_at, e.key) > (c.after_time, c.after_key)
            AND NOT EXISTS (SELECT FROM event_batch b
                             WHERE b.batch = e.batch AND b.merchant_id = e.merchant_id)
          ORDER BY e.generated_at, e.key LIMIT $6) e
      """;

  /**
   * How far a customer's events have been read.
   *
   * @param until exclusive
   */
  record Cursor(UUID customerId, Instant afterTime, UUID afterKey, Instant until) {
    Cursor after(StoredEvent event) {
      return new Cursor(customerId, event.generatedAt(), event.key(), until);
    }
  }

  /** The next customers by id that have periods. */
  Future<List<UUID>> customers(SqlClient client, UUID merchantId, UUID after, int max) {
    return client
        .preparedQuery(CUSTOMERS)
        .execute(Tuple.of(merchantId, after, max))
        .map(
            rows -> {
              List<UUID> ids = new ArrayList<>(rows.size());
              rows.forEach(row -> ids.add(row.getUUID("id")));
              return ids;
            });
  }

  /** Up to {@code max} further events of each customer, in their order; none that waits. */
  Future<Map<UUID, List<StoredEvent>>> events(
      SqlClient client, UUID merchantId, List<Cursor> cursors, int max) {
    return client
        .preparedQuery(EVENTS)
        .execute(
            new Columns<>(cursors)
                .uuids(Cursor::customerId)
                .times(Cursor::afterTime)
                .uuids(Cursor::afterKey)
                .times(Cursor::until)
                .and(merchantId, max))
        .map(
            rows -> {
              Map<UUID, List<StoredEvent>> events = new HashMap<>();
              for (Row row : rows) {
                StoredEvent event = StoredEvent.of(row);
                events.computeIfAbsent(event.customerId(), id -> new ArrayList<>()).add(event);
              }
              return events;
            });
  }
}
