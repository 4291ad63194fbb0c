package io.steelyard.usage;

import io.steelyard.db.Columns;
import io.steelyard.db.Sql;
import io.steelyard.usage.BatchStore.Batch;
import io.steelyard.usage.Flush.Entry;
import io.steelyard.usage.Flush.Share;
import io.vertx.core.Future;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Writes flushes: the keys that decide what is new, and a batch per merchant for the fold, in one
 * statement and hence one commit. A plain insert costs a third of one that looks for conflicts, so
 * that is tried first, as long as no duplicates have come lately. Belongs to one event loop.
 */
final class EventStore {
  // Nothing is stored when one key is known: the statement fails as a whole.
  // The arrays stand in the list of what is selected: behind FROM, each row would be written down
  // once more before.
  private static final String STORE_NEW =
      """
      WITH keys AS (
        INSERT INTO event_key (merchant_number, payload_hash, key)
        SELECT unnest($1::integer[]), unnest($2::integer[]), unnest($3::uuid[])
      )
      INSERT INTO event_batch
        (batch, merchant_id, events, bytes, stored_at, held_by, content, repeats)
      SELECT nextval('event_batch_seq'), s.merchant_id, s.events, s.bytes, $9::timestamptz,
             $10::uuid, s.content, s.repeats::integer[]
      FROM unnest($4::uuid[], $5::integer[], $6::bigint[], $7::bytea[], $8::text[])
           AS s (merchant_id, events, bytes, content, repeats)
      RETURNING batch, merchant_id
      """;

  // Grouped, not joined: a plan for lists of unknown length would compare each with each.
  private static final String STORE =
      """
      WITH given AS MATERIALIZED (
        SELECT k.merchant_number, k.payload_hash, k.key, k.position
        FROM unnest($1::integer[], $2::integer[], $3::uuid[], $4::integer[])
             AS k (merchant_number, payload_hash, key, position)
      ), stored AS (
        INSERT INTO event_key (merchant_number, payload_hash, key)
        SELECT merchant_number, payload_hash, key FROM given
        ON CONFLICT DO NOTHING
        RETURNING merchant_number, key
      ), known AS MATERIALIZED (
        SELECT merchant_number, max(position) AS position
        FROM (SELECT merchant_number, key, position FROM given
              UNION ALL
              SELECT merchant_number, key, NULL FROM stored) k
        GROUP BY merchant_number, key
        HAVING count(*) = 1
      ), queued AS (
        INSERT INTO event_batch
          (batch, merchant_id, events, bytes, stored_at, held_by, content, repeats)
        SELECT nextval('event_batch_seq'), s.merchant_id, s.events - known.count, s.bytes,
               $11::timestamptz, $12::uuid, s.content,
               CASE WHEN known.count > 0 THEN s.repeats::integer[] || known.positions
                    ELSE s.repeats::integer[] END
        FROM unnest($5::uuid[], $6::integer[], $7::integer[], $8::bigint[], $9::bytea[],
                    $10::text[])
             AS s (merchant_id, merchant_number, events, bytes, content, repeats)
        CROSS JOIN LATERAL (
          SELECT count(*)::integer AS count, array_agg(k.position) AS positions
          FROM known k
          WHERE k.merchant_number = s.merchant_number) known
        WHERE s.events > known.count
        RETURNING batch, merchant_id
      )
      SELECT merchant_number, position, NULL::bigint AS batch, NULL::uuid AS merchant_id FROM known
      UNION ALL
      SELECT NULL, NULL, batch, merchant_id FROM queued
      """;

  private static final String COUNT_CONFLICTS =
      """
      SELECT count(*) AS conflicts
      FROM unnest($1::integer[], $2::uuid[], $3::integer[])
           AS i (merchant_number, key, payload_hash)
      JOIN event_key e ON e.merchant_number = i.merchant_number AND e.key = i.key
      WHERE e.payload_hash <> i.payload_hash
      """;

  private static final String UNIQUE_VIOLATION = "23505";
  private static final String INTERNAL_ERROR = "XX000";

  /** Flushes after a duplicate that are taken to bring more. */
  private static final int CAREFUL_FLUSHES = 64;

  // What an event takes of memory besides its content, when it is folded.
  private static final long BYTES_OF_AN_EVENT = 200;

  private final HeldEvents held;
  private final Supplier<UUID> holder;
  private int careful;

  /**
   * @param held takes what is stored whole
   * @param holder who means to count what is stored; of null for anybody
   */
  EventStore(HeldEvents held, Supplier<UUID> holder) {
    this.held = held;
    this.holder = holder;
  }

  /** Stores the entries whose keys are new, in one commit; the others. */
  Future<List<Entry>> store(SqlClient client, Flush flush, Instant storedAt) {
    if (careful > 0) {
      careful--;
      return storeWhatIsNew(client, flush, storedAt);
    }
    return client
        .preparedQuery(STORE_NEW)
        .execute(
            shares(keys(flush.entries()).and(), flush.shares(), false)
                .addValue(Sql.time(storedAt))
                .addValue(holder.get()))
        .map(
            batches -> {
              hold(flush, List.of(), batches);
              return List.<Entry>of();
            })
        .recover(
            error ->
                isDuplicate(error)
                    ? storeWhatIsNew(client, flush, storedAt)
                    : Future.failedFuture(error));
  }

  /** What has events that were there before is read back. */
  private void hold(Flush flush, List<Entry> known, RowSet<Row> rows) {
    Map<UUID, Long> batchOf = new HashMap<>();
    rows.forEach(row -> batchOf.put(row.getUUID("merchant_id"), row.getLong("batch")));
    Set<Integer> withKnown = known.stream().map(Entry::merchantNumber).collect(Collectors.toSet());
    for (Share share : flush.shares()) {
      Long batch = batchOf.get(share.merchantId());
      if (batch != null
          && share.repeats().isEmpty()
          && !withKnown.contains(share.merchantNumber())) {
        held.hold(new Batch.Ref(batch, share.merchantId()), share.requests());
      }
    }
  }

  private Future<List<Entry>> storeWhatIsNew(SqlClient client, Flush flush, Instant storedAt) {
    Tuple parameters = keys(flush.entries()).integers(Entry::position).and();
    return client
        .preparedQuery(STORE)
        .execute(
            shares(parameters, flush.shares(), true)
                .addValue(Sql.time(storedAt))
                .addValue(holder.get()))
        .map(
            rows -> {
              List<Entry> known = entries(flush, rows);
              if (!known.isEmpty()) {
                careful = CAREFUL_FLUSHES;
              }
              hold(flush, known, rows);
              return known;
            });
  }

  /**
   * Of the table, or of a shard of it, whose names begin with the table's. What a worker of Citus
   * says while rows are copied to it comes without its SQLSTATE, but in its words.
   */
  private static boolean isDuplicate(Throwable error) {
    return error instanceof PgException pg
        && (UNIQUE_VIOLATION.equals(pg.getSqlState())
                && String.valueOf(pg.getTable()).startsWith("event_key")
            || INTERNAL_ERROR.equals(pg.getSqlState())
                && String.valueOf(pg.getErrorMessage()).contains("\"event_key_pkey_"));
  }

  private static Columns<Entry> keys(List<Entry> entries) {
    return new Columns<>(entries)
        .integers(Entry::merchantNumber)
        .integers(Entry::payloadHash)
        .uuids(Entry::key);
  }

  private static Tuple shares(Tuple parameters, List<Share> shares, boolean numbered) {
    Columns<Share> columns = new Columns<>(shares).uuids(Share::merchantId);
    if (numbered) {
      columns.integers(Share::merchantNumber);
    }
    Tuple values =
        columns
            .integers(share -> share.count() - share.repeats().size())
            .longs(share -> share.content().length() + share.count() * BYTES_OF_AN_EVENT)
            .bytes(Share::content)
            .texts(EventStore::repeats)
            .and();
    for (int i = 0; i < values.size(); i++) {
      parameters.addValue(values.getValue(i));
    }
    return parameters;
  }

  /** As PostgreSQL spells an array; null for none. */
  private static String repeats(Share share) {
    return share.repeats().isEmpty()
        ? null
        : share.repeats().stream().map(String::valueOf).collect(Collectors.joining(",", "{", "}"));
  }

  private static List<Entry> entries(Flush flush, RowSet<Row> rows) {
    List<Row> known = new ArrayList<>();
    rows.forEach(
        row -> {
          if (row.getLong("batch") == null) {
            known.add(row);
          }
        });
    if (known.isEmpty()) {
      return List.of();
    }
    record Place(int merchantNumber, int position) {}
    Map<Place, Entry> entries = new HashMap<>();
    flush
        .entries()
        .forEach(entry -> entries.put(new Place(entry.merchantNumber(), entry.position()), entry));
    List<Entry> found = new ArrayList<>(known.size());
    known.forEach(row -> found.add(entries.get(new Place(row.getInteger(0), row.getInteger(1)))));
    return found;
  }

  /** How many of these are stored with another payload. */
  Future<Long> countConflicts(SqlClient client, List<Entry> duplicates) {
    return client
        .preparedQuery(COUNT_CONFLICTS)
        .execute(
            new Columns<>(duplicates)
                .integers(Entry::merchantNumber)
                .uuids(Entry::key)
                .integers(Entry::payloadHash)
                .and())
        .map(rows -> rows.iterator().next().getLong("conflicts"));
  }

  /** What the keys of a merchant that is there are stored under. */
  Future<Integer> merchantNumber(SqlClient client, UUID merchantId) {
    return client
        .preparedQuery("SELECT number FROM merchant WHERE id = $1")
        .execute(Tuple.of(merchantId))
        .map(rows -> rows.iterator().next().getInteger(0));
  }
}
