package io.steelyard.usage;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.json.Timestamps;
import java.util.UUID;

/**
 * One event while it is read, by whichever reader, and what it becomes: its key, its payload's hash
 * and its stored form. Used for one event after the other.
 */
final class SentEvent {
  private static final long EARLIEST_MILLIS = 946_684_800_000L; // 2000-01-01T00:00:00Z
  private static final long END_MILLIS = 4_102_444_800_000L; // 2100-01-01T00:00:00Z

  private final byte[] body;
  private final EventWriter writer;
  private final EventKeys keys = new EventKeys();
  private final CanonicalForm data = new CanonicalForm();
  private final SentText[] texts = new SentText[EventField.ALL.length];
  private long atMillis;
  private int dataFrom;
  private int dataLength;

  SentEvent(byte[] body) {
    this.body = body;
    this.writer = new EventWriter(body.length + 256);
    for (int i = 0; i < texts.length; i++) {
      texts[i] = new SentText();
    }
  }

  void clear() {
    for (SentText text : texts) {
      text.clear();
    }
    data.reset();
    dataLength = 0;
  }

  SentText text(EventField field) {
    return texts[field.ordinal()];
  }

  /** To be filled while the data is read. */
  CanonicalForm data() {
    return data;
  }

  void setData(int from, int length) {
    dataFrom = from;
    dataLength = length;
  }

  /** Whether {@code generatedAt} is a date-time. */
  boolean readTime() {
    SentText at = text(EventField.GENERATED_AT);
    atMillis = Timestamps.epochMillis(at.source(), at.from(), at.length());
    return atMillis != Timestamps.NONE;
  }

  boolean isTimeInRange() {
    return atMillis >= EARLIEST_MILLIS && atMillis < END_MILLIS;
  }

  /** Adds the event, which must be whole and sound. */
  void write() {
    SentText customer = text(EventField.CUSTOMER_ID);
    SentText user = text(EventField.USER_ID);
    SentText name = text(EventField.EVENT_NAME);
    keys.payload(
        customer,
        name,
        text(EventField.GENERATED_AT),
        Math.floorDiv(atMillis, 1000L),
        dataLength == 0 ? null : data,
        user);
    SentText given = text(EventField.IDEMPOTENCY_KEY);
    UUID key = given.isGiven() ? keys.ofText(given) : keys.ofPayload();
    UUID customerId =
        Id.uuid(IdKind.CUSTOMER, customer.source(), customer.from(), customer.length());
    writer.add(
        key,
        keys.payloadHash(),
        customerId,
        customerId == null ? customer.text() : null,
        name.text(),
        atMillis,
        user.text(),
        body,
        dataFrom,
        dataLength);
  }

  EncodedEvents written() {
    return writer.encoded();
  }
}
