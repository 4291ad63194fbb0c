package io.steelyard.usage;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/** Collects the events of a request in the form they are stored in. */
final class EventWriter {
  private static final byte[] CUSTOMER = ascii("{\"c\":\"");
  private static final byte[] KEY_BEHIND_CUSTOMER = ascii("\",\"k\":\"");
  private static final byte[] KEY_FIRST = ascii("{\"k\":\"");
  private static final byte[] AT = ascii("\",\"t\":");
  private static final byte[] REF = ascii(",\"r\":");
  private static final byte[] NAME = ascii(",\"n\":");
  private static final byte[] USER = ascii(",\"u\":");
  private static final byte[] DATA = ascii(",\"d\":");
  private static final byte[] END = ascii("},");
  private static final byte[] HEX = ascii("0123456789abcdef");
  private static final int UUID_BYTES = 36;

  private long[] keys = new long[2 * 16];
  private int[] payloadHashes = new int[16];
  private int[] ends = new int[16];
  private byte[] content;
  private int size;
  private int count;

  /**
   * @param bytesExpected of content, to begin with
   */
  EventWriter(int bytesExpected) {
    content = new byte[bytesExpected];
  }

  EncodedEvents encoded() {
    return new EncodedEvents(
        Arrays.copyOf(keys, 2 * count),
        Arrays.copyOf(payloadHashes, count),
        Arrays.copyOf(ends, count),
        size == content.length ? content : Arrays.copyOf(content, size));
  }

  /**
   * @param customerId null where {@code customerRef} is not
   * @param customerRef the id as sent where it is no customer id
   * @param userId null for none
   * @param source holds the data as sent, from {@code dataFrom}
   * @param dataLength 0 for none
   */
  void add(
      UUID key,
      int payloadHash,
      UUID customerId,
      String customerRef,
      String name,
      long atMillis,
      String userId,
      byte[] source,
      int dataFrom,
      int dataLength) {
    if (customerId == null) {
      put(KEY_FIRST);
    } else {
      put(CUSTOMER);
      put(customerId);
      put(KEY_BEHIND_CUSTOMER);
    }
    put(key);
    put(AT);
    putAscii(Long.toString(atMillis));
    putText(REF, customerRef);
    putText(NAME, name);
    putText(USER, userId);
    if (dataLength > 0) {
      put(DATA);
      reserve(dataLength);
      System.arraycopy(source, dataFrom, content, size, dataLength);
      size += dataLength;
    }
    put(END);
    end(key, payloadHash);
  }

  private void end(UUID key, int payloadHash) {
    if (count == ends.length) {
      keys = Arrays.copyOf(keys, 4 * count);
      payloadHashes = Arrays.copyOf(payloadHashes, 2 * count);
      ends = Arrays.copyOf(ends, 2 * count);
    }
    keys[2 * count] = key.getMostSignificantBits();
    keys[2 * count + 1] = key.getLeastSignificantBits();
    payloadHashes[count] = payloadHash;
    ends[count] = size;
    count++;
  }

  private void putText(byte[] member, String text) {
    if (text == null) {
      return;
    }
    put(member);
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    if (mustBeEscaped(utf8)) {
      utf8 = JsonStringEncoder.getInstance().quoteAsUTF8(text);
    }
    reserve(utf8.length + 2);
    content[size++] = '"';
    put(utf8);
    content[size++] = '"';
  }

  private static boolean mustBeEscaped(byte[] utf8) {
    for (byte b : utf8) {
      if (b >= 0 && b < ' ' || b == '"' || b == '\\') {
        return true;
      }
    }
    return false;
  }

  private void putAscii(String text) {
    reserve(text.length());
    for (int i = 0; i < text.length(); i++) {
      content[size++] = (byte) text.charAt(i);
    }
  }

  private void put(UUID uuid) {
    reserve(UUID_BYTES);
    long high = uuid.getMostSignificantBits();
    long low = uuid.getLeastSignificantBits();
    putHex(high, 60, 8);
    content[size++] = '-';
    putHex(high, 28, 4);
    content[size++] = '-';
    putHex(high, 12, 4);
    content[size++] = '-';
    putHex(low, 60, 4);
    content[size++] = '-';
    putHex(low, 44, 12);
  }

  private void putHex(long bits, int firstShift, int digits) {
    int shift = firstShift;
    for (int i = 0; i < digits; i++) {
      content[size++] = HEX[(int) (bits >>> shift) & 0xf];
      shift -= 4;
    }
  }

  private void put(byte[] bytes) {
    reserve(bytes.length);
    System.arraycopy(bytes, 0, content, size, bytes.length);
    size += bytes.length;
  }

  private void reserve(int more) {
    if (size + more > content.length) {
      content = Arrays.copyOf(content, Math.max(content.length * 2, size + more));
    }
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
