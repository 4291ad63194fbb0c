package io.steelyard.usage;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Bytes that are the same for the same JSON value, however it was written: members in a fixed
 * order, numbers without regard to notation, every part with its kind and length so that no two
 * values share a form. Written in one pass; only members out of order are moved.
 */
final class CanonicalForm {
  private static final int LENGTH_BYTES = Integer.BYTES;

  private static final int FEW_MEMBERS = 16;

  // Enough for most events; a body of one event should not pay for more.
  private byte[] bytes = new byte[256];
  private byte[] scratch;
  private int size;
  // per open object or array: where its count goes, and how many members were open before it
  private int[] frames = new int[8];
  private int frameCount;
  private int[] memberStarts = new int[8];
  private int memberCount;
  private int[] elementCounts = new int[4];

  void reset() {
    size = 0;
    frameCount = 0;
    memberCount = 0;
  }

  byte[] bytes() {
    return bytes;
  }

  int size() {
    return size;
  }

  void startObject() {
    start('o');
  }

  void startArray() {
    start('a');
  }

  private void start(char kind) {
    countElement();
    literalByte(kind);
    if (frameCount * 2 + 2 > frames.length) {
      frames = Arrays.copyOf(frames, frames.length * 2);
    }
    if (frameCount == elementCounts.length) {
      elementCounts = Arrays.copyOf(elementCounts, frameCount * 2);
    }
    frames[frameCount * 2] = size;
    frames[frameCount * 2 + 1] = memberCount;
    elementCounts[frameCount] = 0;
    frameCount++;
    reserve(LENGTH_BYTES);
    size += LENGTH_BYTES;
  }

  void endArray() {
    frameCount--;
    putInt(frames[frameCount * 2], elementCounts[frameCount]);
  }

  void name(String name) {
    byte[] utf8 = name.getBytes(StandardCharsets.UTF_8);
    name(utf8, 0, utf8.length);
  }

  void name(byte[] source, int from, int end) {
    if (memberCount == memberStarts.length) {
      memberStarts = Arrays.copyOf(memberStarts, memberCount * 2);
    }
    memberStarts[memberCount++] = size;
    string(source, from, end - from);
  }

  /** Orders the object's members; the names that came more than once. */
  List<String> endObject() {
    frameCount--;
    int first = frames[frameCount * 2 + 1];
    int count = memberCount - first;
    putInt(frames[frameCount * 2], count);
    List<String> twice = isOrdered(first) ? List.of() : order(first, count);
    memberCount = first;
    return twice;
  }

  private boolean isOrdered(int first) {
    for (int i = first + 1; i < memberCount; i++) {
      if (compareNames(memberStarts[i - 1], memberStarts[i]) >= 0) {
        return false;
      }
    }
    return true;
  }

  private List<String> order(int first, int count) {
    int[] order = count <= FEW_MEMBERS ? orderOfFew(first, count) : orderOfMany(first, count);
    List<String> twice = new ArrayList<>(0);
    int from = memberStarts[first];
    if (scratch == null || scratch.length < size - from) {
      scratch = new byte[bytes.length];
    }
    int at = 0;
    for (int i = 0; i < count; i++) {
      int start = memberStarts[order[i]];
      int end = order[i] + 1 < memberCount ? memberStarts[order[i] + 1] : size;
      System.arraycopy(bytes, start, scratch, at, end - start);
      at += end - start;
      if (i > 0 && compareNames(memberStarts[order[i - 1]], start) == 0) {
        twice.add(nameAt(start));
      }
    }
    System.arraycopy(scratch, 0, bytes, from, at);
    return twice;
  }

  private int[] orderOfFew(int first, int count) {
    int[] order = new int[count];
    for (int i = 0; i < count; i++) {
      int place = i;
      int start = memberStarts[first + i];
      while (place > 0 && compareNames(memberStarts[order[place - 1]], start) > 0) {
        order[place] = order[place - 1];
        place--;
      }
      order[place] = first + i;
    }
    return order;
  }

  private int[] orderOfMany(int first, int count) {
    return IntStream.range(first, first + count)
        .boxed()
        .sorted((a, b) -> compareNames(memberStarts[a], memberStarts[b]))
        .mapToInt(Integer::intValue)
        .toArray();
  }

  /** Shorter names first: any fixed order will do, and the length is there to compare. */
  private int compareNames(int a, int b) {
    int order = Integer.compare(intAt(a + 1), intAt(b + 1));
    int from = 1 + LENGTH_BYTES;
    return order != 0
        ? order
        : Arrays.compareUnsigned(
            bytes, a + from, a + from + intAt(a + 1), bytes, b + from, b + from + intAt(b + 1));
  }

  private String nameAt(int start) {
    return new String(bytes, start + 1 + LENGTH_BYTES, intAt(start + 1), StandardCharsets.UTF_8);
  }

  void literal(char kind) {
    countElement();
    literalByte(kind);
  }

  void text(char[] chars, int offset, int length) {
    countElement();
    int at = startString(length);
    for (int i = 0; i < length; i++) {
      char c = chars[offset + i];
      if (c >= 0x80) {
        size = at + 1 + LENGTH_BYTES;
        append(new String(chars, offset, length).getBytes(StandardCharsets.UTF_8));
        break;
      }
      bytes[size++] = (byte) c;
    }
    putInt(at + 1, size - at - 1 - LENGTH_BYTES);
  }

  void text(byte[] source, int from, int end) {
    countElement();
    string(source, from, end - from);
  }

  /** A string outside of arrays, whose elements are counted. */
  void string(byte[] source, int from, int length) {
    int at = startString(length);
    putInt(at + 1, length);
    System.arraycopy(source, from, bytes, size, length);
    size += length;
  }

  private int startString(int length) {
    reserve(1 + LENGTH_BYTES + length);
    int at = size;
    bytes[size] = 's';
    size += 1 + LENGTH_BYTES;
    return at;
  }

  /** {@code digits}, of which there are at most 18, times ten to the power of {@code exponent}. */
  void number(long digits, int exponent) {
    long stripped = digits;
    int power = digits == 0 ? 0 : exponent;
    while (stripped != 0 && stripped % 10 == 0) {
      stripped /= 10;
      power++;
    }
    literal('n');
    integer(power);
    digits(stripped);
  }

  void number(BigDecimal value) {
    BigDecimal stripped = value.stripTrailingZeros();
    literal('n');
    integer(stripped.signum() == 0 ? 0 : -stripped.scale());
    byte[] digits = stripped.unscaledValue().toString().getBytes(StandardCharsets.US_ASCII);
    string(digits, 0, digits.length);
  }

  /** A string of them, as decimal numbers are written. */
  private void digits(long value) {
    int length = value < 0 ? 2 : 1;
    for (long rest = value / 10; rest != 0; rest /= 10) {
      length++;
    }
    int at = startString(length);
    putInt(at + 1, length);
    bytes[size] = '-';
    long rest = Math.abs(value);
    for (int i = size + length - 1; i >= size + (value < 0 ? 1 : 0); i--) {
      bytes[i] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    size += length;
  }

  void integer(int value) {
    reserve(Integer.BYTES);
    putInt(size, value);
    size += Integer.BYTES;
  }

  void longInteger(long value) {
    integer((int) (value >>> 32));
    integer((int) value);
  }

  /** All of another form, which carries its own lengths. */
  void append(CanonicalForm other) {
    reserve(other.size);
    System.arraycopy(other.bytes, 0, bytes, size, other.size);
    size += other.size;
  }

  private void append(byte[] more) {
    reserve(more.length);
    System.arraycopy(more, 0, bytes, size, more.length);
    size += more.length;
  }

  private void countElement() {
    if (frameCount > 0) {
      elementCounts[frameCount - 1]++;
    }
  }

  private void literalByte(char kind) {
    reserve(1);
    bytes[size++] = (byte) kind;
  }

  private void reserve(int more) {
    if (size + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + more));
    }
  }

  private void putInt(int at, int value) {
    bytes[at] = (byte) (value >>> 24);
    bytes[at + 1] = (byte) (value >>> 16);
    bytes[at + 2] = (byte) (value >>> 8);
    bytes[at + 3] = (byte) value;
  }

  private int intAt(int at) {
    return bytes[at] << 24
        | (bytes[at + 1] & 0xff) << 16
        | (bytes[at + 2] & 0xff) << 8
        | bytes[at + 3] & 0xff;
  }
}
