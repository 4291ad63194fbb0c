package io.steelyard.json;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonStreamContext;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.exc.StreamReadException;
import io.steelyard.bus.Failure.Fault;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Builds the tree of one body and collects its faults, with a stack of its own: no recursion. */
final class TreeReader {
  private static final String UNCLEAN = "%s must not hold U+0000 or half of a surrogate pair.";

  private final JsonParser parser;
  private final StrictJson.Bounds bounds;
  private final Deque<Frame> path = new ArrayDeque<>();
  private final List<Fault> faults = new ArrayList<>();
  private Object root;
  private int values;

  /** An open object or array; {@code name} is the member being read. */
  private static final class Frame {
    final Map<String, Object> members;
    final List<Object> items;
    String name;

    Frame(Map<String, Object> members, List<Object> items) {
      this.members = members;
      this.items = items;
    }

    void add(Object value) {
      if (members == null) {
        items.add(value);
      } else {
        members.put(name, value);
      }
    }

    /**
     * @param index of the item meant, when this is an array
     */
    String pointer(String parent, int index) {
      if (members == null) {
        return Pointer.child(parent, index);
      }
      return name == null ? parent : Pointer.child(parent, name);
    }
  }

  TreeReader(JsonParser parser, StrictJson.Bounds bounds) {
    this.parser = parser;
    this.bounds = bounds;
  }

  /** Reads to the end. False when there is no value at all. */
  boolean read() throws IOException {
    JsonToken token = parser.nextToken();
    if (token == null) {
      return false;
    }
    do {
      accept(token);
      if (isFull()) {
        return true;
      }
      token = parser.nextToken();
    } while (!path.isEmpty());
    if (token != null) {
      fault(Pointer.ROOT, "malformed_json", "Nothing may follow the JSON value.");
    }
    return true;
  }

  StrictJson.Result result() {
    return new StrictJson.Result(root, faults);
  }

  /** What was found before the place where the text stops being JSON, and that place. */
  StrictJson.Result malformed(StreamReadException cause) {
    JsonLocation at = parser.currentLocation();
    JsonStreamContext context = parser.getParsingContext();
    Frame open = path.peek();
    // The parser looks past a name at its value before it hands out the name.
    if (open != null && open.members != null && context.getNestingDepth() == path.size()) {
      open.name = context.getCurrentName();
    }
    if (cause.getOriginalMessage().contains("surrogate")) {
      // A name that the parser itself does not take: what can be told is whose name it is.
      path.peek().name = null;
      fault(pointer(), "invalid_character", UNCLEAN.formatted("A name"));
    } else {
      fault(
          pointer(),
          "malformed_json",
          "The body is not valid JSON at line %d, column %d."
              .formatted(at.getLineNr(), at.getColumnNr()));
    }
    return result();
  }

  /** Deeper than is worth skipping; the fault is there since the limit was passed. */
  StrictJson.Result tooDeep() {
    return result();
  }

  private void accept(JsonToken token) throws IOException {
    switch (token) {
      case START_OBJECT -> open(new Frame(new LinkedHashMap<>(), null));
      case START_ARRAY -> open(new Frame(null, new ArrayList<>()));
      case END_OBJECT, END_ARRAY -> path.pop();
      case FIELD_NAME -> name(parser.currentName());
      case VALUE_STRING -> {
        String text = parser.getText();
        checkText(text, "The text");
        add(text);
      }
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> number(parser.getText());
      case VALUE_TRUE -> add(Boolean.TRUE);
      case VALUE_FALSE -> add(Boolean.FALSE);
      case VALUE_NULL -> add(null);
      default -> throw new IllegalStateException("no such token in a JSON text: " + token);
    }
  }

  private void open(Frame frame) throws IOException {
    if (path.size() == bounds.depth()) {
      fault(
          pointer(),
          "too_deep",
          "Objects and arrays may be nested at most " + bounds.depth() + " levels deep.");
      parser.skipChildren();
      add(null);
      return;
    }
    add(frame.members == null ? frame.items : frame.members);
    path.push(frame);
  }

  private void name(String name) {
    Frame object = path.peek();
    object.name = name;
    checkText(name, "The name");
    if (object.members.containsKey(name)) {
      fault(pointer(), "duplicate_key", "The same name must not occur twice in one object.");
    }
  }

  private void number(String literal) {
    if (Numbers.isInRange(literal)) {
      add(Numbers.parse(literal));
    } else {
      fault(
          pointer(),
          "number_range",
          "A number may have at most %d digits and an exponent within ±%d."
              .formatted(Numbers.DIGITS_MAX, Numbers.EXPONENT_MAX));
      add(0);
    }
  }

  private void checkText(String text, String subject) {
    if (!Text.isClean(text)) {
      fault(pointer(), "invalid_character", UNCLEAN.formatted(subject));
    } else if (Text.isLongerThan(bounds.stringChars(), text)) {
      fault(
          pointer(),
          "max_length",
          subject + " may have at most " + bounds.stringChars() + " characters.");
    }
  }

  private void add(Object value) {
    values++;
    if (path.isEmpty()) {
      root = value;
    } else {
      path.peek().add(value);
    }
  }

  private boolean isFull() {
    if (values > bounds.values()) {
      fault(
          Pointer.ROOT,
          "too_many_values",
          "A body may hold at most " + bounds.values() + " values.");
      return true;
    }
    return faults.size() >= StrictJson.FAULTS_MAX;
  }

  private void fault(String pointer, String code, String message) {
    faults.add(Fault.at(pointer, code, message));
  }

  /** Of the value being read, or the next one: every open array but the last has its item. */
  private String pointer() {
    String pointer = Pointer.ROOT;
    for (Iterator<Frame> outermostFirst = path.descendingIterator(); outermostFirst.hasNext(); ) {
      Frame frame = outermostFirst.next();
      int read = frame.items == null ? 0 : frame.items.size();
      pointer = frame.pointer(pointer, outermostFirst.hasNext() ? read - 1 : read);
    }
    return pointer;
  }
}
