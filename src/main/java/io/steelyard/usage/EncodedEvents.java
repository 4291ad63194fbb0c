package io.steelyard.usage;

import java.util.Arrays;
import java.util.Objects;
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

  public EncodedEvents {
    Objects.requireNonNull(keys);
    Objects.requireNonNull(payloadHashes);
    Objects.requireNonNull(ends);
    Objects.requireNonNull(content);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof EncodedEvents events
        && Arrays.equals(keys, events.keys)
        && Arrays.equals(payloadHashes, events.payloadHashes)
        && Arrays.equals(ends, events.ends)
        && Arrays.equals(content, events.content);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(keys);
  }

  @Override
  public String toString() {
    return count() + " events";
  }

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
