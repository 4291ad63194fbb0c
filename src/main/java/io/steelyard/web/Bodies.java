package io.steelyard.web;

import io.steelyard.bus.Failure;
import io.steelyard.bus.Failure.Fault;
import io.steelyard.json.StrictJson;
import io.steelyard.json.Timestamps;
import io.steelyard.json.Validator;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;

/** Reads values out of JSON trees that a schema has passed. */
public final class Bodies {
  private static final int SLICE = 50;

  private Bodies() {}

  /**
   * @throws io.steelyard.bus.FailureException naming the faults, if there are any
   */
  public static void check(List<Fault> faults) {
    if (!faults.isEmpty()) {
      throw new Failure.Invalid(faults).asException();
    }
  }

  /**
   * Checks every element of a bulk body, in slices between which other requests have their turn: a
   * thousand customers take tens of milliseconds. Fails naming all faults. To be called on an event
   * loop.
   */
  public static Future<Void> checkEach(Validator schemas, String itemSchema, List<?> items) {
    return checkFrom(0, items, new ArrayList<>(), (tree, at) -> schemas.check(itemSchema, tree, at))
        .map(
            faults -> {
              check(faults);
              return null;
            });
  }

  private static Future<List<Fault>> checkFrom(
      int start, List<?> items, List<Fault> faults, BiFunction<Object, String, List<Fault>> rule) {
    int end = Math.min(start + SLICE, items.size());
    for (int i = start; i < end && faults.size() < StrictJson.FAULTS_MAX; i++) {
      faults.addAll(rule.apply(items.get(i), "/" + i));
    }
    if (end == items.size()) {
      return Future.succeededFuture(faults);
    }
    Promise<Void> turn = Promise.promise();
    Vertx.currentContext().runOnContext(next -> turn.complete());
    return turn.future().compose(next -> checkFrom(end, items, faults, rule));
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
