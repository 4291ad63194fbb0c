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
  private static final int EVENTS_EXPECTED = 4;

  private final EventColumns.Builder columns = new EventColumns.Builder(EVENTS_EXPECTED);
  private int[] payloadHashes = new int[EVENTS_EXPECTED];
  private byte[] content;
  private int size;

  /**
   * @param bytesExpected of content, to begin with
   */
  EventWriter(int bytesExpected) {
    content = new byte[bytesExpected];
  }

  EncodedEvents encoded() {
    return new EncodedEvents(
        columns.build(size == content.length ? content : Arrays.copyOf(content, size)),
        Arrays.copyOf(payloadHashes, columns.count()));
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
    columns.add(
        customerId,
        key.getMostSignificantBits(),
        key.getLeastSignificantBits(),
        atMillis,
        name,
        userId);
    int jsonFrom = putBeginning(customerId);
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
      columns.data(size, size + dataLength);
      size += dataLength;
    }
    put(END);
    columns.json(jsonFrom, size - 1); // without the comma
    int count = columns.count();
    if (count > payloadHashes.length) {
      payloadHashes = Arrays.copyOf(payloadHashes, 2 * count);
    }
    payloadHashes[count - 1] = payloadHash;
  }

  /** Where what a chunk holds begins: behind the brace, or behind the customer. */
  private int putBeginning(UUID customerId) {
    if (customerId == null) {
      put(KEY_FIRST);
      return size - KEY_FIRST.length + 1;
    }
    put(CUSTOMER);
    put(customerId);
    put(KEY_BEHIND_CUSTOMER);
    return size - KEY_BEHIND_CUSTOMER.length + 2;
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
