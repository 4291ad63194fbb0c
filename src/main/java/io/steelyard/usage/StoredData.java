package io.steelyard.usage;

import io.steelyard.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.AbstractMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * The members of an event's data, read when the first of them is asked for: most rules are about
 * the event's name alone. Plain objects, which most are, are read here, others by the JSON library.
 */
final class StoredData extends AbstractMap<String, Object> {
  // Fits a long, whatever the digits are.
  private static final int DIGITS_MAX = 18;

  private final EventColumns columns;
  private final int event;
  private Map<String, Object> members;

  StoredData(EventColumns columns, int event) {
    this.columns = columns;
    this.event = event;
  }

  @Override
  public boolean containsKey(Object name) {
    return members().containsKey(name);
  }

  @Override
  public Object get(Object name) {
    return members().get(name);
  }

  @Override
  public Set<Entry<String, Object>> entrySet() {
    return members().entrySet();
  }

  private Map<String, Object> members() {
    if (members == null) {
      members =
          new Plain(columns.content(), columns.dataFrom(event), columns.dataEnd(event)).read();
      if (members == null) {
        members = Json.readMap(columns.data(event));
      }
    }
    return members;
  }

  /**
   * Reads an object of text without escapes, short whole numbers, truths and nulls. Knows that it
   * has before it what was checked when it came in.
   */
  private static final class Plain {
    private static final Object OTHER = new Object();

    private final byte[] in;
    private final int end;
    private int at;

    private Plain(byte[] in, int from, int end) {
      this.in = in;
      this.at = from;
      this.end = end;
    }

    /** Null when there is anything else in it. */
    private Map<String, Object> read() {
      Map<String, Object> members = new HashMap<>();
      at++; // the brace
      skipSpace();
      while (in[at] != '}') {
        Object name = in[at] == '"' ? text() : OTHER;
        if (name == OTHER) {
          return null;
        }
        skipSpace();
        at++; // the colon
        skipSpace();
        Object value = value();
        if (value == OTHER) {
          return null;
        }
        members.put((String) name, value);
        skipSpace();
        if (in[at] == ',') {
          at++;
          skipSpace();
        }
      }
      return members;
    }

    private void skipSpace() {
      while (in[at] <= ' ' && in[at] >= 0) {
        at++;
      }
    }

    private Object value() {
      return switch (in[at]) {
        case '"' -> text();
        case 't' -> literal(Boolean.TRUE, 4);
        case 'f' -> literal(Boolean.FALSE, 5);
        case 'n' -> literal(null, 4);
        case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> number();
        default -> OTHER;
      };
    }

    private Object literal(Object value, int length) {
      at += length;
      return value;
    }

    private Object text() {
      int from = ++at;
      while (in[at] != '"') {
        if (in[at] == '\\') {
          return OTHER;
        }
        at++;
      }
      return new String(in, from, at++ - from, StandardCharsets.UTF_8);
    }

    private Object number() {
      boolean negative = in[at] == '-';
      if (negative) {
        at++;
      }
      int from = at;
      long value = 0;
      while (at < end && in[at] >= '0' && in[at] <= '9') {
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
