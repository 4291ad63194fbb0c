package io.steelyard.usage;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** One text of an event as UTF-8, in the place where it was read; filled anew for each event. */
final class SentText {
  private byte[] source;
  private int from;
  private int length;
  private boolean given;
  private String text; // of the bytes above, once it was asked for

  void clear() {
    given = false;
  }

  boolean isGiven() {
    return given;
  }

  void set(String read) {
    source = read.getBytes(StandardCharsets.UTF_8);
    from = 0;
    length = source.length;
    given = true;
    text = read;
  }

  /** Keeps the text made before where it is the same: the events of a body often share names. */
  void set(byte[] body, int start, int end) {
    if (text != null && !Arrays.equals(source, from, from + length, body, start, end)) {
      text = null;
    }
    source = body;
    from = start;
    length = end - start;
    given = true;
  }

  byte[] source() {
    return source;
  }

  int from() {
    return from;
  }

  int length() {
    return length;
  }

  /** Null when not given. */
  String text() {
    if (!given) {
      return null;
    }
    if (text == null) {
      text = new String(source, from, length, StandardCharsets.UTF_8);
    }
    return text;
  }
}
