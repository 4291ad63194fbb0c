package io.steelyard.web;

import io.steelyard.bus.Failure;
import io.steelyard.bus.Failure.Fault;
import io.steelyard.domain.Paging;
import io.steelyard.domain.WireName;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Reads path and query parameters strictly: an unknown, repeated, empty or out-of-range one is a
 * fault, and all faults are named together.
 */
public final class Query {
  private static final int PAGE_SIZE_DEFAULT = 20;
  private static final int PAGE_SIZE_MAX = 100;
  private static final int VALUE_CHARS_MAX = 8192;

  private final Map<String, String> values = new LinkedHashMap<>();
  private final Set<String> asked = new TreeSet<>();
  private final List<Fault> faults = new ArrayList<>();

  /**
   * @param raw the part of the URI after the question mark, or null
   * @param pathFaults faults found in the path before
   */
  Query(String raw, List<Fault> pathFaults) {
    faults.addAll(pathFaults);
    if (raw == null || raw.isEmpty()) {
      return;
    }
    for (String pair : raw.split("&")) {
      if (!pair.isEmpty()) {
        add(pair);
      }
    }
  }

  private void add(String pair) {
    int equals = pair.indexOf('=');
    Optional<String> name = Percent.decode(equals < 0 ? pair : pair.substring(0, equals), true);
    Optional<String> value = Percent.decode(equals < 0 ? "" : pair.substring(equals + 1), true);
    if (name.isEmpty() || value.isEmpty()) {
      faults.add(
          Fault.parameter(name.orElse("query"), "encoding", "Must be percent-encoded UTF-8."));
    } else if (values.putIfAbsent(name.get(), value.get()) != null) {
      faults.add(Fault.parameter(name.get(), "repeated", "May be given once only."));
    }
  }

  /** A filter's value, if given. */
  public Optional<String> text(String name) {
    asked.add(name);
    String value = values.get(name);
    if (value == null) {
      return Optional.empty();
    }
    if (value.isEmpty()) {
      fault(name, "min_length", "Must not be empty.");
      return Optional.empty();
    }
    if (value.length() > VALUE_CHARS_MAX) {
      fault(name, "max_length", "Must have at most " + VALUE_CHARS_MAX + " characters.");
      return Optional.empty();
    }
    return Optional.of(value);
  }

  /** The values of those of the named filters that were given. */
  public Map<String, String> filters(List<String> names) {
    Map<String, String> filters = new LinkedHashMap<>();
    names.forEach(name -> text(name).ifPresent(value -> filters.put(name, value)));
    return filters;
  }

  /** As {@link #text}, but the value must be a documented name of {@code type}. */
  public <E extends Enum<E> & WireName> void mustName(String name, Class<E> type) {
    text(name)
        .ifPresent(
            value -> {
              List<String> allowed = new ArrayList<>();
              for (E constant : type.getEnumConstants()) {
                allowed.add(constant.wire());
              }
              oneOf(name, value, allowed);
            });
  }

  /**
   * @param orderFields what {@code orderBy} may name; empty for a list with one order only
   */
  public Paging paging(Set<String> orderFields) {
    int page = number("page", 1, Integer.MAX_VALUE, 1);
    int pageSize = number("pageSize", 1, PAGE_SIZE_MAX, PAGE_SIZE_DEFAULT);
    String order = text("order").orElse("desc");
    oneOf("order", order, List.of("asc", "desc"));
    String orderBy = "createdAt";
    if (!orderFields.isEmpty()) {
      orderBy = text("orderBy").orElse(orderBy);
      oneOf("orderBy", orderBy, List.copyOf(new TreeSet<>(orderFields)));
    }
    return new Paging(page, pageSize, order.equals("asc"), orderBy);
  }

  /**
   * Ends the reading.
   *
   * @throws io.steelyard.bus.FailureException naming every fault, unknown parameters included
   */
  public void check() {
    for (String name : values.keySet()) {
      if (!asked.contains(name)) {
        fault(name, "unknown_parameter", "There is no such parameter.");
      }
    }
    if (!faults.isEmpty()) {
      throw new Failure.Invalid(faults).asException();
    }
  }

  private int number(String name, int min, int max, int missing) {
    Optional<String> value = text(name);
    if (value.isEmpty()) {
      return missing;
    }
    String text = value.get();
    boolean digits = !text.isEmpty() && text.chars().allMatch(c -> c >= '0' && c <= '9');
    if (digits && text.length() <= 10) {
      long number = Long.parseLong(text);
      if (number >= min && number <= max) {
        return (int) number;
      }
    }
    String range = max == Integer.MAX_VALUE ? ">= " + min : "from " + min + " to " + max;
    fault(name, digits ? "range" : "type", "Must be an integer " + range + ".");
    return missing;
  }

  private void oneOf(String name, String value, List<String> allowed) {
    if (!allowed.contains(value)) {
      fault(name, "enum", "Must be one of " + String.join(", ", allowed) + ".");
    }
  }

  private void fault(String name, String code, String message) {
    Fault fault = Fault.parameter(name, code, message);
    if (!faults.contains(fault)) { // a parameter may be read twice
      faults.add(fault);
    }
  }
}
