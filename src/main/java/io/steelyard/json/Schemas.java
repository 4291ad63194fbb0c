package io.steelyard.json;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One OpenAPI document, read once, and the component schemas in it. Never changes, so that all
 * event loops may share it; what they must not share is a {@link Validator}, since
 * vertx-json-schema writes into the schemas it is given.
 */
public final class Schemas {
  private static final ObjectMapper YAML =
      YAMLMapper.builder().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

  private static final String COMPONENTS = "#/components/schemas/";

  private static final Set<String> BESIDE_REFERENCE = Set.of("$ref", "description");

  private final Map<String, Object> document;

  private Schemas(Map<String, Object> document) {
    this.document = document;
    components().keySet().forEach(this::compiled);
  }

  /**
   * @param resource the document's place on the classpath, in YAML
   * @throws IllegalArgumentException for a schema with a keyword or format that is not supported
   */
  public static Schemas load(String resource) {
    try (InputStream in = Schemas.class.getClassLoader().getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalArgumentException("no resource " + resource);
      }
      return new Schemas(YAML.readValue(in, new TypeReference<LinkedHashMap<String, Object>>() {}));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + resource, e);
    }
  }

  /** The external API. */
  public static Schemas external() {
    return External.DOCUMENT;
  }

  /** The operator API. */
  public static Schemas operator() {
    return Operator.DOCUMENT;
  }

  /**
   * Reads both on a thread of its own, so that a start need not wait for it later. One that cannot
   * be read is an error for whoever asks for it.
   */
  public static void readAhead() {
    Thread.ofPlatform()
        .name("steelyard-schemas")
        .daemon()
        .start(
            () -> {
              external();
              operator();
            });
  }

  /** Read when it is first asked for. */
  private static final class External {
    static final Schemas DOCUMENT = load("openapi/external.yaml");
  }

  /** Read when it is first asked for. */
  private static final class Operator {
    static final Schemas DOCUMENT = load("openapi/operator.yaml");
  }

  /** The document as JSON. */
  public Buffer json() {
    return Json.encode(document);
  }

  /** A validator for one event loop. */
  public Validator validator() {
    return new Validator(this);
  }

  /**
   * A fresh copy of a component with only what decides, in the dialect that vertx-json-schema
   * needs, and with every reference replaced by what it refers to: following one costs as much as a
   * check.
   */
  JsonObject compiled(String component) {
    Object schema = components().get(component);
    if (schema == null) {
      throw new IllegalArgumentException("the document has no schema " + component);
    }
    return compiled(schema);
  }

  /**
   * The documented schema at a location of the compiled one, such as {@code #/items/properties}.
   */
  Map<?, ?> at(String component, String location) {
    Object node = components().get(component);
    for (String segment : location.substring(1).split("/")) {
      if (node instanceof List<?> list) {
        node = list.get(Integer.parseInt(segment));
      } else if (!segment.isEmpty()) {
        node = resolved((Map<?, ?>) node).get(segment);
      }
    }
    return resolved((Map<?, ?>) node);
  }

  private Map<?, ?> resolved(Map<?, ?> schema) {
    if (!schema.containsKey("$ref")) {
      return schema;
    }
    if (!BESIDE_REFERENCE.containsAll(schema.keySet())) {
      throw new IllegalArgumentException("only a description may stand beside a reference");
    }
    return resolved(target(schema));
  }

  @SuppressWarnings("unchecked")
  private Map<String, Object> components() {
    return (Map<String, Object>) ((Map<?, ?>) document.get("components")).get("schemas");
  }

  private Map<?, ?> target(Map<?, ?> schema) {
    String reference = (String) schema.get("$ref");
    if (!reference.startsWith(COMPONENTS)
        || !(components().get(reference.substring(COMPONENTS.length())) instanceof Map<?, ?> it)) {
      throw new IllegalArgumentException("the document has no " + reference);
    }
    return it;
  }

  private JsonObject compiled(Object documented) {
    Map<?, ?> schema = resolved((Map<?, ?>) documented);
    JsonObject compiled = new JsonObject();
    schema.forEach((keyword, value) -> compile(schema, (String) keyword, value, compiled));
    return compiled;
  }

  private void compile(Map<?, ?> schema, String keyword, Object value, JsonObject compiled) {
    switch (keyword) {
      case "title", "description", "examples", "default", "readOnly" -> {}
      case "x-message", "x-from", "x-before" -> {}
      case "pattern" -> compiled.put(keyword, javaPattern((String) value));
      case "format" -> Formats.compiled(schema).ifPresent(format -> compiled.put(keyword, format));
      case "properties" -> {
        JsonObject properties = new JsonObject();
        ((Map<?, ?>) value).forEach((name, of) -> properties.put((String) name, compiled(of)));
        compiled.put(keyword, properties);
      }
      case "items", "if", "then", "else" -> compiled.put(keyword, compiled(value));
      case "allOf", "anyOf" -> {
        JsonArray schemas = new JsonArray();
        ((List<?>) value).forEach(of -> schemas.add(compiled(of)));
        compiled.put(keyword, schemas);
      }
      case "additionalProperties" -> compiled.put(keyword, (boolean) value);
      default -> {
        if (!FaultCode.knows(keyword)) {
          throw new IllegalArgumentException("the schemas may not use " + keyword);
        }
        compiled.put(keyword, value);
      }
    }
  }

  /** In Java {@code $} also matches before a final line break, in JSON Schema it does not. */
  private static String javaPattern(String pattern) {
    StringBuilder java = new StringBuilder();
    boolean inClass = false;
    for (int i = 0; i < pattern.length(); i++) {
      char c = pattern.charAt(i);
      if (c == '\\') {
        java.append(c).append(pattern.charAt(++i));
      } else if (c == '$' && !inClass) {
        java.append("\\z");
      } else {
        inClass = c == '[' || inClass && c != ']';
        java.append(c);
      }
    }
    return java.toString();
  }
}
