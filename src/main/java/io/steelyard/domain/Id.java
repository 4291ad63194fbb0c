package io.steelyard.domain;

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
  private static final byte[] VALUES = new byte[128];
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
    String prefix = kind.prefix();
    int start = prefix.length() + 1;
    if (text.length() != start + SUFFIX_LENGTH
        || !text.startsWith(prefix)
        || text.charAt(start - 1) != '_') {
      return Optional.empty();
    }
    // 26 characters hold 130 bits: the first may only use its lower three.
    if (text.charAt(start) > '7') {
      return Optional.empty();
    }
    long high = 0;
    long low = 0;
    for (int i = start; i < text.length(); i++) {
      char c = text.charAt(i);
      int value = c < 128 ? VALUES[c] : -1;
      if (value < 0) {
        return Optional.empty();
      }
      high = (high << 5) | (low >>> 59);
      low = (low << 5) | value;
    }
    return Optional.of(new Id(kind, new UUID(high, low)));
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
