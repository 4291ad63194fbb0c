package io.steelyard.web;

import io.steelyard.bus.Failure;
import io.steelyard.bus.Failure.Fault;
import io.steelyard.json.Timestamps;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;

/** Reads values out of JSON trees that a schema has passed. */
public final class Bodies {
  private Bodies() {}

  /**
   * @throws io.steelyard.bus.FailureException naming the faults, if there are any
   */
  public static void check(List<Fault> faults) {
    if (!faults.isEmpty()) {
      throw new Failure.Invalid(faults).asException();
    }
  }

  @SuppressWarnings("unchecked") // the schema has passed an object
  public static Map<String, Object> object(Object tree) {
    return (Map<String, Object>) tree;
  }

  /** The elements of an array of 1 to {@code max} elements; a fault of the whole body otherwise. */
  public static List<?> array(Object tree, int max) {
    if (!(tree instanceof List<?> list)) {
      throw Failure.invalid("", "type", "Must be an array.").asException();
    }
    if (list.isEmpty()) {
      throw Failure.invalid("", "min_items", "Must have at least 1 element.").asException();
    }
    if (list.size() > max) {
      throw Failure.invalid("", "max_items", "Must have at most " + max + " elements.")
          .asException();
    }
    return list;
  }

  public static String text(Map<String, Object> object, String name) {
    return (String) object.get(name);
  }

  public static Boolean flag(Map<String, Object> object, String name) {
    return (Boolean) object.get(name);
  }

  /** Null when left out. */
  public static BigDecimal number(Map<String, Object> object, String name) {
    Object value = object.get(name);
    return value == null ? null : new BigDecimal(value.toString());
  }

  /** A date-time, or a date that means its midnight in {@code zone}; null when left out. */
  public static Instant time(Map<String, Object> object, String name, ZoneId zone) {
    String text = text(object, name);
    return text == null ? null : Timestamps.dateOrDateTime(text, zone).orElseThrow();
  }
}
