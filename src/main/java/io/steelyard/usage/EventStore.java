package io.steelyard.usage;

import io.steelyard.db.Columns;
import io.steelyard.db.Sql;
import io.steelyard.usage.UsageMessages.UsageEvent;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/** Writes events, with the batch that the fold will claim them by. */
final class EventStore {
  // One statement, hence one commit. Rows go in by (merchant, key), so that two flushes with keys
  // in common wait for each other in one order and never deadlock.
  private static final String STORE =
      """
      WITH flush AS MATERIALIZED (
        SELECT nextval('event_batch_seq') AS batch
      ), stored AS (
        INSERT INTO event (merchant_id, key, batch, customer_id, payload_hash, generated_at,
                           customer_ref, name, user_id, data)
        SELECT e.merchant_id, e.key, flush.batch, e.customer_id, e.payload_hash, e.generated_at,
               e.customer_ref, e.name, e.user_id, e.data
        FROM flush,
             unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::timestamptz[],
                    $6::text[], $7::text[], $8::text[], $9::text[])
               AS e (merchant_id, key, customer_id, payload_hash, generated_at,
                     customer_ref, name, user_id, data)
        ORDER BY e.merchant_id, e.key
        ON CONFLICT DO NOTHING
        RETURNING merchant_id, key, batch,
                  200 + octet_length(name) + coalesce(octet_length(user_id), 0)
                    + coalesce(octet_length(data), 0) AS bytes
      ), queued AS (
        INSERT INTO event_batch (batch, merchant_id, events, bytes, stored_at)
        SELECT batch, merchant_id, count(*), sum(bytes), $10::timestamptz
        FROM stored
        GROUP BY batch, merchant_id
      )
      SELECT merchant_id, key FROM stored
      """;

  private static final String COUNT_CONFLICTS =
      """
      SELECT count(*) AS conflicts
      FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS i (merchant_id, key, payload_hash)
      JOIN event e ON e.merchant_id = i.merchant_id AND e.key = i.key
      WHERE e.payload_hash <> i.payload_hash
      """;

  /** What an event is stored under, once. */
  record EventId(UUID merchantId, UUID key) {}

  /** An event and whose it is. */
  record Entry(EventId id, UsageEvent event) {}

  /** Stores the entries whose id is new, in one commit; the ids that were. */
  Future<Set<EventId>> store(SqlClient client, List<Entry> entries, Instant storedAt) {
    Tuple columns =
        new Columns<>(entries)
            .uuids(entry -> entry.id().merchantId())
            .uuids(entry -> entry.id().key())
            .uuids(entry -> entry.event().customerId())
            .longs(entry -> entry.event().payloadHash())
            .times(entry -> entry.event().generatedAt())
            .texts(entry -> entry.event().customerRef())
            .texts(entry -> entry.event().eventName())
            .texts(entry -> entry.event().userId())
            .texts(entry -> entry.event().data())
            .and(Sql.time(storedAt));
    return client
        .preparedQuery(STORE)
        .collecting(Collectors.mapping(EventStore::id, Collectors.toSet()))
        .execute(columns)
        .map(result -> result.value());
  }

  private static EventId id(Row row) {
    return new EventId(row.getUUID(0), row.getUUID(1));
  }

  /** How many of these are stored with another payload. */
  Future<Long> countConflicts(SqlClient client, List<Entry> duplicates) {
    return client
        .preparedQuery(COUNT_CONFLICTS)
        .execute(
            new Columns<>(duplicates)
                .uuids(entry -> entry.id().merchantId())
                .uuids(entry -> entry.id().key())
                .longs(entry -> entry.event().payloadHash())
                .and())
        .map(rows -> rows.iterator().next().getLong("conflicts"));
  }
}
