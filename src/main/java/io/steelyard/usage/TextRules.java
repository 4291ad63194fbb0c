package io.steelyard.usage;

import io.steelyard.json.Text;
import io.steelyard.json.Utf8;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** What every string and name of a body has to keep to. */
final class TextRules {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long ONES = 0x0101010101010101L;
  private static final long HIGH_BITS = 0x8080808080808080L;
  private static final long BACKSLASHES = '\\' * ONES;

  private final int charsMax;
  private final boolean mayHoldUnstorable;
  private final FaultList faults;

  /** Only a {@code \}{@code u} escape can bring in what strict UTF-8 and JSON already exclude. */
  TextRules(int charsMax, byte[] body, FaultList faults) {
    this.charsMax = charsMax;
    this.mayHoldUnstorable = hasUnicodeEscape(body);
    this.faults = faults;
  }

  private static boolean hasUnicodeEscape(byte[] body) {
    int at = 0;
    while (at < body.length - 1) {
      if (at + Long.BYTES <= body.length && !hasBackslash((long) LONGS.get(body, at))) {
        at += Long.BYTES;
      } else if (body[at] == '\\' && body[at + 1] == 'u') {
        return true;
      } else {
        at++;
      }
    }
    return false;
  }

  /** Eight bytes at once: the subtraction borrows into the high bit of a byte that is zero. */
  private static boolean hasBackslash(long bytes) {
    long zeroWhereEqual = bytes ^ BACKSLASHES;
    return ((zeroWhereEqual - ONES) & ~zeroWhereEqual & HIGH_BITS) != 0;
  }

  boolean mayHoldUnstorable() {
    return mayHoldUnstorable;
  }

  int charsMax() {
    return charsMax;
  }

  boolean accepts(String text) {
    return !Text.isLongerThan(charsMax, text) && !(mayHoldUnstorable && Utf8.hasUnstorable(text));
  }

  /** Notes why {@code text} is refused; always false. */
  boolean refuse(String text, String pointer) {
    if (Text.isLongerThan(charsMax, text)) {
      faults.add(pointer, "max_length", "At most " + charsMax + " characters are allowed.");
    } else {
      faults.add(
          pointer, "invalid_character", "U+0000 and unpaired surrogates are not allowed in text.");
    }
    return false;
  }

  /** The pointer to a member, or to its object when the name itself is nothing to repeat. */
  String pointer(String object, String name) {
    return accepts(name) ? FaultList.pointer(object, name) : object;
  }
}
