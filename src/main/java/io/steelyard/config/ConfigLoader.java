package io.steelyard.config;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.vertx.config.ConfigRetriever;
import io.vertx.config.ConfigRetrieverOptions;
import io.vertx.config.ConfigStoreOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * Reads every source in its order, later wins: the defaults in the jar, {@code conf/config.json} of
 * the working directory, the file named by {@code STEELYARD_CONFIG}, the environment, the system
 * properties. A value that cannot be is refused also where a later source overrides it.
 */
public final class ConfigLoader {
  private static final String DEFAULTS = "conf/config.json";

  private ConfigLoader() {}

  /** The configuration, or a {@link ConfigException} that names everything wrong with it. */
  public static Future<Config> load(
      Vertx vertx, Map<String, String> env, Properties sys, Path workDir) {
    Faults faults = new Faults();
    return Future.succeededFuture()
        .compose(start -> files(vertx, env, workDir))
        .map(
            files -> {
              List<ConfigLayer> layers = new ArrayList<>();
              layers.add(ConfigLayer.of(defaults(), "built-in defaults", faults));
              for (SettingsFile file : files) {
                if (file.unreadable() == null) {
                  layers.add(ConfigLayer.of(file.content(), file.name(), faults));
                } else {
                  faults.ofSource(file.unreadable());
                }
              }
              layers.add(ConfigLayer.ofEnvironment(env, faults));
              layers.add(ConfigLayer.ofProperties(sys, faults));
              return merged(layers, faults);
            });
  }

  /**
   * @param unreadable why there is no content; else null
   */
  private record SettingsFile(String name, JsonObject content, String unreadable) {}

  private static Future<List<SettingsFile>> files(
      Vertx vertx, Map<String, String> env, Path workDir) {
    List<Future<SettingsFile>> files = new ArrayList<>();
    Path local = workDir.resolve(DEFAULTS);
    if (Files.exists(local)) {
      files.add(file(vertx, local, DEFAULTS));
    }
    String named = env.getOrDefault(ConfigLayer.CONFIG_FILE, "");
    if (!named.isEmpty()) {
      Path extra = workDir.resolve(named);
      files.add(
          Files.isReadable(extra) && !Files.isDirectory(extra)
              ? file(vertx, extra, named)
              : Future.succeededFuture(
                  new SettingsFile(
                      named,
                      null,
                      ConfigLayer.CONFIG_FILE
                          + " names "
                          + named
                          + ", which is not a readable file")));
    }
    return Future.all(files).map(all -> all.list());
  }

  private static Future<SettingsFile> file(Vertx vertx, Path path, String source) {
    ConfigStoreOptions store =
        new ConfigStoreOptions()
            .setType("file")
            .setFormat("json")
            .setConfig(new JsonObject().put("path", path.toAbsolutePath().toString()));
    ConfigRetriever retriever =
        ConfigRetriever.create(
            vertx,
            new ConfigRetrieverOptions()
                .setIncludeDefaultStores(false)
                .setScanPeriod(-1)
                .addStore(store));
    return retriever
        .getConfig()
        .map(json -> new SettingsFile(source, json, null))
        .otherwise(error -> new SettingsFile(source, null, unreadable(source, error)))
        .eventually(retriever::close);
  }

  /** Where the JSON breaks, without its text, which may hold secrets. */
  private static String unreadable(String source, Throwable error) {
    if (error instanceof DecodeException) {
      return error.getCause() instanceof JsonProcessingException json && json.getLocation() != null
          ? "%s is not valid JSON at line %d, column %d"
              .formatted(source, json.getLocation().getLineNr(), json.getLocation().getColumnNr())
          : source + " is not a JSON object";
    }
    return "cannot read " + source + ": " + error.getMessage();
  }

  private static JsonObject defaults() {
    try (InputStream in = ConfigLoader.class.getClassLoader().getResourceAsStream(DEFAULTS)) {
      if (in == null) {
        throw new ConfigException("the built-in defaults are missing from this build");
      }
      return new JsonObject(Buffer.buffer(in.readAllBytes()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Config merged(List<ConfigLayer> layers, Faults faults) {
    Map<String, Object> values = new HashMap<>();
    layers.forEach(layer -> values.putAll(layer.values()));
    boolean whole = true;
    for (ConfigKey key : ConfigKey.all().values()) {
      if (values.get(key.name()) == null && !key.mayBeUnset()) {
        faults.of(key.name(), key.missing());
        whole = false;
      }
    }
    if (!whole) {
      faults.throwIfAny();
    }
    // What could not be read has the value of an earlier source here, which the rules pass by.
    Config config = (Config) record("", Config.class, values);
    ConfigRules.check(config, faults);
    faults.throwIfAny();
    return config;
  }

  private static Object record(String prefix, Class<?> type, Map<String, Object> values) {
    RecordComponent[] components = type.getRecordComponents();
    Object[] arguments = new Object[components.length];
    for (int i = 0; i < components.length; i++) {
      String name = prefix + components[i].getName();
      Class<?> part = components[i].getType();
      arguments[i] = part.isRecord() ? record(name + ".", part, values) : values.get(name);
    }
    Class<?>[] types =
        Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
    try {
      Constructor<?> constructor = type.getDeclaredConstructor(types);
      return constructor.newInstance(arguments);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("cannot build " + type.getName(), e);
    }
  }
}
