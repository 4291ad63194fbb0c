package io.steelyard.json;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/** The stable names of what can be wrong with a value, the most basic first. */
enum FaultCode {
  TYPE("type"),
  REQUIRED("required"),
  UNKNOWN_PROPERTY("additionalProperties"),
  ENUM("enum", "const"),
  MIN_LENGTH("minLength"),
  MAX_LENGTH("maxLength"),
  MIN_ITEMS("minItems"),
  MAX_ITEMS("maxItems"),
  MINIMUM("minimum", "exclusiveMinimum"),
  MAXIMUM("maximum", "exclusiveMaximum"),
  PATTERN("pattern"),
  FORMAT("format");

  private final List<String> keywords;

  FaultCode(String... keywords) {
    this.keywords = List.of(keywords);
  }

  /** Whether a failing keyword has a name. */
  static boolean knows(String keyword) {
    for (FaultCode code : values()) {
      if (code.keywords.contains(keyword)) {
        return true;
      }
    }
    return false;
  }

  static FaultCode of(String keyword) {
    for (FaultCode code : values()) {
      if (code.keywords.contains(keyword)) {
        return code;
      }
    }
    throw new IllegalStateException("no fault is named for " + keyword);
  }

  String code() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * @param schema as documented, with the keyword in it
   */
  String message(String keyword, Map<?, ?> schema) {
    Object bound = schema.get(keyword);
    return switch (this) {
      case TYPE -> "Must be " + types(bound) + ".";
      case REQUIRED -> "This property is required.";
      case UNKNOWN_PROPERTY -> "There is no such property.";
      case ENUM -> "Must be " + choice(bound) + ".";
      case MIN_LENGTH ->
          bound.equals(1)
              ? "Must not be empty."
              : "Must have at least %s characters.".formatted(bound);
      case MAX_LENGTH -> "Must have at most %s characters.".formatted(bound);
      case MIN_ITEMS -> "Must have at least %s item(s).".formatted(bound);
      case MAX_ITEMS -> "Must have at most %s items.".formatted(bound);
      case MINIMUM ->
          (keyword.equals("minimum") ? "Must be at least %s." : "Must be more than %s.")
              .formatted(bound);
      case MAXIMUM ->
          (keyword.equals("maximum") ? "Must be at most %s." : "Must be less than %s.")
              .formatted(bound);
      case PATTERN -> "Must match the pattern %s.".formatted(bound);
      case FORMAT -> Formats.message((String) bound);
    };
  }

  private static String types(Object bound) {
    return bound instanceof List<?> several
        ? several.stream().map(FaultCode::typeName).collect(Collectors.joining(" or "))
        : typeName(bound);
  }

  private static String typeName(Object type) {
    return switch ((String) type) {
      case "string" -> "a string";
      case "integer" -> "a whole number";
      case "number" -> "a number";
      case "boolean" -> "true or false";
      case "object" -> "an object";
      case "array" -> "an array";
      default -> (String) type;
    };
  }

  private static String choice(Object bound) {
    return bound instanceof List<?> several
        ? "one of " + several.stream().map(Objects::toString).collect(Collectors.joining(", "))
        : String.valueOf(bound);
  }
}
