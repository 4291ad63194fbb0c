package io.steelyard.fuzz;

import io.steelyard.json.Json;
import io.steelyard.json.Schemas;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Values that fit a schema of a document, with ids of things that exist where a name asks for them.
 * What depends on other members ({@code if}, {@code allOf}) is left to chance.
 */
final class ValidValues {
  private static final int DEPTH_MAX = 8;
  private static final int MORE_ITEMS_MAX = 3;
  private static final int LONG_TEXT_MAX = 8192;
  private static final String TEXT = "abcXYZ019 -_.,:;/?#[]@!$&'()*+=%<>\"\\{}|~^`éß中😀";

  /** By their patterns: a generator for any would be more than is needed for so few. */
  private static final Map<String, List<String>> MATCHING =
      Map.of(
          "^[0-9]{5}(-[0-9]{4})?$", List.of("62701", "62701-1234"),
          "^[!-~]+$", List.of("a", "~!", "0193aa2c-5d1e-7c3b-9a51-3f1b5d1c2e4a"),
          "^(eventName|userId|data\\..+)$",
              List.of("eventName", "userId", "data.count", "data.a.b"),
          "^(https?://.+)?$", List.of("", "https://a.example/pricing"),
          "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
              List.of("0193aa2c-5d1e-7c3b-9a51-3f1b5d1c2e4a"),
          "^[0-9]{4}-(0[1-9]|1[0-2])$", List.of("2001-01", "2026-02", "2099-12"));

  private final Map<String, Object> document;
  private final World world;

  ValidValues(Schemas schemas, World world) {
    this.document = Json.readMap(schemas.json().toString());
    this.world = world;
  }

  Object ofComponent(String component, Dice dice) {
    return of(component(component), "", dice, 0);
  }

  /**
   * @param name of the member or parameter that the value is for
   */
  Object of(Map<String, Object> schema, String name, Dice dice) {
    return of(schema, name, dice, 0);
  }

  private Map<String, Object> component(String name) {
    Map<String, Object> components = FuzzOperation.object(document, "components");
    return FuzzOperation.object(FuzzOperation.object(components, "schemas"), name);
  }

  private Object of(Map<String, Object> schema, String name, Dice dice, int depth) {
    if (schema.get("$ref") instanceof String reference) {
      return of(component(reference.replaceAll(".*/", "")), name, dice, depth);
    }
    Object known = world.value(name, dice);
    if (known != null && dice.chance(80)) {
      return known;
    }
    if (schema.containsKey("const")) {
      return schema.get("const");
    }
    if (schema.get("enum") instanceof List<?> values) {
      return dice.pick(values);
    }
    if (schema.get("anyOf") instanceof List<?> alternatives) {
      Map<String, Object> one = new LinkedHashMap<>(schema);
      one.remove("anyOf");
      one.putAll(FuzzOperation.cast(dice.pick(alternatives)));
      return of(one, name, dice, depth);
    }
    return ofType(type(schema, dice), schema, name, dice, depth);
  }

  private static String type(Map<String, Object> schema, Dice dice) {
    Object type = schema.get("type");
    return type instanceof List<?> types ? (String) dice.pick(types) : String.valueOf(type);
  }

  private Object ofType(
      String type, Map<String, Object> schema, String name, Dice dice, int depth) {
    return switch (type) {
      case "null" -> null;
      case "boolean" -> dice.chance(50);
      case "integer" -> integer(schema, dice);
      case "number" -> number(schema, dice);
      case "string" -> text(schema, dice);
      case "array" -> array(schema, name, dice, depth);
      case "object" -> object(schema, dice, depth);
      default -> throw new AssertionError("the generator knows no value for " + schema);
    };
  }

  private static BigDecimal decimal(Object number) {
    return number == null ? null : new BigDecimal(number.toString());
  }

  private static Object integer(Map<String, Object> schema, Dice dice) {
    BigDecimal min = decimal(schema.get("minimum"));
    BigDecimal max = decimal(schema.get("maximum"));
    if (dice.chance(10)) {
      return dice.chance(50) && max != null ? max : min == null ? BigDecimal.ZERO : min;
    }
    long from = min == null ? 0 : Math.max(min.longValue(), -1000);
    long to = max == null ? from + 1000 : Math.min(max.longValue(), from + 1000);
    return BigDecimal.valueOf(dice.between(from, to + 1));
  }

  private static Object number(Map<String, Object> schema, Dice dice) {
    BigDecimal low = decimal(schema.getOrDefault("exclusiveMinimum", schema.get("minimum")));
    BigDecimal value =
        switch (dice.below(10)) {
          case 0 -> new BigDecimal("1e-20");
          case 1 -> new BigDecimal("12345678901234567890.123456789");
          case 2 -> BigDecimal.ZERO;
          default -> BigDecimal.valueOf(dice.between(1, 100_000), dice.below(4));
        };
    return low != null && value.signum() == 0 && schema.containsKey("exclusiveMinimum")
        ? BigDecimal.ONE
        : value;
  }

  private String text(Map<String, Object> schema, Dice dice) {
    if (schema.get("format") instanceof String format && !format.equals("email")) {
      return formatted(format, dice);
    }
    if (schema.get("pattern") instanceof String pattern) {
      if (pattern.contains("@")) {
        return dice.pick("a@b.example", "ada+b@mail.example.co.uk", "x_y%z@1.example");
      }
      List<String> matching = MATCHING.get(pattern);
      if (matching == null) {
        throw new AssertionError("the generator knows no text for the pattern " + pattern);
      }
      return dice.pick(matching);
    }
    int min = ((Number) schema.getOrDefault("minLength", 0)).intValue();
    int max = ((Number) schema.getOrDefault("maxLength", LONG_TEXT_MAX)).intValue();
    int length = dice.chance(2) ? max : min + dice.below(Math.max(1, Math.min(max - min, 16)));
    StringBuilder text = new StringBuilder();
    while (text.codePointCount(0, text.length()) < length) {
      int at = dice.below(TEXT.codePointCount(0, TEXT.length()));
      text.appendCodePoint(TEXT.codePointAt(TEXT.offsetByCodePoints(0, at)));
    }
    return text.toString();
  }

  private String formatted(String format, Dice dice) {
    return switch (format) {
      case "date-time" ->
          world.today().plus(Duration.ofSeconds(dice.between(-3_000_000, 3_000_000))).toString();
      case "date" ->
          world.today().atOffset(ZoneOffset.UTC).toLocalDate().plusDays(dice.below(60)).toString();
      case "uri" -> dice.pick("https://a.example/x?y=1", "http://127.0.0.1:1/", "https://[::1]/");
      default -> throw new AssertionError("the generator knows no text of format " + format);
    };
  }

  private List<Object> array(Map<String, Object> schema, String name, Dice dice, int depth) {
    int min = ((Number) schema.getOrDefault("minItems", 0)).intValue();
    int size = depth > DEPTH_MAX ? min : min + dice.below(MORE_ITEMS_MAX);
    List<Object> items = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      items.add(of(FuzzOperation.object(schema, "items"), name, dice, depth + 1));
    }
    return items;
  }

  private Map<String, Object> object(Map<String, Object> schema, Dice dice, int depth) {
    Map<String, Object> object = new LinkedHashMap<>();
    if (!(schema.get("properties") instanceof Map<?, ?> properties)) {
      return free(dice, depth);
    }
    List<?> required = (List<?>) schema.getOrDefault("required", List.of());
    properties.forEach(
        (name, member) -> {
          if (required.contains(name) || depth < DEPTH_MAX && dice.chance(35)) {
            object.put(
                (String) name, of(FuzzOperation.cast(member), (String) name, dice, depth + 1));
          }
        });
    return object;
  }

  private Map<String, Object> free(Dice dice, int depth) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("count", BigDecimal.valueOf(dice.below(100)));
    if (depth < DEPTH_MAX && dice.chance(30)) {
      object.put(
          text(Map.of(), dice), dice.chance(50) ? free(dice, depth + 1) : List.of("x", true));
    }
    return object;
  }
}
