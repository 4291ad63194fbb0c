package io.steelyard.usage;

import io.steelyard.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.AbstractMap;
import java.util.Map;
import java.util.Set;

/**
 * The members of an event's data, read when they are asked for: most rules are about the event's
 * name alone, or about one member. Plain objects, which most are, are read here, others by the JSON
 * library.
 */
final class StoredData extends AbstractMap<String, Object> {
  // Fits a long, whatever the digits are.
  private static final int DIGITS_MAX = 18;

  private static final int LOOKS_MAX = 2;

  private final EventColumns columns;
  private final int event;
  private Map<String, Object> members;
  private int looks;

  StoredData(EventColumns columns, int event) {
    this.columns = columns;
    this.event = event;
  }

  @Override
  public boolean containsKey(Object name) {
    Object found = find(name);
    return found == Plain.OTHER ? members().containsKey(name) : found != Plain.MISSING;
  }

  @Override
  public Object get(Object name) {
    Object found = find(name);
    if (found == Plain.OTHER) {
      return members().get(name);
    }
    return found == Plain.MISSING ? null : found;
  }

  @Override
  public Set<Entry<String, Object>> entrySet() {
    return members().entrySet();
  }

  /** Looks for the one that is asked for, as most rules ask for one; then all are read. */
  private Object find(Object name) {
    looks++;
    if (looks > LOOKS_MAX || !(name instanceof String text) || !isAscii(text)) {
      return Plain.OTHER;
    }
    return new Plain(columns.content(), columns.dataFrom(event)).find(text);
  }

  private static boolean isAscii(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) > 127) {
        return false;
      }
    }
    return true;
  }

  private Map<String, Object> members() {
    if (members == null) {
      members = Json.readMap(columns.data(event));
    }
    return members;
  }

  /**
   * Reads an object of text without escapes, short whole numbers, truths and nulls. Knows that it
   * has before it what was checked when it came in.
   */
  private static final class Plain {
    /** In place of a value that cannot be read here. */
    private static final Object OTHER = new Object();

    /** In place of a value of a name that none has. */
    private static final Object MISSING = new Object();

    private final byte[] in;
    private int at;

    private Plain(byte[] in, int from) {
      this.in = in;
      this.at = from;
    }

    /** The value of that name; {@link #OTHER} when anything else is in it, as far as was read. */
    private Object find(String name) {
      at++; // the brace
      skipSpace();
      while (in[at] != '}') {
        if (in[at] != '"') {
          return OTHER;
        }
        int from = at + 1;
        if (!skipText()) {
          return OTHER;
        }
        boolean wanted = isText(name, from, at - 1);
        skipSpace();
        at++; // the colon
        skipSpace();
        if (wanted) {
          return value();
        }
        if (!skipValue()) {
          return OTHER;
        }
        skipSpace();
        if (in[at] == ',') {
          at++;
          skipSpace();
        }
      }
      return MISSING;
    }

    private boolean isText(String text, int from, int end) {
      int length = text.length();
      if (length != end - from) {
        return false;
      }
      for (int i = 0; i < length; i++) {
        if (in[from + i] != text.charAt(i)) {
          return false;
        }
      }
      return true;
    }

    private void skipSpace() {
      while (in[at] <= ' ' && in[at] >= 0) {
        at++;
      }
    }

    private Object value() {
      return switch (in[at]) {
        case '"' -> {
          int from = at + 1;
          yield skipText() ? new String(in, from, at - 1 - from, StandardCharsets.UTF_8) : OTHER;
        }
        case 't' -> Boolean.TRUE;
        case 'f' -> Boolean.FALSE;
        case 'n' -> null;
        case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> number();
        default -> OTHER;
      };
    }

    private boolean skipValue() {
      return switch (in[at]) {
        case '"' -> skipText();
        case '{', '[' -> false;
        default -> {
          while (in[at] != ',' && in[at] != '}' && in[at] > ' ') {
            at++;
          }
          yield true;
        }
      };
    }

    /** Whether there is no escape in it. */
    private boolean skipText() {
      at++;
      while (in[at] != '"') {
        if (in[at] == '\\') {
          return false;
        }
        at++;
      }
      at++;
      return true;
    }

    private Object number() {
      boolean negative = in[at] == '-';
      if (negative) {
        at++;
      }
      int from = at;
      long value = 0;
      while (in[at] >= '0' && in[at] <= '9') {
        value = value * 10 + in[at] - '0';
        at++;
      }
      if (at - from > DIGITS_MAX || in[at] == '.' || in[at] == 'e' || in[at] == 'E') {
        return OTHER;
      }
      return negative ? -value : value;
    }
  }
}
