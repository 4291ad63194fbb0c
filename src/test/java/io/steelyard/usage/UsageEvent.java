package io.steelyard.usage;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** An event's parts, to be stored, or as they were. */
record UsageEvent(
    UUID key,
    int payloadHash,
    UUID customerId,
    String customerRef,
    String eventName,
    Instant generatedAt,
    String userId,
    String data) {

  static EncodedEvents encoded(List<UsageEvent> events) {
    EventWriter writer = new EventWriter(16);
    for (UsageEvent event : events) {
      byte[] data = event.data == null ? new byte[0] : event.data.getBytes(StandardCharsets.UTF_8);
      writer.add(
          event.key,
          event.payloadHash,
          event.customerId,
          event.customerRef,
          event.eventName,
          event.generatedAt.toEpochMilli(),
          event.userId,
          data,
          0,
          data.length);
    }
    return writer.encoded();
  }

  static List<UsageEvent> decoded(EncodedEvents events) {
    List<UsageEvent> decoded = new ArrayList<>();
    for (int i = 0; i < events.count(); i++) {
      int from = events.start(i);
      String json =
          new String(events.content(), from, events.ends()[i] - 1 - from, StandardCharsets.UTF_8);
      var node = io.steelyard.json.Json.readMap(json);
      String customer = (String) node.get("c");
      StoredEvent stored =
          EventContent.ofBatch(
                  UUID.randomUUID(), ('[' + json + ']').getBytes(StandardCharsets.UTF_8), null)
              .getFirst()
              .event();
      decoded.add(
          new UsageEvent(
              events.key(i),
              events.payloadHashes()[i],
              customer == null ? null : UUID.fromString(customer),
              (String) node.get("r"),
              stored.name(),
              stored.generatedAt(),
              stored.userId(),
              stored.data()));
    }
    return decoded;
  }
}
