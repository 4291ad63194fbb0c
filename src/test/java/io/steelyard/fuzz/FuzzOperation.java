package io.steelyard.fuzz;

import io.steelyard.json.Json;
import io.steelyard.json.Schemas;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * One operation as its document describes it.
 *
 * @param bodySchema name of the component that its body must fit; null for no body
 * @param examples bodies that the document shows
 */
record FuzzOperation(
    boolean operator,
    String method,
    String path,
    List<Parameter> parameters,
    String bodySchema,
    List<Object> examples) {
  private static final String SCHEMAS = "#/components/schemas/";

  private static final List<String> COSTLY = List.of("/integrity", "/clock", "/events/months");

  /**
   * @param in path, query or header
   */
  record Parameter(String name, String in, Map<String, Object> schema) {}

  /** All of both documents. */
  static List<FuzzOperation> all() {
    List<FuzzOperation> all = new ArrayList<>(of(Schemas.external(), false));
    all.addAll(of(Schemas.operator(), true));
    return all;
  }

  private static List<FuzzOperation> of(Schemas schemas, boolean operator) {
    Map<String, Object> document = Json.readMap(schemas.json().toString());
    Map<String, Object> components = object(object(document, "components"), "parameters");
    List<FuzzOperation> operations = new ArrayList<>();
    object(document, "paths")
        .forEach(
            (path, item) ->
                cast(item)
                    .forEach(
                        (method, described) ->
                            operations.add(
                                of(operator, method, path, cast(described), components))));
    return operations;
  }

  private static FuzzOperation of(
      boolean operator,
      String method,
      String path,
      Map<String, Object> described,
      Map<String, Object> components) {
    List<Parameter> parameters = new ArrayList<>();
    if (described.get("parameters") instanceof List<?> references) {
      for (Object reference : references) {
        String name = ((String) cast(reference).get("$ref")).replaceAll(".*/", "");
        Map<String, Object> parameter = object(components, name);
        parameters.add(
            new Parameter(
                (String) parameter.get("name"),
                (String) parameter.get("in"),
                object(parameter, "schema")));
      }
    }
    String schema = null;
    List<Object> examples = new ArrayList<>();
    if (described.containsKey("requestBody")) {
      Map<String, Object> json =
          object(object(object(described, "requestBody"), "content"), "application/json");
      schema = ((String) object(json, "schema").get("$ref")).substring(SCHEMAS.length());
      if (json.get("examples") instanceof Map<?, ?> named) {
        named.values().forEach(example -> examples.add(cast(example).get("value")));
      }
    }
    return new FuzzOperation(
        operator, method.toUpperCase(Locale.ROOT), path, parameters, schema, examples);
  }

  @SuppressWarnings("unchecked")
  static Map<String, Object> cast(Object tree) {
    return (Map<String, Object>) tree;
  }

  static Map<String, Object> object(Map<String, Object> tree, String member) {
    return cast(tree.get(member));
  }

  /** Whether it looks at all that a merchant, or the service, has. */
  boolean isCostly() {
    return COSTLY.stream().anyMatch(path::contains);
  }

  boolean takes(String header) {
    return parameters.stream()
        .anyMatch(each -> each.in().equals("header") && each.name().equalsIgnoreCase(header));
  }

  @Override
  public String toString() {
    return method + " " + path;
  }
}
