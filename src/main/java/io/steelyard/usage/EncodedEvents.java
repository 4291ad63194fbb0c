package io.steelyard.usage;

import java.util.UUID;

/**
 * The events of one request as they are stored: made on the way through the body, and copied from
 * then on, so that nothing is read twice. {@link EventContent} tells what their content looks like.
 *
 * @param keys two of each event, the more significant half first: the idempotency key as a UUID,
 *     128 bits of its hash, or of the payload's
 * @param payloadHashes tell a repetition from another event under the same key
 * @param ends where each event's content ends, a comma behind it included
 * @param content UTF-8 JSON
 */
public record EncodedEvents(long[] keys, int[] payloadHashes, int[] ends, byte[] content) {
  private static final int BYTES_BESIDES_CONTENT = 64;

  public int count() {
    return payloadHashes.length;
  }

  long keyHigh(int event) {
    return keys[2 * event];
  }

  long keyLow(int event) {
    return keys[2 * event + 1];
  }

  UUID key(int event) {
    return new UUID(keyHigh(event), keyLow(event));
  }

  int start(int event) {
    return event == 0 ? 0 : ends[event - 1];
  }

  /** What they take of memory, roughly. */
  long bytes() {
    return content.length + (long) BYTES_BESIDES_CONTENT * count();
  }
}
