package io.steelyard.usage;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Goes over JSON as nearly all of it is written: strings of ASCII without an escape, numbers of few
 * digits without an exponent. Each method takes what is next if it is that, blanks before it
 * skipped; after a false only the end of the work may follow, not another try.
 */
final class PlainJson {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long ONES = 0x0101010101010101L;
  private static final long HIGH_BITS = 0x8080808080808080L;
  private static final long BACKSLASHES = '\\' * ONES;
  // The one bit in which a quote differs from a space, and the character above a space.
  private static final long QUOTE_BITS = ('"' ^ ' ') * ONES;
  private static final long ABOVE_SPACE = (' ' + 1) * ONES;
  private static final int DIGITS_MAX = 18; // whatever they are, they fit into a long

  private final byte[] json;
  private int at;
  private int textFrom;
  private int textEnd;
  private long digits;
  private int decimals;

  PlainJson(byte[] json) {
    this.json = json;
  }

  /** Where the next byte is, if there is one. */
  int at() {
    return at;
  }

  boolean isAtEnd() {
    skipBlanks();
    return at == json.length;
  }

  /** The next byte behind blanks, which stays; 0 at the end. */
  byte peek() {
    skipBlanks();
    return at < json.length ? json[at] : 0;
  }

  /** The byte behind the next, where there is one and {@link #peek} has gone over blanks. */
  byte peekSecond() {
    return at + 1 < json.length ? json[at + 1] : 0;
  }

  /** Takes {@code c}; where it is not next, nothing but blanks is taken. */
  boolean take(char c) {
    if (at < json.length && json[at] == c) {
      at++;
      return true;
    }
    if (peek() == c) {
      at++;
      return true;
    }
    return false;
  }

  /** Takes these bytes, before which no blank may be. */
  boolean take(byte[] bytes) {
    int end = at + bytes.length;
    if (end > json.length || !Arrays.equals(json, at, end, bytes, 0, bytes.length)) {
      return false;
    }
    at = end;
    return true;
  }

  /** Takes a string, which is then from {@link #textFrom} to before {@link #textEnd}. */
  boolean takeText() {
    if (!take('"')) {
      return false;
    }
    textFrom = at;
    int end = endOfPlain(json, at);
    if (end == json.length || json[end] != '"') {
      return false;
    }
    textEnd = end;
    at = end + 1;
    return true;
  }

  int textFrom() {
    return textFrom;
  }

  int textEnd() {
    return textEnd;
  }

  /** The first byte that is a quote or not to stand in a plain string. */
  private static int endOfPlain(byte[] json, int from) {
    int at = from;
    for (; at + Long.BYTES <= json.length; at += Long.BYTES) {
      long ends = ends((long) LONGS.get(json, at));
      if (ends != 0) {
        return at + (Long.numberOfTrailingZeros(ends) >>> 3);
      }
    }
    while (at < json.length && json[at] >= ' ' && json[at] != '"' && json[at] != '\\') {
      at++;
    }
    return at;
  }

  /**
   * Eight bytes at once: the high bit of the first that ends a plain string, and of none before it.
   * A subtraction borrows into the high bit of a byte that is smaller; above that byte, the bits
   * mean nothing. Quote and space change places, so that it is next to the control characters.
   */
  private static long ends(long bytes) {
    long quoteOrControl = (bytes ^ QUOTE_BITS) - ABOVE_SPACE;
    long backslash = (bytes ^ BACKSLASHES) - ONES;
    return (quoteOrControl | backslash | bytes) & HIGH_BITS;
  }

  /**
   * Takes a number, which is then {@link #digits} divided by ten as often as there are decimals.
   */
  boolean takeNumber() {
    skipBlanks();
    boolean negative = at < json.length && json[at] == '-';
    int first = negative ? at + 1 : at;
    int point = endOfDigits(first, 0);
    int whole = point - first;
    if (whole == 0 || whole > 1 && json[first] == '0') {
      return false;
    }
    at = point;
    decimals = 0;
    if (at < json.length && json[at] == '.') {
      at = endOfDigits(point + 1, digits);
      decimals = at - point - 1;
      if (decimals == 0) {
        return false;
      }
    }
    if (negative) {
      digits = -digits;
    }
    return whole + decimals <= DIGITS_MAX;
  }

  private int endOfDigits(int from, long before) {
    long value = before;
    int i = from;
    while (i < json.length && json[i] >= '0' && json[i] <= '9') {
      value = value * 10 + (json[i] - '0');
      i++;
    }
    digits = value;
    return i;
  }

  long digits() {
    return digits;
  }

  int decimals() {
    return decimals;
  }

  private void skipBlanks() {
    while (at < json.length && isBlank(json[at])) {
      at++;
    }
  }

  private static boolean isBlank(byte b) {
    return b == ' ' || b == '\n' || b == '\r' || b == '\t';
  }
}
