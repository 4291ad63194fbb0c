package io.steelyard.usage;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;

/**
 * The key under which an event is stored once for ever, and the hash that tells a repetition from
 * another event under the same key. Both are stored: what they are computed from must never change.
 */
final class EventKeys {
  private static final int UUID_CHARS = 36;
  private static final int SECOND_CHARS = 19;
  // First byte of what is hashed, so that a key never meets a payload.
  private static final byte GIVEN_KEY = 1;
  private static final byte PAYLOAD = 2;
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final long ONES = 0x0101010101010101L;
  private static final long LOW_HALVES = 0x0f * ONES;
  private static final long MULTIPLIER = 0x9fb21c651e98df25L;

  private final CanonicalForm payload = new CanonicalForm();
  private MessageDigest sha256; // once a key is no UUID

  /**
   * Takes the payload that {@link #ofPayload} and {@link #payloadHash} are of.
   *
   * @param generatedAt the date-time as sent: its fraction counts in full
   * @param epochSecond that it is in
   * @param data null when the event has none
   * @param userId may not be given
   */
  void payload(
      SentText customerId,
      SentText eventName,
      SentText generatedAt,
      long epochSecond,
      CanonicalForm data,
      SentText userId) {
    payload.reset();
    string(customerId);
    string(eventName);
    payload.longInteger(epochSecond);
    fraction(generatedAt);
    if (data == null) {
      payload.literal('-');
    } else {
      payload.append(data);
    }
    if (userId.isGiven()) {
      string(userId);
    } else {
      payload.literal('-');
    }
  }

  private void string(SentText text) {
    payload.string(text.source(), text.from(), text.length());
  }

  /** The digits behind the second, without trailing zeros. */
  private void fraction(SentText dateTime) {
    byte[] bytes = dateTime.source();
    int end = dateTime.from() + dateTime.length();
    int from = dateTime.from() + SECOND_CHARS;
    int significant = from;
    if (bytes[from] == '.') {
      from++;
      significant = from;
      for (int i = from; i < end && bytes[i] >= '0' && bytes[i] <= '9'; i++) {
        if (bytes[i] != '0') {
          significant = i + 1;
        }
      }
    }
    payload.string(bytes, from, significant - from);
  }

  UUID ofPayload() {
    return first128Bits(PAYLOAD, payload.bytes(), 0, payload.size());
  }

  UUID ofText(SentText key) {
    UUID uuid = key.length() == UUID_CHARS ? uuid(key.source(), key.from()) : null;
    return uuid != null ? uuid : first128Bits(GIVEN_KEY, key.source(), key.from(), key.length());
  }

  private UUID first128Bits(byte kind, byte[] source, int from, int length) {
    if (sha256 == null) {
      sha256 = sha256();
    }
    sha256.update(kind);
    sha256.update(source, from, length);
    ByteBuffer hash = ByteBuffer.wrap(sha256.digest());
    return new UUID(hash.getLong(), hash.getLong());
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has it", e);
    }
  }

  /** The UUID spelt there in its usual form, in letters of either case, or null. */
  private static UUID uuid(byte[] text, int from) {
    if (text[from + 8] != '-'
        || text[from + 13] != '-'
        || text[from + 18] != '-'
        || text[from + 23] != '-') {
      return null;
    }
    long a = hex((long) LONGS.get(text, from));
    long b = hex(fourAndFour(text, from + 9, from + 14));
    long c = hex(fourAndFour(text, from + 19, from + 24));
    long d = hex((long) LONGS.get(text, from + 28));
    return (a | b | c | d) < 0 ? null : new UUID(a << 32 | b, c << 32 | d);
  }

  private static long fourAndFour(byte[] text, int first, int second) {
    return (long) (int) INTS.get(text, first) << 32 | (int) INTS.get(text, second) & 0xffffffffL;
  }

  /**
   * The number that eight hexadecimal digits spell, or -1 where one is none. All eight at once, a
   * byte for each: what the digit is worth, and the lower-case digit of that worth to compare with.
   */
  private static long hex(long chars) {
    long letters = chars >>> 6 & ONES;
    long worth = (chars & LOW_HALVES) + 9 * letters;
    long isTenOrMore = worth + 6 * ONES >>> 4 & ONES;
    long digits = worth + '0' * ONES + ('a' - '0' - 10) * isTenOrMore;
    long lowerCase = chars | letters << 5;
    if (digits != lowerCase || (worth & ~LOW_HALVES) != 0) {
      return -1;
    }
    long pairs = (worth | worth >>> 4) & 0x00ff00ff00ff00ffL;
    long fours = (pairs | pairs >>> 8) & 0x0000ffff0000ffffL;
    return (fours | fours >>> 16) & 0xffffffffL;
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
