package io.steelyard.catalog;

import io.steelyard.bus.Failure.Fault;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/** Collects the faults of a document, and the checks that recur in it. */
final class Faults {
  /** Names are in unique indexes, whose rows are bounded. */
  private static final int NAME_CHARS_MAX = 255;

  private static final int DIGITS_MAX = 64;
  private static final int EXPONENT_MAX = 100;

  private final List<Fault> found = new ArrayList<>();

  List<Fault> found() {
    return List.copyOf(found);
  }

  void add(String pointer, String code, String message) {
    found.add(Fault.at(pointer, code, message));
  }

  /** Whether {@code value} is there. */
  boolean required(String pointer, Object value) {
    if (value == null) {
      add(pointer, "required", "is required");
    }
    return value != null;
  }

  /** Text that must be there and must not be empty. */
  boolean text(String pointer, String value) {
    if (required(pointer, value) && value.isEmpty()) {
      add(pointer, "min_length", "must not be empty");
      return false;
    }
    return value != null;
  }

  /** The name of something among its kind: not empty, not too long, and not taken. */
  boolean name(String pointer, String value, Set<String> taken) {
    if (!text(pointer, value)) {
      return false;
    }
    if (value.length() > NAME_CHARS_MAX) {
      add(pointer, "max_length", "must have at most " + NAME_CHARS_MAX + " characters");
      return false;
    }
    if (!taken.add(value)) {
      add(pointer, "duplicate", "\"" + value + "\" appears twice");
      return false;
    }
    return true;
  }

  /** A list within its bound, none of whose elements is missing. */
  boolean list(String pointer, Collection<?> values, int sizeMax) {
    if (values.size() > sizeMax) {
      add(pointer, "max_items", "must have at most " + sizeMax + " elements");
      return false;
    }
    int i = 0;
    boolean complete = true;
    for (Object value : values) {
      complete &= required(pointer + "/" + i++, value);
    }
    return complete;
  }

  /** A number, if it is there, within the bounds of all numbers and not below zero. */
  boolean notNegative(String pointer, BigDecimal value) {
    if (value == null || !bounded(pointer, value)) {
      return false;
    }
    if (value.signum() < 0) {
      add(pointer, "minimum", "must not be negative");
      return false;
    }
    return true;
  }

  boolean positive(String pointer, BigDecimal value) {
    if (value == null || !bounded(pointer, value)) {
      return false;
    }
    if (value.signum() <= 0) {
      add(pointer, "minimum", "must be above zero");
      return false;
    }
    return true;
  }

  private boolean bounded(String pointer, BigDecimal value) {
    if (inBounds(value)) {
      return true;
    }
    add(
        pointer,
        "out_of_range",
        "must have at most %d digits and an exponent within %d"
            .formatted(DIGITS_MAX, EXPONENT_MAX));
    return false;
  }

  /** Whether the number can be written out and reckoned with at a bounded cost. */
  static boolean inBounds(BigDecimal value) {
    long exponent = (long) value.precision() - value.scale() - 1;
    return value.precision() <= DIGITS_MAX && Math.abs(exponent) <= EXPONENT_MAX;
  }

  /** One step of a JSON pointer. */
  static String step(String name) {
    return "/" + name.replace("~", "~0").replace("/", "~1");
  }
}
