package io.steelyard.config;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The settings that one source names, already checked one by one; those that cannot be are left
 * out. A null value unsets.
 */
record ConfigLayer(Map<String, Object> values) {
  static final String CONFIG_FILE = "STEELYARD_CONFIG";

  private static final String ENVIRONMENT_PREFIX = "STEELYARD_";
  private static final String PROPERTY_PREFIX = "steelyard.";
  private static final Map<String, ConfigKey> KEYS = ConfigKey.all();
  private static final Map<String, ConfigKey> BY_ENVIRONMENT_NAME =
      KEYS.values().stream()
          .collect(Collectors.toMap(ConfigKey::environmentName, Function.identity()));

  /** What Kubernetes sets in every pod beside a Service whose name starts with "steelyard". */
  private static final Pattern SERVICE_LINK =
      Pattern.compile(
          "STEELYARD(_.+)?_(SERVICE_(HOST|PORT(_.+)?)|PORT_\\d+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)");

  private static final Pattern SERVICE_LINK_ADDRESS = Pattern.compile("(tcp|udp)://.*");

  static ConfigLayer of(JsonObject json, String source, Faults faults) {
    ConfigLayer layer = new ConfigLayer(new LinkedHashMap<>());
    layer.flatten("", json, source, faults);
    return layer;
  }

  private void put(ConfigKey key, Supplier<Object> value, Faults faults) {
    try {
      values.put(key.name(), value.get());
    } catch (ConfigException e) {
      faults.of(key.name(), e.getMessage());
    }
  }

  private void flatten(String prefix, JsonObject section, String source, Faults faults) {
    for (String member : section.fieldNames()) {
      String name = prefix + member;
      Object value = section.getValue(member);
      ConfigKey key = KEYS.get(name);
      if (key != null) {
        put(key, () -> key.fromJson(plain(value), source), faults);
      } else if (KEYS.keySet().stream().noneMatch(known -> known.startsWith(name + "."))) {
        faults.add(
            "unknown setting \"" + name.replaceAll("\\p{Cntrl}", " ") + "\" (" + source + ")");
      } else if (value instanceof JsonObject nested) {
        flatten(name + ".", nested, source, faults);
      } else {
        faults.of(name, name + " must be an object of settings (" + source + ")");
      }
    }
  }

  private static Object plain(Object value) {
    return value instanceof JsonArray array ? array.getList() : value;
  }

  static ConfigLayer ofEnvironment(Map<String, String> environment, Faults faults) {
    ConfigLayer layer = new ConfigLayer(new LinkedHashMap<>());
    new TreeMap<>(environment)
        .forEach(
            (variable, text) -> {
              if (!variable.startsWith(ENVIRONMENT_PREFIX)
                  || variable.equals(CONFIG_FILE)
                  || isServiceLink(variable, text)) {
                return;
              }
              ConfigKey key = BY_ENVIRONMENT_NAME.get(variable);
              if (key == null) {
                faults.add("unknown setting " + variable + " (environment)");
                return;
              }
              String source = "environment variable " + variable;
              layer.put(key, () -> key.fromText(text, source), faults);
            });
    return layer;
  }

  private static boolean isServiceLink(String variable, String text) {
    return SERVICE_LINK.matcher(variable).matches()
        || (variable.endsWith("_PORT") && SERVICE_LINK_ADDRESS.matcher(text).matches());
  }

  /** The prefixed form wins over the plain one, which another library might use too. */
  static ConfigLayer ofProperties(Properties properties, Faults faults) {
    ConfigLayer layer = new ConfigLayer(new LinkedHashMap<>());
    for (String prefix : List.of("", PROPERTY_PREFIX)) {
      for (String property : new TreeSet<>(properties.stringPropertyNames())) {
        if (property.startsWith(prefix)) {
          ConfigKey key = KEYS.get(property.substring(prefix.length()));
          if (key != null) {
            String text = properties.getProperty(property);
            String source = "system property " + property;
            layer.put(key, () -> key.fromText(text, source), faults);
          } else if (!prefix.isEmpty()) {
            faults.add("unknown setting " + property + " (system property)");
          }
        }
      }
    }
    return layer;
  }
}
