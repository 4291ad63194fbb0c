package io.steelyard.usage;

import io.steelyard.db.Sql;
import io.steelyard.domain.EventFacts;
import io.steelyard.json.Json;
import io.vertx.sqlclient.Row;
import java.time.Instant;
import java.util.Comparator;
import java.util.Map;
import java.util.UUID;

/** An event of a possible customer, as the fold reads it back. */
record StoredEvent(
    UUID merchantId,
    UUID key,
    UUID customerId,
    Instant generatedAt,
    String name,
    String userId,
    String data) {
  /** The order in which units are drawn; keys as PostgreSQL orders them, which is unsigned. */
  static final Comparator<StoredEvent> IN_ORDER = StoredEvent::order;

  /** By hand: it is asked some times for each event that is counted. */
  private static int order(StoredEvent one, StoredEvent other) {
    int order = one.generatedAt.compareTo(other.generatedAt);
    if (order == 0) {
      order =
          Long.compareUnsigned(
              one.key.getMostSignificantBits(), other.key.getMostSignificantBits());
    }
    return order != 0
        ? order
        : Long.compareUnsigned(
            one.key.getLeastSignificantBits(), other.key.getLeastSignificantBits());
  }

  /** From the columns of a row of {@code event}. */
  static StoredEvent of(Row row) {
    return new StoredEvent(
        row.getUUID("merchant_id"),
        row.getUUID("key"),
        row.getUUID("customer_id"),
        Sql.instant(row, "generated_at"),
        row.getString("name"),
        row.getString("user_id"),
        row.getString("data"));
  }

  EventFacts facts() {
    return new EventFacts(name, userId, data == null ? Map.of() : Json.readMap(data));
  }
}
