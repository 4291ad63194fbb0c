package io.steelyard.bus;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.steelyard.domain.Environment;
import io.steelyard.domain.Id;
import java.time.ZoneId;
import java.util.UUID;

/**
 * On whose behalf a request runs and until when.
 *
 * @param requestId the id that the caller sees as {@code x-request-id}
 * @param merchant the merchant whose rows may be seen, or null for calls that create merchants
 * @param deadlineMs wall-clock milliseconds since the epoch after which nobody waits any more
 * @param idempotencyKey null for none. On the wire it is then left out: to a process that does not
 *     know of it such a call is as any, and only one with a key cannot be read there.
 */
public record Call(
    String requestId,
    Merchant merchant,
    long deadlineMs,
    @JsonInclude(JsonInclude.Include.NON_NULL) IdempotencyKey idempotencyKey) {

  public Call(String requestId, Merchant merchant, long deadlineMs) {
    this(requestId, merchant, deadlineMs, null);
  }

  /** The merchant as the API key or the operator's path names it. */
  public record Merchant(Id id, Environment environment, ZoneId zone) {}

  /** A call that has {@code timeoutMs} from now. */
  public static Call within(String requestId, Merchant merchant, long timeoutMs) {
    return new Call(requestId, merchant, System.currentTimeMillis() + timeoutMs);
  }

  public UUID merchantId() {
    return merchant.id().uuid();
  }

  /** Milliseconds left, at least 1. */
  public long remainingMs() {
    return Math.max(1, deadlineMs - System.currentTimeMillis());
  }

  public boolean expired() {
    return System.currentTimeMillis() >= deadlineMs;
  }

  public Call forMerchant(Merchant other) {
    return new Call(requestId, other, deadlineMs, idempotencyKey);
  }

  /** The same call to be answered as it was before, if there was one with this key. */
  public Call with(IdempotencyKey key) {
    return new Call(requestId, merchant, deadlineMs, key);
  }
}
