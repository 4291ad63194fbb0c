package io.steelyard.usage;

import io.steelyard.db.Columns;
import io.steelyard.db.Sql;
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

  // By customer, so that each page costs what it holds, however much came before it. Chunks that
  // begin at the same instant come together, since there is nothing else to tell them apart by.
  private static final String CHUNKS =
      """
      SELECT e.customer_id, e.first_at, e.content
        FROM unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[])
             AS c (customer_id, after, until)
       CROSS JOIN LATERAL (
         SELECT e.customer_id, e.first_at, e.content
           FROM event_chunk e
          WHERE e.merchant_id = $4 AND e.customer_id = c.customer_id
            AND e.first_at > c.after AND e.first_at < c.until
          ORDER BY e.first_at
          FETCH FIRST $5 ROWS WITH TIES) e
      """;

  /**
   * How far a customer's events have been read, chunk by chunk.
   *
   * @param after when the last chunk began that was read
   * @param until exclusive
   */
  record Cursor(UUID customerId, Instant after, Instant until) {}

  /**
   * The events of some chunks of a customer.
   *
   * @param last when the last of them began
   */
  record Chunks(int count, Instant last, List<StoredEvent> events) {
    private Chunks plus(Chunks more) {
      events.addAll(more.events); // not copied: many chunks may begin at one instant
      return new Chunks(count + more.count, more.last, events);
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

  /** Up to {@code max} further chunks of each customer, those that begin with the last included. */
  Future<Map<UUID, Chunks>> chunks(
      SqlClient client, UUID merchantId, List<Cursor> cursors, int max) {
    return client
        .preparedQuery(CHUNKS)
        .execute(
            new Columns<>(cursors)
                .uuids(Cursor::customerId)
                .times(Cursor::after)
                .times(Cursor::until)
                .and(merchantId, max))
        .map(
            rows -> {
              Map<UUID, Chunks> chunks = new HashMap<>();
              for (Row row : rows) {
                chunks.merge(row.getUUID("customer_id"), chunk(merchantId, row), Chunks::plus);
              }
              return chunks;
            });
  }

  private static Chunks chunk(UUID merchantId, Row row) {
    return new Chunks(
        1,
        Sql.instant(row, "first_at"),
        EventContent.ofChunk(merchantId, row.getUUID("customer_id"), row.getString("content")));
  }
}
