package io.steelyard.config;

import java.lang.reflect.RecordComponent;
import java.util.StringJoiner;

/** Settings as text, with every secret masked. */
final class Redaction {
  private static final String MASK = "***";

  private Redaction() {}

  static String of(String prefix, Record section) {
    StringJoiner lines = new StringJoiner("\n");
    append(prefix, section, lines);
    return lines.toString();
  }

  private static void append(String prefix, Record section, StringJoiner lines) {
    for (RecordComponent component : section.getClass().getRecordComponents()) {
      Object value = value(component, section);
      if (value instanceof Record nested) {
        append(prefix + component.getName() + ".", nested, lines);
      } else {
        boolean masked = value != null && component.isAnnotationPresent(Secret.class);
        lines.add(prefix + component.getName() + " = " + (masked ? MASK : value));
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
