package io.steelyard.usage;

import io.steelyard.json.Json;
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
      EventColumns columns = events.columns();
      byte[] json = new byte[columns.jsonBytes(i)];
      columns.copyJson(i, json, 0);
      var members = Json.readMap(new String(json, StandardCharsets.UTF_8));
      decoded.add(
          new UsageEvent(
              events.key(i),
              events.payloadHashes()[i],
              columns.customerId(i),
              (String) members.get("r"),
              columns.name(i),
              Instant.ofEpochMilli(columns.atMillis(i)),
              columns.userId(i),
              columns.data(i)));
    }
    return decoded;
  }
}
