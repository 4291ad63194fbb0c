package io.steelyard.json;

/** The text that may enter the service: no U+0000, which PostgreSQL refuses, no lone surrogate. */
public final class Text {
  private static final char REPLACEMENT = '\uFFFD';

  private Text() {}

  static boolean isClean(String text) {
    return !Utf8.hasUnstorable(text);
  }

  /** The same text with a replacement character wherever it is not clean. */
  static String cleaned(String text) {
    StringBuilder cleaned = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      cleaned.append(c == 0 || isLone(text, i) ? REPLACEMENT : c);
    }
    return cleaned.toString();
  }

  /** In characters of Unicode, as JSON Schema counts them: an emoji is one. */
  public static boolean isLongerThan(int limit, String text) {
    return text.length() > limit && text.codePointCount(0, text.length()) > limit;
  }

  private static boolean isLone(String text, int index) {
    char c = text.charAt(index);
    if (Character.isHighSurrogate(c)) {
      return index + 1 == text.length() || !Character.isLowSurrogate(text.charAt(index + 1));
    }
    return Character.isLowSurrogate(c)
        && (index == 0 || !Character.isHighSurrogate(text.charAt(index - 1)));
  }
}
