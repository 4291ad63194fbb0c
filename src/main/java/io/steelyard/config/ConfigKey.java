package io.steelyard.config;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * One setting: the record component it ends in, its name, and what its value may be.
 *
 * @param name as in the file, e.g. {@code database.dataDir}
 */
record ConfigKey(String name, RecordComponent component) {
  private static final Pattern HUMP = Pattern.compile("([a-z0-9])([A-Z])");
  private static final Pattern WHOLE_NUMBER = Pattern.compile("-?\\d{1,18}");
  private static final int SHOWN_CHARS_MAX = 60;

  /** Every setting, in the order of the records. */
  static Map<String, ConfigKey> all() {
    Map<String, ConfigKey> keys = new LinkedHashMap<>();
    collect("", Config.class, keys);
    return keys;
  }

  private static void collect(String prefix, Class<?> type, Map<String, ConfigKey> keys) {
    for (RecordComponent component : type.getRecordComponents()) {
      String name = prefix + component.getName();
      if (component.getType().isRecord()) {
        collect(name + ".", component.getType(), keys);
      } else {
        keys.put(name, new ConfigKey(name, component));
      }
    }
  }

  /** {@code STEELYARD_DATABASE_DATA_DIR} for {@code database.dataDir}. */
  String environmentName() {
    String snake = HUMP.matcher(name).replaceAll("$1_$2").replace('.', '_');
    return "STEELYARD_" + snake.toUpperCase(java.util.Locale.ROOT);
  }

  /** The value that an environment variable or a system property spells. */
  Object fromText(String text, String source) {
    if (text.isEmpty() && mayBeUnset()) {
      return null;
    }
    Class<?> type = component.getType();
    if (type == String.class) {
      return checkedText(text, source);
    }
    if (type == List.class) {
      return Arrays.stream(text.split(",")).map(String::strip).filter(s -> !s.isEmpty()).toList();
    }
    if (isBoolean(type)) {
      return switch (text) {
        case "true" -> true;
        case "false" -> false;
        default -> throw refused(text, source);
      };
    }
    if (!WHOLE_NUMBER.matcher(text).matches()) {
      throw refused(text, source);
    }
    return checkedNumber(Long.parseLong(text), source);
  }

  /** The value that a file holds. */
  Object fromJson(Object value, String source) {
    if (value == null && mayBeUnset()) {
      return null;
    }
    Class<?> type = component.getType();
    if (type == String.class && value instanceof String text) {
      return text.isEmpty() && mayBeUnset() ? null : checkedText(text, source);
    }
    if (type == List.class && value instanceof List<?> list) {
      return texts(list, source);
    }
    if (isBoolean(type) && value instanceof Boolean) {
      return value;
    }
    if ((isInt(type) || type == long.class)
        && (value instanceof Integer || value instanceof Long)) {
      return checkedNumber(((Number) value).longValue(), source);
    }
    throw refused(value, source);
  }

  private List<String> texts(List<?> list, String source) {
    List<String> texts = new ArrayList<>(list.size());
    for (Object item : list) {
      if (!(item instanceof String text) || text.isBlank()) {
        throw refused(list, source);
      }
      texts.add(text);
    }
    return List.copyOf(texts);
  }

  private String checkedText(String text, String source) {
    OneOf allowed = component.getAnnotation(OneOf.class);
    boolean known = allowed == null || Set.of(allowed.value()).contains(text);
    if (text.isBlank() || !known) {
      throw refused(text, source);
    }
    return text;
  }

  private Object checkedNumber(long value, String source) {
    if (value < min() || value > max()) {
      throw refused(value, source);
    }
    if (isInt(component.getType())) {
      return Math.toIntExact(value);
    }
    return value;
  }

  /** That no source gives this setting a value, although it needs one. */
  String missing() {
    return name + " must be set: " + allowed();
  }

  ConfigException refused(Object value, String source) {
    String shown = secret() ? "" : ", not " + shown(value);
    return new ConfigException(name + " must be " + allowed() + shown + " (" + source + ")");
  }

  private String allowed() {
    Class<?> type = component.getType();
    OneOf oneOf = component.getAnnotation(OneOf.class);
    String what;
    if (oneOf != null) {
      what = "one of " + String.join(", ", oneOf.value());
    } else if (type == String.class) {
      what = "a text that is not empty";
    } else if (type == List.class) {
      what = "a list of texts";
    } else if (isBoolean(type)) {
      what = "true or false";
    } else {
      what = "a whole number from " + min() + " to " + max();
    }
    return mayBeUnset() ? what + ", or left out" : what;
  }

  private static String shown(Object value) {
    String text = String.valueOf(value).replaceAll("\\p{Cntrl}", " ");
    String cut =
        text.length() > SHOWN_CHARS_MAX ? text.substring(0, SHOWN_CHARS_MAX) + "..." : text;
    return value instanceof String ? '"' + cut + '"' : cut;
  }

  private long min() {
    Range range = component.getAnnotation(Range.class);
    return range == null ? Integer.MIN_VALUE : range.min();
  }

  private long max() {
    Range range = component.getAnnotation(Range.class);
    return range == null ? Integer.MAX_VALUE : range.max();
  }

  boolean mayBeUnset() {
    return component.isAnnotationPresent(Unset.class);
  }

  boolean secret() {
    return component.isAnnotationPresent(Secret.class);
  }

  private static boolean isInt(Class<?> type) {
    return type == int.class || type == Integer.class;
  }

  private static boolean isBoolean(Class<?> type) {
    return type == boolean.class || type == Boolean.class;
  }
}
