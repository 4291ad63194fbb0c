package io.steelyard.usage;

import io.steelyard.db.Sql;
import io.steelyard.domain.EventFacts;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * An event that was accepted: a place in columns. What is not a number there is made anew whenever
 * it is asked for.
 */
record StoredEvent(UUID merchantId, EventColumns columns, int place) {
  /** The order in which units are drawn; keys as PostgreSQL orders them, which is unsigned. */
  static final Comparator<StoredEvent> IN_ORDER = StoredEvent::order;

  /** By hand: it is asked some times for each event that is counted. */
  private static int order(StoredEvent one, StoredEvent other) {
    int order = Long.compare(one.atMillis(), other.atMillis());
    if (order == 0) {
      order =
          Long.compareUnsigned(one.columns.keyHigh(one.place), other.columns.keyHigh(other.place));
    }
    return order != 0
        ? order
        : Long.compareUnsigned(one.columns.keyLow(one.place), other.columns.keyLow(other.place));
  }

  /**
   * From rows of {@code event} or {@code counted_event}, all their columns but the customer's ref.
   */
  static List<StoredEvent> of(RowSet<Row> rows) {
    EventColumns.Builder columns = new EventColumns.Builder(rows.size());
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    List<UUID> merchants = new ArrayList<>(rows.size());
    for (Row row : rows) {
      UUID key = row.getUUID("key");
      merchants.add(row.getUUID("merchant_id"));
      columns.add(
          row.getUUID("customer_id"),
          key.getMostSignificantBits(),
          key.getLeastSignificantBits(),
          Sql.instant(row, "generated_at").toEpochMilli(),
          row.getString("name"),
          row.getString("user_id"));
      String data = row.getString("data");
      if (data != null) {
        int from = content.size();
        content.writeBytes(data.getBytes(StandardCharsets.UTF_8));
        columns.data(from, content.size());
      }
    }
    EventColumns built = columns.build(content.toByteArray());
    List<StoredEvent> events = new ArrayList<>(merchants.size());
    for (int i = 0; i < merchants.size(); i++) {
      events.add(new StoredEvent(merchants.get(i), built, i));
    }
    return events;
  }

  UUID key() {
    return new UUID(columns.keyHigh(place), columns.keyLow(place));
  }

  /** Null where the event names no customer id. */
  UUID customerId() {
    return columns.customerId(place);
  }

  Instant generatedAt() {
    return Instant.ofEpochMilli(atMillis());
  }

  /** {@link #generatedAt} in milliseconds since 1970. */
  long atMillis() {
    return columns.atMillis(place);
  }

  String name() {
    return columns.name(place);
  }

  /** Null for none. */
  String userId() {
    return columns.userId(place);
  }

  /** As sent; null for none. */
  String data() {
    return columns.data(place);
  }

  /** Whether both are the same event, wherever it was read from. */
  boolean isSameAs(StoredEvent other) {
    return key().equals(other.key()) && merchantId.equals(other.merchantId);
  }

  EventFacts facts() {
    return new EventFacts(
        name(), userId(), columns.hasData(place) ? new StoredData(columns, place) : Map.of());
  }

  /** How many bytes a chunk has of it. */
  int jsonBytes() {
    return columns.jsonBytes(place);
  }

  /** Where the next byte comes. */
  int copyJson(byte[] to, int at) {
    return columns.copyJson(place, to, at);
  }
}
