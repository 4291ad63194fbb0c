package io.steelyard.bus;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Records of any type, by reflection, filled with values that are hard to carry. */
final class Samples {
  static final BigDecimal DECIMAL =
      new BigDecimal("-123456789012345678901234567890.0000000000000000000000000000000001");

  private static final Map<Class<?>, Object> SIMPLE =
      Map.ofEntries(
          Map.entry(String.class, "\"quoted\" \\ é 中 😀 \u2028 \u0001 \n"),
          Map.entry(int.class, Integer.MIN_VALUE),
          Map.entry(Integer.class, Integer.MAX_VALUE),
          Map.entry(long.class, Long.MIN_VALUE),
          Map.entry(Long.class, Long.MAX_VALUE),
          Map.entry(boolean.class, true),
          Map.entry(Boolean.class, false),
          Map.entry(BigDecimal.class, DECIMAL),
          Map.entry(Instant.class, Instant.parse("2031-12-31T23:59:59.999Z")),
          Map.entry(ZoneId.class, ZoneId.of("America/New_York")),
          Map.entry(UUID.class, new UUID(-1, 1)),
          Map.entry(Id.class, new Id(IdKind.CUSTOM_PRICING_UNIT, new UUID(7, -7))),
          Map.entry(byte[].class, new byte[] {0, -1, 127, -128}),
          Map.entry(long[].class, new long[] {Long.MIN_VALUE, 7}),
          Map.entry(int[].class, new int[] {Integer.MIN_VALUE, 7}),
          Map.entry(UUID[].class, new UUID[] {new UUID(1, -2), null}),
          Map.entry(String[].class, new String[] {"text\"é", null}),
          Map.entry(Object.class, "any"));

  private Samples() {}

  /** One with every component set, and one for each component that may be null. */
  static <T> List<T> of(Class<T> type) {
    List<T> samples = new ArrayList<>();
    samples.add(full(type));
    RecordComponent[] components = type.getRecordComponents();
    for (int i = 0; i < components.length; i++) {
      if (!components[i].getType().isPrimitive()) {
        Object[] values = values(type);
        values[i] = null;
        try {
          samples.add(construct(type, values));
        } catch (NullPointerException e) {
          // the record's invariant: this component is never null
        }
      }
    }
    return samples;
  }

  private static <T> T full(Class<T> type) {
    return construct(type, values(type));
  }

  private static Object[] values(Class<?> type) {
    RecordComponent[] components = type.getRecordComponents();
    Object[] values = new Object[components.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = value(components[i].getGenericType());
    }
    return values;
  }

  private static Object value(Type type) {
    if (type instanceof ParameterizedType generic) {
      Type last = generic.getActualTypeArguments()[generic.getActualTypeArguments().length - 1];
      return generic.getRawType() == List.class
          ? List.of(value(last), value(last))
          : map(value(last));
    }
    if (type instanceof WildcardType wildcard) {
      return value(wildcard.getUpperBounds()[0]);
    }
    Class<?> raw = (Class<?>) type;
    if (SIMPLE.containsKey(raw)) {
      return SIMPLE.get(raw);
    }
    if (raw.isEnum()) {
      return raw.getEnumConstants()[raw.getEnumConstants().length - 1];
    }
    if (raw.isRecord()) {
      return full(raw);
    }
    throw new IllegalArgumentException("no sample of " + type);
  }

  private static Map<String, Object> map(Object value) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("first", value);
    map.put("", value);
    if (value.equals("any")) { // a tree: everything JSON has
      map.put("number", DECIMAL);
      map.put("list", List.of(1, true, List.of("x"), Map.of("y", new BigDecimal("0.1"))));
    }
    return map;
  }

  private static <T> T construct(Class<T> type, Object[] values) {
    RecordComponent[] components = type.getRecordComponents();
    Class<?>[] types = new Class<?>[components.length];
    for (int i = 0; i < types.length; i++) {
      types[i] = components[i].getType();
    }
    try {
      Constructor<T> canonical = type.getDeclaredConstructor(types);
      canonical.setAccessible(true);
      return canonical.newInstance(values);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(e);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
