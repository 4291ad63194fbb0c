package io.steelyard.usage;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.steelyard.config.Config;
import java.io.IOException;

/** Reads one body, event by event, and goes on after a fault to find the others. */
final class EventReader {
  private final JsonParser in;
  private final Config.Limits limits;
  private final FaultList faults = new FaultList();
  private final TextRules rules;
  private final DataReader dataReader;
  private final SentEvent event;
  private int index = -1; // in the batch; below zero for an event alone

  EventReader(JsonParser in, byte[] body, Config.Limits limits) {
    this.in = in;
    this.limits = limits;
    this.event = new SentEvent(body);
    this.rules = new TextRules(limits.stringChars(), body, faults);
    this.dataReader = new DataReader(in, rules, faults, event.data());
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
    return faults.isEmpty() ? new Decoded.Events(event.written()) : faults.asDecoded();
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
    event.clear();
    int seen = 0;
    for (String name = in.nextFieldName(); name != null; name = in.nextFieldName()) {
      EventField field = EventField.named(name);
      in.nextToken();
      if (field == null) {
        faults.add(rules.pointer(pointer(), name), "unknown_property", "No such property.");
        in.skipChildren();
      } else if ((seen & field.bit()) != 0) {
        faults.add(pointer() + "/" + name, "duplicate_key", "The property is given twice.");
        in.skipChildren();
      } else {
        seen |= field.bit();
        readField(field);
      }
    }
    for (EventField field : EventField.ALL) {
      if (field.isRequired() && (seen & field.bit()) == 0) {
        faults.add(pointer(field), "required", "The property is required.");
      }
    }
    checkTime();
    if (faults.isEmpty()) {
      event.write();
    }
  }

  private void readField(EventField field) throws IOException {
    if (field == EventField.DATA) {
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
      event.text(field).set(text);
    }
  }

  private void readData() throws IOException {
    if (in.currentToken() != JsonToken.START_OBJECT) {
      faults.add(pointer(EventField.DATA), "type", "Must be an object.");
      in.skipChildren();
      return;
    }
    int start = (int) in.currentTokenLocation().getByteOffset();
    dataReader.read();
    int length = (int) in.currentLocation().getByteOffset() - start;
    if (length > limits.eventDataBytes()) {
      faults.add(
          pointer(EventField.DATA),
          "max_bytes",
          "At most " + limits.eventDataBytes() + " bytes are allowed.");
    } else {
      event.setData(start, length);
    }
  }

  private void checkTime() {
    if (!event.text(EventField.GENERATED_AT).isGiven()) {
      return; // missing, or a fault already
    }
    if (!event.readTime()) {
      faults.add(
          pointer(EventField.GENERATED_AT),
          "format",
          "Must be an ISO 8601 date-time with an offset or Z.");
    } else if (!event.isTimeInRange()) {
      faults.add(
          pointer(EventField.GENERATED_AT),
          "range",
          "Must be from 2000-01-01 to before 2100-01-01 (UTC).");
    }
  }

  private String pointer() {
    return index < 0 ? "" : "/" + index;
  }

  private String pointer(EventField field) {
    return pointer() + "/" + field.wire();
  }
}
