package io.steelyard.usage;

import io.steelyard.bus.Address;
import io.steelyard.bus.Reply;
import io.steelyard.bus.Request;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/** What the usage verticle may be asked: to store events, durably and once. */
public sealed interface UsageMessages<R extends Reply> extends Request<R> {
  @Override
  default Address address() {
    return Address.USAGE;
  }

  /** Answers only after every event is committed and flushed, or known as a duplicate. */
  record Ingest(List<UsageEvent> events) implements UsageMessages<Ingested> {}

  /**
   * @param accepted events stored by this request
   * @param duplicates events whose key was stored before, or came twice in this request
   */
  record Ingested(int accepted, int duplicates) implements Reply {}

  /**
   * One event as decoded.
   *
   * @param key the idempotency key as a UUID, 128 bits of its hash, or of the payload's
   * @param payloadHash tells a repetition from another event under the same key
   * @param customerId the UUID of a customer id, or null when {@code customerRef} is none
   * @param customerRef the id as sent where {@code customerId} is null, else null
   * @param data the JSON object as sent, or null
   */
  record UsageEvent(
      UUID key,
      long payloadHash,
      UUID customerId,
      String customerRef,
      String eventName,
      Instant generatedAt,
      String userId,
      String data) {
    private static final int BYTES_BESIDES_TEXTS = 200;

    /** What it takes of memory, roughly: a character counts as one byte. */
    int roughBytes() {
      return BYTES_BESIDES_TEXTS
          + length(customerRef)
          + length(eventName)
          + length(userId)
          + length(data);
    }

    private static int length(String text) {
      return text == null ? 0 : text.length();
    }
  }
}
