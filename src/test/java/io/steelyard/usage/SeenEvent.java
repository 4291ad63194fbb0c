package io.steelyard.usage;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;

/** All that the fold sees of an event, wherever it has it from. */
record SeenEvent(
    UUID merchantId,
    UUID key,
    UUID customerId,
    Instant generatedAt,
    String name,
    String userId,
    String data) {
  /** As {@link StoredEvent#IN_ORDER}: a UUID's text is in the order of its bytes. */
  static final Comparator<SeenEvent> IN_ORDER =
      Comparator.comparing(SeenEvent::generatedAt).thenComparing(event -> event.key().toString());

  static SeenEvent of(UUID merchantId, UsageEvent event) {
    return new SeenEvent(
        merchantId,
        event.key(),
        event.customerId(),
        event.generatedAt(),
        event.eventName(),
        event.userId(),
        event.data());
  }

  static SeenEvent of(StoredEvent event) {
    return new SeenEvent(
        event.merchantId(),
        event.key(),
        event.customerId(),
        event.generatedAt(),
        event.name(),
        event.userId(),
        event.data());
  }

  static List<SeenEvent> all(List<StoredEvent> events) {
    return events.stream().map(SeenEvent::of).toList();
  }
}
