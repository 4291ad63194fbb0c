package io.steelyard.usage;

import io.steelyard.domain.EventFacts;
import io.steelyard.json.Json;
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
  static final Comparator<StoredEvent> IN_ORDER =
      Comparator.comparing(StoredEvent::generatedAt)
          .thenComparing(event -> event.key().getMostSignificantBits(), Long::compareUnsigned)
          .thenComparing(event -> event.key().getLeastSignificantBits(), Long::compareUnsigned);

  EventFacts facts() {
    return new EventFacts(name, userId, data == null ? Map.of() : Json.readMap(data));
  }
}
