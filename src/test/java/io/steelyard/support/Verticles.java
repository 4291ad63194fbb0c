package io.steelyard.support;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** Settings of a node that has some of the verticles only. */
public final class Verticles {
  private static final List<String> ALL =
      List.of(
          "http",
          "merchant",
          "catalog",
          "customer",
          "subscription",
          "invoice",
          "credit",
          "usage",
          "aggregation",
          "explain",
          "retention",
          "billing",
          "integrity",
          "gateway",
          "delivery");

  private Verticles() {}

  public static Map<String, String> only(String... names) {
    return settings(List.of(names)::contains);
  }

  public static Map<String, String> without(String... names) {
    return settings(name -> !List.of(names).contains(name));
  }

  private static Map<String, String> settings(Predicate<String> there) {
    Map<String, String> none = new HashMap<>();
    ALL.stream()
        .filter(there.negate())
        .forEach(name -> none.put("verticles." + name + ".instances", "0"));
    return none;
  }
}
