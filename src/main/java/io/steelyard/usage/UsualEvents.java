package io.steelyard.usage;

import io.steelyard.config.Config;

/**
 * Reads the body that nearly every request has, in one go over its bytes: sound events in {@link
 * PlainJson}. Of any other body, faulty or only written in another way, it knows no more than that
 * it is not one of these; {@link EventReader} then reads it from its start.
 *
 * <p>It may therefore refuse whatever is rare, but must not take what the other would refuse, nor
 * make anything else of it. In the order of the bytes it asks of an event: known members, each
 * once, each of its type, texts neither empty nor too long, the data within its bounds; and at its
 * end: nothing required missing, a time that exists and is in range.
 */
final class UsualEvents {
  private static final int DATA_DEPTH_ALONE = 2;
  private static final int DATA_DEPTH_IN_BATCH = 3;

  private final Config.Limits limits;
  private final PlainJson in;
  private final byte[] body;
  private final SentEvent event;
  private final UsualData data;

  private UsualEvents(byte[] body, Config.Limits limits) {
    this.body = body;
    this.limits = limits;
    this.in = new PlainJson(body);
    this.event = new SentEvent(body);
    this.data = new UsualData(in, body, limits, event.data());
  }

  /** Every event of {@code body}, or null where it is not a usual one. */
  static EncodedEvents of(byte[] body, Config.Limits limits) {
    return new UsualEvents(body, limits).read();
  }

  private EncodedEvents read() {
    boolean usual = in.peek() == '[' ? readBatch() : readEvent(DATA_DEPTH_ALONE);
    return usual && in.isAtEnd() ? event.written() : null;
  }

  private boolean readBatch() {
    in.take('[');
    int count = 0;
    do {
      if (count++ == limits.eventsPerBatch() || !readEvent(DATA_DEPTH_IN_BATCH)) {
        return false;
      }
    } while (in.take(','));
    return in.take(']');
  }

  private boolean readEvent(int dataDepth) {
    if (!in.take('{')) {
      return false;
    }
    event.clear();
    int seen = 0;
    do {
      EventField field = takeName();
      if (field == null || (seen & field.bit()) != 0 || !in.take(':')) {
        return false;
      }
      seen |= field.bit();
      if (!(field == EventField.DATA ? readData(dataDepth) : readText(field))) {
        return false;
      }
    } while (in.take(','));
    return in.take('}') && EventField.hasRequired(seen) && write();
  }

  private EventField takeName() {
    if (in.peek() != '"') {
      return null;
    }
    EventField field = EventField.beginning(in.peekSecond());
    return field != null && in.take(field.quoted()) ? field : null;
  }

  private boolean readText(EventField field) {
    if (!in.takeText()) {
      return false;
    }
    int length = in.textEnd() - in.textFrom();
    event.text(field).set(body, in.textFrom(), in.textEnd());
    return length > 0 && length <= limits.stringChars();
  }

  private boolean readData(int depth) {
    if (in.peek() != '{') {
      return false;
    }
    int from = in.at();
    if (!data.readObject(depth)) {
      return false;
    }
    int length = in.at() - from;
    event.setData(from, length);
    return length <= limits.eventDataBytes();
  }

  private boolean write() {
    if (!event.readTime() || !event.isTimeInRange()) {
      return false;
    }
    event.write();
    return true;
  }
}
