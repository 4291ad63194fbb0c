package io.steelyard.usage;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.steelyard.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Reads events back from the JSON that batches and chunks hold; V008 names its members. What is
 * read was written by this program, and is not checked again.
 */
final class EventContent {
  private static final JsonFactory FACTORY = Json.trustedFactory();
  private static final int EVENTS_EXPECTED = 64;

  private final JsonParser in;
  private final EventColumns.Builder columns = new EventColumns.Builder(EVENTS_EXPECTED);
  private final Map<String, String> names = new HashMap<>();
  private UUID customerId;
  private UUID key;
  private long atMillis;
  private String name;
  private String userId;
  private int jsonFrom;
  private int dataFrom;
  private int dataEnd;

  private EventContent(JsonParser in) {
    this.in = in;
  }

  /**
   * The events of a batch.
   *
   * @param repeats positions from 1 of those that had been stored before; null for none
   */
  static List<StoredEvent> ofBatch(UUID merchantId, byte[] content, Integer[] repeats) {
    EventColumns columns = read(null, content);
    boolean[] repeated = new boolean[columns.count()];
    if (repeats != null) {
      for (int position : repeats) {
        repeated[position - 1] = true;
      }
    }
    List<StoredEvent> stored = new ArrayList<>(columns.count());
    for (int i = 0; i < columns.count(); i++) {
      if (!repeated[i]) {
        stored.add(new StoredEvent(merchantId, columns, i));
      }
    }
    return stored;
  }

  /** The events of a chunk of this customer. */
  static List<StoredEvent> ofChunk(UUID merchantId, UUID customerId, String content) {
    EventColumns columns = read(customerId, content.getBytes(StandardCharsets.UTF_8));
    List<StoredEvent> events = new ArrayList<>(columns.count());
    for (int i = 0; i < columns.count(); i++) {
      events.add(new StoredEvent(merchantId, columns, i));
    }
    return events;
  }

  private static EventColumns read(UUID customerId, byte[] content) {
    try (JsonParser in = FACTORY.createParser(content)) {
      EventContent reader = new EventContent(in);
      in.nextToken();
      while (in.nextToken() == JsonToken.START_OBJECT) {
        reader.readEvent(customerId);
      }
      return reader.columns.build(content);
    } catch (IOException e) {
      throw new UncheckedIOException("stored events cannot be read", e);
    }
  }

  private void readEvent(UUID customer) throws IOException {
    customerId = customer;
    userId = null;
    dataFrom = 0;
    dataEnd = 0;
    jsonFrom = offset(in.currentTokenLocation().getByteOffset()) + 1;
    while (in.nextToken() == JsonToken.FIELD_NAME) {
      char member = in.currentName().charAt(0);
      in.nextToken();
      switch (member) {
        case 'c' -> {
          customerId = UUID.fromString(in.getText());
          // A chunk has the customer in a column: its JSON begins behind this member's comma.
          jsonFrom = offset(in.currentLocation().getByteOffset()) + 1;
        }
        case 'k' -> key = UUID.fromString(in.getText());
        case 't' -> atMillis = in.getLongValue();
        case 'n' -> name = known(in.getText());
        case 'u' -> userId = known(in.getText());
        case 'd' -> readData();
        default -> in.skipChildren();
      }
    }
    columns
        .add(
            customerId,
            key.getMostSignificantBits(),
            key.getLeastSignificantBits(),
            atMillis,
            name,
            userId)
        .json(jsonFrom, offset(in.currentLocation().getByteOffset()))
        .data(dataFrom, dataEnd);
  }

  /** One text for all events of a name, instead of one for each that is held. */
  private String known(String text) {
    String before = names.putIfAbsent(text, text);
    return before == null ? text : before;
  }

  private void readData() throws IOException {
    dataFrom = offset(in.currentTokenLocation().getByteOffset());
    in.skipChildren();
    dataEnd = offset(in.currentLocation().getByteOffset());
  }

  private static int offset(long byteOffset) {
    return (int) byteOffset;
  }
}
