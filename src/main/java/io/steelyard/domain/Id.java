package io.steelyard.domain;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;

/**
 * An identifier as TypeID writes it: a prefix for the kind, an underscore, and the UUID as 26
 * characters of lower-case Crockford base32. Text order is UUID order, so version 7 ids sort by
 * time.
 */
public record Id(IdKind kind, UUID uuid) implements Comparable<Id> {
  private static final char[] ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz".toCharArray();
  private static final byte[] VALUES = new byte[256];
  private static final int SUFFIX_LENGTH = 26;

  static {
    java.util.Arrays.fill(VALUES, (byte) -1);
    for (byte i = 0; i < ALPHABET.length; i++) {
      VALUES[ALPHABET[i]] = i;
    }
  }

  public Id {
    Objects.requireNonNull(kind);
    Objects.requireNonNull(uuid);
  }

  /** The id that {@code text} spells, or empty when it is malformed or of another kind. */
  public static Optional<Id> parse(IdKind kind, String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    UUID uuid = uuid(kind, utf8, 0, utf8.length);
    return uuid == null ? Optional.empty() : Optional.of(new Id(kind, uuid));
  }

  /** The UUID of the id that these bytes spell in UTF-8, or null where {@link #parse} has none. */
  public static UUID uuid(IdKind kind, byte[] text, int from, int length) {
    String prefix = kind.prefix();
    int start = from + prefix.length() + 1;
    if (from + length != start + SUFFIX_LENGTH || text[start - 1] != '_') {
      return null;
    }
    for (int i = 0; i < prefix.length(); i++) {
      if (text[from + i] != prefix.charAt(i)) {
        return null;
      }
    }
    // 26 characters hold 130 bits: the first may only use its lower three.
    long a = base32(text, start, 9);
    long b = base32(text, start + 9, 8);
    long c = base32(text, start + 17, 9);
    if (text[start] > '7' || (a | b | c) < 0) {
      return null;
    }
    // 43 bits, 40 and 45
    return new UUID(a << 21 | b >>> 19, b << 45 | c);
  }

  /** What these characters are together, below zero where one is not of the alphabet. */
  private static long base32(byte[] text, int from, int length) {
    long value = 0;
    int faulty = 0;
    for (int i = from; i < from + length; i++) {
      int digit = VALUES[text[i] & 0xff];
      faulty |= digit;
      value = value << 5 | digit;
    }
    return faulty < 0 ? -1 : value;
  }

  @Override
  public String toString() {
    char[] text = new char[kind.prefix().length() + 1 + SUFFIX_LENGTH];
    kind.prefix().getChars(0, kind.prefix().length(), text, 0);
    text[kind.prefix().length()] = '_';
    long high = uuid.getMostSignificantBits();
    long low = uuid.getLeastSignificantBits();
    for (int i = text.length - 1; i > kind.prefix().length(); i--) {
      text[i] = ALPHABET[(int) (low & 31)];
      low = (low >>> 5) | (high << 59);
      high = high >>> 5;
    }
    return new String(text);
  }

  @Override
  public int compareTo(Id other) {
    return toString().compareTo(other.toString());
  }
}
