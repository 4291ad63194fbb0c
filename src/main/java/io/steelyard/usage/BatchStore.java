package io.steelyard.usage;

import io.steelyard.db.Columns;
import io.steelyard.db.Sql;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;

/** The inbox of the fold: batches of events that were stored and wait to be counted. */
final class BatchStore {
  // Locks only what nobody else works on; the rows are deleted when their events are folded.
  // What is held by a process that is heard of is left to it, as long as it is young: whoever else
  // counts it has to read it back. By the clocks of two processes: one that is not young by either
  // is anybody's.
  private static final String CLAIM =
      """
      SELECT b.batch, b.merchant_id, b.events, b.bytes
      FROM event_batch b
      WHERE NOT EXISTS (
        SELECT FROM unnest($2::bigint[], $3::uuid[]) AS passed (batch, merchant_id)
        WHERE passed.batch = b.batch AND passed.merchant_id = b.merchant_id)
      AND (b.held_by = ANY($4::uuid[])
           AND b.stored_at BETWEEN $5::timestamptz AND $6::timestamptz) IS NOT TRUE
      ORDER BY b.batch, b.merchant_id
      LIMIT $1
      FOR UPDATE SKIP LOCKED
      """;

  private static final String DELETE =
      """
      DELETE FROM event_batch b
      USING unnest($1::bigint[], $2::uuid[]) AS done (batch, merchant_id)
      WHERE b.batch = done.batch AND b.merchant_id = done.merchant_id
      """;

  private static final String CONTENT =
      """
      SELECT b.merchant_id, b.content, b.repeats
      FROM unnest($1::bigint[], $2::uuid[]) AS claimed (batch, merchant_id)
      JOIN event_batch b ON b.batch = claimed.batch AND b.merchant_id = claimed.merchant_id
      """;

  private static final String BACKLOG =
      "SELECT coalesce(sum(events), 0) AS events, min(stored_at) AS oldest FROM event_batch";

  /** Events of one merchant that were stored together and wait for the fold. */
  record Batch(Ref ref, int events, long bytes) {
    record Ref(long batch, UUID merchantId) {}
  }

  /**
   * @param oldest null when nothing waits
   */
  record Backlog(long events, Instant oldest) {}

  /**
   * The oldest batches that are nobody's, but those to be passed by; locked.
   *
   * @param holders whose batches are left to them, if they were stored
   * @param from then or later
   * @param to and then or before
   */
  Future<List<Batch>> claim(
      SqlConnection transaction,
      int rowsMax,
      Collection<Batch.Ref> passBy,
      Collection<UUID> holders,
      Instant from,
      Instant to) {
    Tuple parameters = Tuple.of(rowsMax);
    parameters.addValue(passBy.stream().map(Batch.Ref::batch).toArray(Long[]::new));
    parameters.addValue(passBy.stream().map(Batch.Ref::merchantId).toArray(UUID[]::new));
    parameters.addValue(holders.toArray(UUID[]::new));
    parameters.addValue(Sql.time(from));
    parameters.addValue(Sql.time(to));
    return transaction
        .preparedQuery(CLAIM)
        .execute(parameters)
        .map(
            rows -> {
              List<Batch> batches = new ArrayList<>(rows.size());
              rows.forEach(row -> batches.add(batch(row)));
              return batches;
            });
  }

  private static Batch batch(Row row) {
    return new Batch(
        new Batch.Ref(row.getLong("batch"), row.getUUID("merchant_id")),
        row.getInteger("events"),
        row.getLong("bytes"));
  }

  Future<Void> delete(SqlConnection transaction, Collection<Batch.Ref> batches) {
    return transaction.preparedQuery(DELETE).execute(columns(batches)).mapEmpty();
  }

  /** All events of these batches. */
  Future<List<StoredEvent>> events(SqlConnection transaction, Collection<Batch.Ref> batches) {
    if (batches.isEmpty()) {
      return Future.succeededFuture(List.of());
    }
    return transaction
        .preparedQuery(CONTENT)
        .execute(columns(batches))
        .map(
            rows -> {
              List<StoredEvent> events = new ArrayList<>();
              for (Row row : rows) {
                events.addAll(
                    EventContent.ofBatch(
                        row.getUUID("merchant_id"),
                        row.getBuffer("content").getBytes(),
                        row.getArrayOfIntegers("repeats")));
              }
              return events;
            });
  }

  private static Tuple columns(Collection<Batch.Ref> batches) {
    return new Columns<>(batches).longs(Batch.Ref::batch).uuids(Batch.Ref::merchantId).and();
  }

  Future<Backlog> backlog(SqlClient client) {
    return client
        .preparedQuery(BACKLOG)
        .execute()
        .map(rows -> rows.iterator().next())
        .map(row -> new Backlog(row.getLong("events"), Sql.instant(row, "oldest")));
  }
}
