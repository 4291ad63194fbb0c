package io.steelyard.domain;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Map;
import java.util.Optional;

/**
 * What of an event decides whether and how it counts.
 *
 * @param userId null when the event names no user
 * @param data JSON values: String, BigDecimal, Integer, Long, BigInteger, Boolean, null, Map, List;
 *     null is taken as empty
 */
public record EventFacts(String eventName, String userId, Map<String, Object> data) {
  private static final String DATA = "data.";

  public EventFacts {
    if (data == null) {
      data = Map.of();
    }
  }

  /**
   * The value under {@code eventName}, {@code userId} or {@code data.<path>}. In a path each dot
   * goes one object deeper, unless a member's own name has the dots. A JSON null is no value.
   */
  public Optional<Object> property(String key) {
    return switch (key) {
      case "eventName" -> Optional.of(eventName);
      case "userId" -> Optional.ofNullable(userId);
      default ->
          key.startsWith(DATA) ? member(data, key.substring(DATA.length())) : Optional.empty();
    };
  }

  private static Optional<Object> member(Map<?, ?> object, String path) {
    Object value = object.get(path);
    if (value != null || object.containsKey(path)) {
      return Optional.ofNullable(value);
    }
    int dot = path.indexOf('.');
    if (dot >= 0 && object.get(path.substring(0, dot)) instanceof Map<?, ?> inner) {
      return member(inner, path.substring(dot + 1));
    }
    return Optional.empty();
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
