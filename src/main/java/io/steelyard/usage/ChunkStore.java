package io.steelyard.usage;

import io.steelyard.db.Columns;
import io.steelyard.db.Transactions;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.sqlclient.SqlConnection;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/** Keeps counted events: by customer and time, some of them a row, each row within a day of UTC. */
final class ChunkStore {
  // The order of the index, which is then written page by page.
  private static final String SAVE =
      """
      INSERT INTO event_chunk (merchant_id, customer_id, first_at, last_at, events, content)
      SELECT c.merchant_id, c.customer_id, c.first_at, c.last_at, c.events,
             convert_from(c.content, 'UTF8')
      FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::timestamptz[], $5::integer[],
                  $6::bytea[])
           AS c (merchant_id, customer_id, first_at, last_at, events, content)
      """;

  private static final String MONTHS =
      "SELECT count(event_month(m.month)) FROM unnest($1::timestamptz[]) AS m (month)";

  // Two such rows fill a page; V012 lets them be stored as they are.
  private static final int CONTENT_BYTES_MAX = 3990;
  private static final long DAY_MILLIS = 86_400_000;
  private static final int MONTHS_BACK = 24;
  private static final int MONTHS_AHEAD = 2;

  private record Chunk(List<StoredEvent> events) {
    StoredEvent first() {
      return events.getFirst();
    }

    StoredEvent last() {
      return events.getLast();
    }

    /** As bytes: the client writes text to the server one by one. */
    Buffer content() {
      int bytes = 1;
      for (StoredEvent event : events) {
        bytes += event.jsonBytes() + 1;
      }
      byte[] content = new byte[bytes];
      int at = 0;
      for (StoredEvent event : events) {
        content[at] = (byte) (at == 0 ? '[' : ',');
        at = event.copyJson(content, at + 1);
      }
      content[at] = ']';
      return Buffer.buffer(content);
    }
  }

  private final Supplier<Instant> systemNow;

  ChunkStore(Supplier<Instant> systemNow) {
    this.systemNow = systemNow;
  }

  Future<Void> save(SqlConnection transaction, List<CustomerEvents> groups) {
    List<Chunk> chunks = chunks(groups);
    return Transactions.pipelined(
        () -> provideMonths(transaction, chunks), () -> insert(transaction, chunks));
  }

  private static Future<?> insert(SqlConnection transaction, List<Chunk> chunks) {
    return transaction
        .preparedQuery(SAVE)
        .execute(
            new Columns<>(chunks)
                .uuids(chunk -> chunk.first().merchantId())
                .uuids(chunk -> chunk.first().customerId())
                .times(chunk -> chunk.first().generatedAt())
                .times(chunk -> chunk.last().generatedAt())
                .integers(chunk -> chunk.events().size())
                .bytes(Chunk::content)
                .and());
  }

  private static List<Chunk> chunks(List<CustomerEvents> groups) {
    List<Chunk> chunks = new ArrayList<>();
    for (CustomerEvents group : groups) {
      List<StoredEvent> events = group.events();
      int from = 0;
      int bytes = 0;
      long day = day(group.first());
      for (int i = 0; i < events.size(); i++) {
        int more = events.get(i).jsonBytes() + 1;
        long dayOfThis = day(events.get(i));
        if (i > from && (bytes + more > CONTENT_BYTES_MAX || dayOfThis != day)) {
          chunks.add(new Chunk(events.subList(from, i)));
          from = i;
          bytes = 0;
        }
        day = dayOfThis;
        bytes += more;
      }
      chunks.add(new Chunk(events.subList(from, events.size())));
    }
    return chunks;
  }

  private static long day(StoredEvent event) {
    return Math.floorDiv(event.atMillis(), DAY_MILLIS);
  }

  /** Asked for each time: who remembered would also remember what was rolled back, or dropped. */
  private Future<?> provideMonths(SqlConnection transaction, List<Chunk> chunks) {
    YearMonth now = YearMonth.from(systemNow.get().atOffset(ZoneOffset.UTC));
    Set<YearMonth> months = new HashSet<>();
    long lastDay = Long.MIN_VALUE;
    for (Chunk chunk : chunks) {
      long day = day(chunk.first());
      if (day != lastDay) {
        YearMonth month = YearMonth.from(chunk.first().generatedAt().atOffset(ZoneOffset.UTC));
        if (!month.isBefore(now.minusMonths(MONTHS_BACK))
            && !month.isAfter(now.plusMonths(MONTHS_AHEAD))) {
          months.add(month);
        }
        lastDay = day;
      }
    }
    if (months.isEmpty()) {
      return Future.succeededFuture();
    }
    return transaction
        .preparedQuery(MONTHS)
        .execute(
            new Columns<>(months)
                .times(month -> month.atDay(1).atStartOfDay().toInstant(ZoneOffset.UTC))
                .and());
  }
}
