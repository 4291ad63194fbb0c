package io.steelyard.config;

import java.lang.reflect.RecordComponent;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.StringJoiner;

/** Settings as text, with every secret masked. */
final class Redaction {
  private static final String MASK = "***";

  private Redaction() {}

  /** A line for each setting, {@code name = value}. */
  static String of(String prefix, Record section) {
    StringJoiner lines = new StringJoiner("\n");
    values(prefix, section).forEach((name, value) -> lines.add(name + " = " + value));
    return lines.toString();
  }

  /** Values by dotted names, in the order of the records. */
  static Map<String, Object> values(String prefix, Record section) {
    Map<String, Object> values = new LinkedHashMap<>();
    collect(prefix, section, values);
    return values;
  }

  private static void collect(String prefix, Record section, Map<String, Object> values) {
    for (RecordComponent component : section.getClass().getRecordComponents()) {
      Object value = value(component, section);
      if (value instanceof Record nested) {
        collect(prefix + component.getName() + ".", nested, values);
      } else {
        boolean masked = value != null && component.isAnnotationPresent(Secret.class);
        values.put(prefix + component.getName(), masked ? MASK : value);
      }
    }
  }

  private static Object value(RecordComponent component, Record section) {
    try {
      return component.getAccessor().invoke(section);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("cannot read " + component, e);
    }
  }
}
