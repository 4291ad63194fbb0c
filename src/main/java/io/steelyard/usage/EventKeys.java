package io.steelyard.usage;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.Arrays;
import java.util.UUID;

/**
 * The key under which an event is stored once for ever, and the hash that tells a repetition from
 * another event under the same key. Both are stored: what they are computed from must never change.
 */
final class EventKeys {
  private static final int UUID_CHARS = 36;
  private static final int UUID_HALF = 18;
  private static final byte NO_DIGIT = -1;
  private static final byte[] HEX_DIGITS = hexDigits();
  // First byte of what is hashed, so that a key never meets a payload.
  private static final byte GIVEN_KEY = 1;
  private static final byte PAYLOAD = 2;
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final long MULTIPLIER = 0x9fb21c651e98df25L;

  private final MessageDigest sha256;
  private final CanonicalForm payload = new CanonicalForm();

  EventKeys() {
    try {
      sha256 = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has it", e);
    }
  }

  /**
   * Takes the payload that {@link #ofPayload} and {@link #payloadHash} are of.
   *
   * @param timestamp {@code generatedAt} as sent: its fraction counts in full
   * @param data null when the event has none
   * @param userId null when the event has none
   */
  void payload(
      String customerId,
      String eventName,
      Instant generatedAt,
      String timestamp,
      CanonicalForm data,
      String userId) {
    payload.reset();
    payload.string(customerId);
    payload.string(eventName);
    payload.longInteger(generatedAt.getEpochSecond());
    payload.string(fraction(timestamp));
    if (data == null) {
      payload.literal('-');
    } else {
      payload.append(data);
    }
    if (userId == null) {
      payload.literal('-');
    } else {
      payload.string(userId);
    }
  }

  /** The digits behind the second, without trailing zeros. */
  private static String fraction(String timestamp) {
    int point = timestamp.indexOf('.');
    if (point < 0) {
      return "";
    }
    int end = point + 1;
    int significant = end;
    while (end < timestamp.length() && Character.isDigit(timestamp.charAt(end))) {
      end++;
      if (timestamp.charAt(end - 1) != '0') {
        significant = end;
      }
    }
    return timestamp.substring(point + 1, significant);
  }

  UUID ofPayload() {
    sha256.update(PAYLOAD);
    sha256.update(payload.bytes(), 0, payload.size());
    return first128Bits();
  }

  UUID ofText(String key) {
    UUID uuid = uuid(key);
    if (uuid != null) {
      return uuid;
    }
    sha256.update(GIVEN_KEY);
    sha256.update(key.getBytes(StandardCharsets.UTF_8));
    return first128Bits();
  }

  private UUID first128Bits() {
    ByteBuffer hash = ByteBuffer.wrap(sha256.digest());
    return new UUID(hash.getLong(), hash.getLong());
  }

  /** The UUID that {@code text} spells in its usual form, in letters of either case, or null. */
  private static UUID uuid(String text) {
    if (text.length() != UUID_CHARS) {
      return null;
    }
    long high = 0;
    long low = 0;
    for (int i = 0; i < UUID_CHARS; i++) {
      char c = text.charAt(i);
      if (i == 8 || i == 13 || i == 18 || i == 23) {
        if (c != '-') {
          return null;
        }
      } else {
        int digit = c < HEX_DIGITS.length ? HEX_DIGITS[c] : NO_DIGIT;
        if (digit == NO_DIGIT) {
          return null;
        }
        if (i < UUID_HALF) {
          high = high << 4 | digit;
        } else {
          low = low << 4 | digit;
        }
      }
    }
    return new UUID(high, low);
  }

  private static byte[] hexDigits() {
    byte[] digits = new byte['f' + 1];
    Arrays.fill(digits, NO_DIGIT);
    for (int i = 0; i < 16; i++) {
      digits["0123456789abcdef".charAt(i)] = (byte) i;
      digits["0123456789ABCDEF".charAt(i)] = (byte) i;
    }
    return digits;
  }

  /** Not cryptographic: it only feeds a metric. Eight bytes a step. */
  int payloadHash() {
    byte[] bytes = payload.bytes();
    int size = payload.size();
    long hash = size * MULTIPLIER;
    int at = 0;
    for (; at + Long.BYTES <= size; at += Long.BYTES) {
      hash = mix(hash, (long) LONGS.get(bytes, at));
    }
    long rest = 0;
    for (; at < size; at++) {
      rest = rest << 8 | bytes[at] & 0xff;
    }
    return (int) mix(mix(hash, rest), size);
  }

  private static long mix(long hash, long word) {
    long mixed = (hash ^ word) * MULTIPLIER;
    mixed ^= mixed >>> 29;
    return Long.rotateLeft(mixed, 27) * MULTIPLIER;
  }
}
