package io.steelyard.json;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF, and no byte
 * order mark. JSON parsers let some of these through.
 */
public final class Utf8 {
  private static final long HIGH_BITS = 0x8080808080808080L;
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private Utf8() {}

  /** The offset of the first byte that is not strict UTF-8, or -1. */
  public static int firstFault(byte[] bytes) {
    if (bytes.length >= 3
        && (bytes[0] & 0xff) == 0xef
        && (bytes[1] & 0xff) == 0xbb
        && (bytes[2] & 0xff) == 0xbf) {
      return 0;
    }
    int at = 0;
    while (at < bytes.length) {
      if (at + Long.BYTES <= bytes.length && ((long) LONGS.get(bytes, at) & HIGH_BITS) == 0) {
        at += Long.BYTES;
      } else if (bytes[at] >= 0) {
        at++;
      } else {
        int length = sequence(bytes, at);
        if (length == 0) {
          return at;
        }
        at += length;
      }
    }
    return -1;
  }

  /** The length of the multi-byte character at {@code at}, or 0 when it is malformed. */
  private static int sequence(byte[] bytes, int at) {
    int lead = bytes[at] & 0xff;
    int second = continuation(bytes, at + 1);
    if (lead >= 0xc2 && lead <= 0xdf) {
      return second < 0 ? 0 : 2;
    }
    if (lead >= 0xe0 && lead <= 0xef) {
      boolean overlong = lead == 0xe0 && second < 0xa0;
      boolean surrogate = lead == 0xed && second > 0x9f;
      return second < 0 || overlong || surrogate || continuation(bytes, at + 2) < 0 ? 0 : 3;
    }
    if (lead >= 0xf0 && lead <= 0xf4) {
      boolean overlong = lead == 0xf0 && second < 0x90;
      boolean tooHigh = lead == 0xf4 && second > 0x8f;
      return second < 0
              || overlong
              || tooHigh
              || continuation(bytes, at + 2) < 0
              || continuation(bytes, at + 3) < 0
          ? 0
          : 4;
    }
    return 0;
  }

  private static int continuation(byte[] bytes, int at) {
    if (at >= bytes.length) {
      return -1;
    }
    int value = bytes[at] & 0xff;
    return value >= 0x80 && value <= 0xbf ? value : -1;
  }

  /** Whether {@code text} holds U+0000 or half of a surrogate pair, which no database stores. */
  public static boolean hasUnstorable(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == 0 || Character.isLowSurrogate(c)) {
        return true;
      }
      if (Character.isHighSurrogate(c)) {
        i++;
        if (i == text.length() || !Character.isLowSurrogate(text.charAt(i))) {
          return true;
        }
      }
    }
    return false;
  }
}
