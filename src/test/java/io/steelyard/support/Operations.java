package io.steelyard.support;

import io.steelyard.json.Schemas;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The operations of an OpenAPI document, so that a test meets each of them, also new ones. */
public final class Operations {
  private static final Pattern PARAMETER = Pattern.compile("\\{([^}]+)}");

  /**
   * One method of one path.
   *
   * @param examples bodies that the document shows, as trees; none for an operation without a body
   */
  public record Operation(String method, String path, List<Object> examples) {
    public List<String> parameters() {
      return PARAMETER.matcher(path).results().map(found -> found.group(1)).toList();
    }

    /** The path with each parameter replaced by its value, as it is. */
    public String with(Map<String, String> values) {
      return PARAMETER.matcher(path).replaceAll(found -> value(values, found));
    }

    private String value(Map<String, String> values, MatchResult found) {
      String value = values.get(found.group(1));
      if (value == null) {
        throw new AssertionError("the test knows no value of " + found.group() + " in " + this);
      }
      return value.replace("$", "\\$");
    }

    @Override
    public String toString() {
      return method + " " + path;
    }
  }

  private Operations() {}

  public static List<Operation> external() {
    return of(Schemas.external());
  }

  public static List<Operation> operator() {
    return of(Schemas.operator());
  }

  private static List<Operation> of(Schemas schemas) {
    JsonObject paths = new JsonObject(schemas.json()).getJsonObject("paths");
    return paths.stream()
        .flatMap(
            path ->
                ((JsonObject) path.getValue())
                    .stream()
                        .map(
                            method ->
                                new Operation(
                                    method.getKey().toUpperCase(java.util.Locale.ROOT),
                                    path.getKey(),
                                    examples((JsonObject) method.getValue()))))
        .toList();
  }

  private static List<Object> examples(JsonObject operation) {
    JsonObject body = operation.getJsonObject("requestBody");
    if (body == null) {
      return List.of();
    }
    JsonObject json = body.getJsonObject("content").getJsonObject("application/json");
    if (json.containsKey("example")) {
      return List.of(((JsonObject) json.getValue("example")).getMap());
    }
    return json.getJsonObject("examples").stream()
        .map(example -> ((JsonObject) example.getValue()).getMap().get("value"))
        .toList();
  }
}
