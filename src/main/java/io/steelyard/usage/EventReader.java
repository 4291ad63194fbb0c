package io.steelyard.usage;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.steelyard.config.Config;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.json.Timestamps;
import java.io.IOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.UUID;

/** Reads one body, event by event, and goes on after a fault to find the others. */
final class EventReader {
  private static final Instant EARLIEST = Instant.parse("2000-01-01T00:00:00Z");
  private static final Instant LATEST_EXCLUSIVE = Instant.parse("2100-01-01T00:00:00Z");

  private enum Field {
    CUSTOMER_ID("customerId", true),
    EVENT_NAME("eventName", true),
    GENERATED_AT("generatedAt", true),
    DATA("data", false),
    IDEMPOTENCY_KEY("idempotencyKey", false),
    USER_ID("userId", false);

    private static final Field[] ALL = values();

    private final String wire;
    private final boolean required;

    Field(String wire, boolean required) {
      this.wire = wire;
      this.required = required;
    }

    private static Field named(String name) {
      return switch (name) {
        case "customerId" -> CUSTOMER_ID;
        case "eventName" -> EVENT_NAME;
        case "generatedAt" -> GENERATED_AT;
        case "data" -> DATA;
        case "idempotencyKey" -> IDEMPOTENCY_KEY;
        case "userId" -> USER_ID;
        default -> null;
      };
    }
  }

  private final JsonParser in;
  private final byte[] body;
  private final Config.Limits limits;
  private final FaultList faults = new FaultList();
  private final TextRules rules;
  private final DataReader dataReader;
  private final EventKeys keys = new EventKeys();
  private final String[] texts = new String[Field.ALL.length];
  private final EventWriter writer;
  private int dataFrom;
  private int dataLength;
  private int index = -1; // in the batch; below zero for an event alone

  EventReader(JsonParser in, byte[] body, Config.Limits limits) {
    this.in = in;
    this.body = body;
    this.limits = limits;
    this.rules = new TextRules(limits.stringChars(), body, faults);
    this.dataReader = new DataReader(in, rules, faults);
    this.writer = new EventWriter(body.length + 256);
  }

  FaultList faults() {
    return faults;
  }

  Decoded readBody() throws IOException {
    JsonToken first = in.nextToken();
    if (first == JsonToken.START_ARRAY) {
      readBatch();
    } else {
      readItem();
    }
    if (!faults.isFull() && in.nextToken() != null) {
      throw new JsonParseException(in, "content after the value", in.currentTokenLocation());
    }
    return faults.isEmpty() ? new Decoded.Events(writer.encoded()) : faults.asDecoded();
  }

  private void readBatch() throws IOException {
    index = 0;
    while (in.nextToken() != JsonToken.END_ARRAY) {
      if (index == limits.eventsPerBatch()) {
        faults.add("", "max_items", "At most " + index + " events are allowed in one body.");
        skipRest();
        return;
      }
      if (faults.isFull()) {
        return;
      }
      readItem();
      index++;
    }
    if (index == 0) {
      faults.add("", "min_items", "At least one event is required.");
    }
  }

  /** To the end of the batch, so that a syntax error behind it is still found. */
  private void skipRest() throws IOException {
    do {
      in.skipChildren();
    } while (in.nextToken() != JsonToken.END_ARRAY);
  }

  private void readItem() throws IOException {
    if (in.currentToken() != JsonToken.START_OBJECT) {
      faults.add(pointer(), "type", "An event must be an object.");
      in.skipChildren();
      return;
    }
    readEvent();
  }

  /** Written unless the body has a fault. */
  private void readEvent() throws IOException {
    Arrays.fill(texts, null);
    dataFrom = 0;
    dataLength = 0;
    dataReader.reset();
    int seen = 0;
    for (String name = in.nextFieldName(); name != null; name = in.nextFieldName()) {
      Field field = Field.named(name);
      in.nextToken();
      if (field == null) {
        faults.add(rules.pointer(pointer(), name), "unknown_property", "No such property.");
        in.skipChildren();
      } else if ((seen & 1 << field.ordinal()) != 0) {
        faults.add(pointer() + "/" + name, "duplicate_key", "The property is given twice.");
        in.skipChildren();
      } else {
        seen |= 1 << field.ordinal();
        readField(field);
      }
    }
    for (Field field : Field.ALL) {
      if (field.required && (seen & 1 << field.ordinal()) == 0) {
        faults.add(pointer(field), "required", "The property is required.");
      }
    }
    Instant generatedAt = generatedAt();
    if (faults.isEmpty()) {
      write(generatedAt);
    }
  }

  private void readField(Field field) throws IOException {
    if (field == Field.DATA) {
      readData();
      return;
    }
    if (in.currentToken() != JsonToken.VALUE_STRING) {
      faults.add(pointer(field), "type", "Must be a string.");
      in.skipChildren();
      return;
    }
    String text = in.getText();
    if (text.isEmpty()) {
      faults.add(pointer(field), "min_length", "Must not be empty.");
    } else if (rules.accepts(text) || rules.refuse(text, pointer(field))) {
      texts[field.ordinal()] = text;
    }
  }

  private void readData() throws IOException {
    if (in.currentToken() != JsonToken.START_OBJECT) {
      faults.add(pointer(Field.DATA), "type", "Must be an object.");
      in.skipChildren();
      return;
    }
    int start = (int) in.currentTokenLocation().getByteOffset();
    dataReader.read();
    int length = (int) in.currentLocation().getByteOffset() - start;
    if (length > limits.eventDataBytes()) {
      faults.add(
          pointer(Field.DATA),
          "max_bytes",
          "At most " + limits.eventDataBytes() + " bytes are allowed.");
    } else {
      dataFrom = start;
      dataLength = length;
    }
  }

  private Instant generatedAt() {
    String text = texts[Field.GENERATED_AT.ordinal()];
    if (text == null) {
      return null; // missing, or a fault already
    }
    Instant instant = Timestamps.dateTime(text).orElse(null);
    if (instant == null) {
      faults.add(
          pointer(Field.GENERATED_AT),
          "format",
          "Must be an ISO 8601 date-time with an offset or Z.");
    } else if (instant.isBefore(EARLIEST) || !instant.isBefore(LATEST_EXCLUSIVE)) {
      faults.add(
          pointer(Field.GENERATED_AT),
          "range",
          "Must be from 2000-01-01 to before 2100-01-01 (UTC).");
    }
    return instant;
  }

  private String pointer() {
    return index < 0 ? "" : "/" + index;
  }

  private String pointer(Field field) {
    return pointer() + "/" + field.wire;
  }

  private void write(Instant generatedAt) {
    String customer = texts[Field.CUSTOMER_ID.ordinal()];
    String name = texts[Field.EVENT_NAME.ordinal()];
    String user = texts[Field.USER_ID.ordinal()];
    keys.payload(
        customer,
        name,
        generatedAt,
        texts[Field.GENERATED_AT.ordinal()],
        dataLength == 0 ? null : dataReader.canonical(),
        user);
    String given = texts[Field.IDEMPOTENCY_KEY.ordinal()];
    UUID key = given == null ? keys.ofPayload() : keys.ofText(given);
    UUID customerId = Id.parse(IdKind.CUSTOMER, customer).map(Id::uuid).orElse(null);
    writer.add(
        key,
        keys.payloadHash(),
        customerId,
        customerId == null ? customer : null,
        name,
        generatedAt.toEpochMilli(),
        user,
        body,
        dataFrom,
        dataLength);
  }
}
