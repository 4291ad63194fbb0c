package io.steelyard.domain;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What of an event decides whether and how it counts.
 *
 * @param userId null when the event names no user
 * @param data JSON values: String, BigDecimal, Integer, Long, BigInteger, Boolean, null, Map, List;
 *     null is taken as empty
 */
public record EventFacts(String eventName, String userId, Map<String, Object> data) {
  private static final String DATA = "data.";

  /** In place of the value of a member that is not there. */
  private static final Object MISSING = new Object();

  public EventFacts {
    if (data == null) {
      data = Map.of();
    }
  }

  /**
   * The value under {@code eventName}, {@code userId} or {@code data.<path>}. In a path each dot
   * goes one object deeper, unless a member's own name has the dots: of several members that the
   * path may begin with, the longest name under which it leads to a member counts. A JSON null is
   * no value.
   */
  public Optional<Object> property(String key) {
    return switch (key) {
      case "eventName" -> Optional.of(eventName);
      case "userId" -> Optional.ofNullable(userId);
      default -> key.startsWith(DATA) ? data(key.substring(DATA.length())) : Optional.empty();
    };
  }

  private Optional<Object> data(String path) {
    Object value = member(data, path);
    return value == MISSING ? Optional.empty() : Optional.ofNullable(value);
  }

  private static Object member(Map<?, ?> object, String path) {
    Object value = object.get(path);
    if (value != null || object.containsKey(path)) {
      return value;
    }
    return path.indexOf('.') < 0 ? MISSING : innerMember(object, path);
  }

  /** Goes by the members, not by the dots, so that it takes no longer than the event is large. */
  private static Object innerMember(Map<?, ?> object, String path) {
    NavigableMap<Integer, Map<?, ?>> ways = new TreeMap<>();
    object.forEach(
        (name, value) -> {
          if (value instanceof Map<?, ?> inner && beginsWith(path, (String) name)) {
            ways.put(((String) name).length(), inner);
          }
        });
    for (Map.Entry<Integer, Map<?, ?>> way : ways.descendingMap().entrySet()) {
      Object value = member(way.getValue(), path.substring(way.getKey() + 1));
      if (value != MISSING) {
        return value;
      }
    }
    return MISSING;
  }

  private static boolean beginsWith(String path, String name) {
    return path.length() > name.length()
        && path.charAt(name.length()) == '.'
        && path.startsWith(name);
  }

  /**
   * The property as text: numbers in plain notation without trailing zeros, so that 10.0 is the
   * same as 10. Objects and lists have no text.
   */
  Optional<String> text(String key) {
    return property(key).flatMap(EventFacts::textOf);
  }

  private static Optional<String> textOf(Object value) {
    if (value instanceof String || value instanceof Boolean) {
      return Optional.of(value.toString());
    }
    return numberOf(value).map(number -> number.stripTrailingZeros().toPlainString());
  }

  /** The value of a JSON number, exactly; empty for anything else. */
  static Optional<BigDecimal> numberOf(Object value) {
    return switch (value) {
      case BigDecimal number -> Optional.of(number);
      case BigInteger number -> Optional.of(new BigDecimal(number));
      case Long number -> Optional.of(BigDecimal.valueOf(number));
      case Integer number -> Optional.of(BigDecimal.valueOf(number));
      default -> Optional.empty();
    };
  }
}
