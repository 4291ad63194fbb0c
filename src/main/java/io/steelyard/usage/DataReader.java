package io.steelyard.usage;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.math.BigDecimal;

/** Checks an event's {@code data} and brings it into its canonical form on the way. */
final class DataReader {
  private static final int DIGITS_MAX = 64;
  private static final int EXPONENT_MAX = 100;
  private static final int LONG_CHARS = 18;

  private final JsonParser in;
  private final TextRules rules;
  private final FaultList faults;
  private final CanonicalForm canonical;

  DataReader(JsonParser in, TextRules rules, FaultList faults, CanonicalForm canonical) {
    this.in = in;
    this.rules = rules;
    this.faults = faults;
    this.canonical = canonical;
  }

  /** From the object's start, where the parser is, to its end. */
  void read() throws IOException {
    int depth = 0;
    do {
      switch (in.currentToken()) {
        case START_OBJECT -> {
          depth++;
          canonical.startObject();
        }
        case END_OBJECT -> {
          depth--;
          endObject();
        }
        case START_ARRAY -> {
          depth++;
          canonical.startArray();
        }
        case END_ARRAY -> {
          depth--;
          canonical.endArray();
        }
        case FIELD_NAME -> readName();
        case VALUE_STRING -> readText();
        case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> readNumber();
        case VALUE_TRUE -> canonical.literal('t');
        case VALUE_FALSE -> canonical.literal('f');
        case VALUE_NULL -> canonical.literal('z');
        default -> throw new IllegalStateException("a token that JSON has not");
      }
    } while (depth > 0 && advance());
  }

  private boolean advance() throws IOException {
    JsonToken token = in.nextToken();
    if (token == null) {
      throw new IllegalStateException("the parser reports an open end itself");
    }
    return true;
  }

  private void endObject() {
    for (String name : canonical.endObject()) {
      faults.add(
          rules.pointer(in.getParsingContext().pathAsPointer().toString(), name),
          "duplicate_key",
          "The property is given twice.");
    }
  }

  private void readName() throws IOException {
    String name = in.currentName();
    if (!rules.accepts(name)) {
      rules.refuse(name, in.getParsingContext().getParent().pathAsPointer().toString());
    }
    canonical.name(name);
  }

  private void readText() throws IOException {
    int length = in.getTextLength();
    if (length > rules.charsMax() || rules.mayHoldUnstorable()) {
      String text = in.getText();
      if (!rules.accepts(text)) {
        rules.refuse(text, pointer());
        return;
      }
    }
    canonical.text(in.getTextCharacters(), in.getTextOffset(), length);
  }

  private void readNumber() throws IOException {
    int length = in.getTextLength();
    if (in.currentToken() == JsonToken.VALUE_NUMBER_INT && length <= LONG_CHARS) {
      canonical.number(in.getLongValue(), 0);
      return;
    }
    String text = in.getText();
    if (isWithinLimits(text)) {
      canonical.number(new BigDecimal(text));
    } else {
      faults.add(
          pointer(),
          "number_range",
          "At most " + DIGITS_MAX + " digits and an exponent within ±100 are allowed.");
    }
  }

  private static boolean isWithinLimits(String text) {
    int digits = 0;
    int at = 0;
    for (; at < text.length() && (text.charAt(at) | 0x20) != 'e'; at++) {
      if (Character.isDigit(text.charAt(at))) {
        digits++;
      }
    }
    int exponent = 0;
    for (int i = at + 1; i < text.length() && exponent <= EXPONENT_MAX; i++) {
      if (Character.isDigit(text.charAt(i))) {
        exponent = exponent * 10 + (text.charAt(i) - '0');
      }
    }
    return digits <= DIGITS_MAX && exponent <= EXPONENT_MAX;
  }

  private String pointer() {
    return in.getParsingContext().pathAsPointer().toString();
  }
}
