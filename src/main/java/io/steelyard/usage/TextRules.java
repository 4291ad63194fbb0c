package io.steelyard.usage;

import io.steelyard.json.Utf8;

/** What every string and name of a body has to keep to. */
final class TextRules {
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
    for (int i = 0; i < body.length - 1; i++) {
      if (body[i] == '\\' && body[i + 1] == 'u') {
        return true;
      }
    }
    return false;
  }

  boolean mayHoldUnstorable() {
    return mayHoldUnstorable;
  }

  int charsMax() {
    return charsMax;
  }

  boolean accepts(String text) {
    return text.length() <= charsMax && !(mayHoldUnstorable && Utf8.hasUnstorable(text));
  }

  /** Notes why {@code text} is refused; always false. */
  boolean refuse(String text, String pointer) {
    if (text.length() > charsMax) {
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
