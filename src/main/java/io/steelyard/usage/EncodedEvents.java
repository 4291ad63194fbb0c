package io.steelyard.usage;

import java.util.Arrays;
import java.util.Objects;
import java.util.UUID;

/**
 * The events of one request as they are stored: made on the way through the body, and copied from
 * then on, so that nothing is read twice. {@link EventContent} tells what their content looks like.
 *
 * @param columns their keys are the idempotency key as a UUID, 128 bits of its hash, or of the
 *     payload's
 * @param payloadHashes tell a repetition from another event under the same key
 */
public record EncodedEvents(EventColumns columns, int[] payloadHashes) {
  private static final int BYTES_BESIDES_CONTENT = 128;

  public EncodedEvents {
    Objects.requireNonNull(columns);
    Objects.requireNonNull(payloadHashes);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof EncodedEvents events
        && columns.equals(events.columns)
        && Arrays.equals(payloadHashes, events.payloadHashes);
  }

  @Override
  public int hashCode() {
    return columns.hashCode();
  }

  @Override
  public String toString() {
    return count() + " events";
  }

  public int count() {
    return payloadHashes.length;
  }

  UUID key(int event) {
    return new UUID(columns.keyHigh(event), columns.keyLow(event));
  }

  int contentBytes() {
    return columns.content().length;
  }

  /** What they take of memory, roughly. */
  long bytes() {
    return contentBytes() + (long) BYTES_BESIDES_CONTENT * count() + columns.charactersOfNames();
  }
}
