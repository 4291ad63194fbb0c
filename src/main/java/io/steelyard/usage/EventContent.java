package io.steelyard.usage;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.steelyard.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * Reads events back from the JSON that batches and chunks hold; V008 names its members. What is
 * read was written by this program, and is not checked again.
 */
final class EventContent {
  private static final JsonFactory FACTORY = Json.trustedFactory();

  /**
   * An event with the JSON that a chunk holds of it, which stays where it was read from.
   *
   * @param event without a customer id where its JSON has the id as sent
   * @param content of the batch; behind an opening brace, the JSON is what is in it from {@code
   *     from} to before {@code end}
   */
  record Element(StoredEvent event, byte[] content, int from, int end) {
    int jsonBytes() {
      return 1 + end - from;
    }

    /** Where the next byte comes. */
    int copyJson(byte[] to, int at) {
      to[at] = '{';
      System.arraycopy(content, from, to, at + 1, end - from);
      return at + jsonBytes();
    }
  }

  private final byte[] content;
  private final JsonParser in;
  private final UUID merchantId;
  private final Map<String, String> names = new HashMap<>();
  private UUID customerId;
  private UUID key;
  private long atMillis;
  private String name;
  private String userId;
  private String data;
  private int jsonFrom;

  private EventContent(UUID merchantId, byte[] content) throws IOException {
    this.merchantId = merchantId;
    this.content = content;
    this.in = FACTORY.createParser(content);
  }

  /**
   * The events of a batch.
   *
   * @param repeats positions from 1 of those that had been stored before; null for none
   */
  static List<Element> ofBatch(UUID merchantId, byte[] content, Integer[] repeats) {
    List<Element> elements = new ArrayList<>();
    read(merchantId, null, content, reader -> elements.add(reader.element()));
    if (repeats == null) {
      return elements;
    }
    boolean[] repeated = new boolean[elements.size() + 1];
    for (int position : repeats) {
      repeated[position] = true;
    }
    List<Element> stored = new ArrayList<>(elements.size());
    for (int i = 0; i < elements.size(); i++) {
      if (!repeated[i + 1]) {
        stored.add(elements.get(i));
      }
    }
    return stored;
  }

  /** The events of a chunk of this customer. */
  static List<StoredEvent> ofChunk(UUID merchantId, UUID customerId, String content) {
    List<StoredEvent> events = new ArrayList<>();
    byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
    read(merchantId, customerId, bytes, reader -> events.add(reader.event()));
    return events;
  }

  private static void read(
      UUID merchantId, UUID customerId, byte[] content, Consumer<EventContent> take) {
    try {
      EventContent reader = new EventContent(merchantId, content);
      try (JsonParser parser = reader.in) {
        parser.nextToken();
        while (parser.nextToken() == JsonToken.START_OBJECT) {
          reader.readEvent(customerId);
          take.accept(reader);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("stored events cannot be read", e);
    }
  }

  private void readEvent(UUID customer) throws IOException {
    customerId = customer;
    userId = null;
    data = null;
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
        case 'u' -> userId = in.getText();
        case 'd' -> data = readData();
        default -> in.skipChildren();
      }
    }
  }

  /** One text for all events of a name, instead of one for each that is held. */
  private String known(String text) {
    String before = names.putIfAbsent(text, text);
    return before == null ? text : before;
  }

  private String readData() throws IOException {
    int from = offset(in.currentTokenLocation().getByteOffset());
    in.skipChildren();
    return text(from, offset(in.currentLocation().getByteOffset()));
  }

  private StoredEvent event() {
    return new StoredEvent(
        merchantId, key, customerId, Instant.ofEpochMilli(atMillis), name, userId, data);
  }

  private Element element() {
    return new Element(event(), content, jsonFrom, offset(in.currentLocation().getByteOffset()));
  }

  private String text(int from, int end) {
    return new String(content, from, end - from, StandardCharsets.UTF_8);
  }

  private static int offset(long byteOffset) {
    return (int) byteOffset;
  }
}
