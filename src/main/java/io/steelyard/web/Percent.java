package io.steelyard.web;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Percent-decoding that refuses what it cannot decode exactly. */
final class Percent {
  private Percent() {}

  /** The decoded text, or empty when an escape or the UTF-8 is broken, or a NUL is inside. */
  static Optional<String> decode(String text, boolean plusIsSpace) {
    if (isPlain(text)) {
      return Optional.of(text);
    }
    byte[] raw = text.getBytes(StandardCharsets.UTF_8);
    ByteBuffer bytes = ByteBuffer.allocate(raw.length);
    for (int i = 0; i < raw.length; i++) {
      byte b = raw[i];
      if (b == '%') {
        int value = i + 2 < raw.length ? hex(raw[i + 1]) << 4 | hex(raw[i + 2]) : -1;
        if (value <= 0) {
          return Optional.empty();
        }
        bytes.put((byte) value);
        i += 2;
      } else {
        bytes.put(b == '+' && plusIsSpace ? (byte) ' ' : b);
      }
    }
    try {
      return Optional.of(
          StandardCharsets.UTF_8
              .newDecoder()
              .onMalformedInput(CodingErrorAction.REPORT)
              .decode(bytes.flip())
              .toString());
    } catch (CharacterCodingException e) {
      return Optional.empty();
    }
  }

  /** Whether every percent sign begins an escape; also of no path at all. */
  static boolean isWellFormed(String path) {
    int at = path == null ? -1 : path.indexOf('%');
    while (at >= 0) {
      if (at + 2 >= path.length()
          || Character.digit(path.charAt(at + 1), 16) < 0
          || Character.digit(path.charAt(at + 2), 16) < 0) {
        return false;
      }
      at = path.indexOf('%', at + 1);
    }
    return true;
  }

  /** Whether the text stands for itself, as most do. */
  private static boolean isPlain(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '%' || c == '+' || c >= 0x80) {
        return false;
      }
    }
    return true;
  }

  /** The digit's value; -1, which keeps every combination negative, for another character. */
  private static int hex(byte c) {
    return Character.digit(c, 16);
  }
}
