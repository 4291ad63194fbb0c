package io.steelyard.support;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.steelyard.bus.Failure.Fault;
import io.steelyard.json.Json;
import io.steelyard.json.Schemas;
import io.steelyard.json.Validator;
import io.steelyard.support.TestApp.Answer;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Checks answers against an OpenAPI document: the status must be documented, the body must fit. */
public final class Contract {
  private static final String SCHEMAS = "#/components/schemas/";
  private static final String RESPONSES = "#/components/responses/";

  private static final Contract EXTERNAL = new Contract(Schemas.external());
  private static final Contract OPERATOR = new Contract(Schemas.operator());

  private final JsonObject document;
  private final Map<Pattern, JsonObject> paths = new LinkedHashMap<>();
  private final Validator validator;

  private Contract(Schemas schemas) {
    this.document = new JsonObject(schemas.json());
    this.validator = schemas.validator();
    for (Map.Entry<String, Object> path : document.getJsonObject("paths")) {
      paths.put(
          Pattern.compile(path.getKey().replaceAll("\\{[^}]+}", "[^/]*")),
          (JsonObject) path.getValue());
    }
  }

  public static Contract external() {
    return EXTERNAL;
  }

  public static Contract operator() {
    return OPERATOR;
  }

  /** Fails the test when the document does not allow this answer; one at a time may be checked. */
  public void check(String method, String path, Answer answer) {
    check(method, path, answer.status(), answer.header("content-type"), answer.text());
  }

  /**
   * As {@link #check(String, String, Answer)}.
   *
   * @param path as it was sent, or as the document has it
   */
  public synchronized void check(
      String method, String path, int status, String contentType, String text) {
    JsonObject operation = operation(method, path);
    JsonObject response =
        operation.getJsonObject("responses").getJsonObject(Integer.toString(status));
    if (response == null) {
      throw new AssertionError(
          method + " " + path + " answered " + status + ", not documented: " + text);
    }
    response = resolve(response);
    JsonObject content = response.getJsonObject("content");
    if (content == null) {
      if (!text.isEmpty()) {
        throw new AssertionError(method + " " + path + " has an undocumented body");
      }
      return;
    }
    String type = String.valueOf(contentType).split(";", 2)[0];
    JsonObject media = content.getJsonObject(type);
    if (media == null) {
      throw new AssertionError(method + " " + path + " answered undocumented type " + type);
    }
    if (type.endsWith("json")) {
      checkBody(method + " " + path, media.getJsonObject("schema"), tree(text));
    }
  }

  private static Object tree(String text) {
    try {
      return Json.MAPPER.readValue(text, Object.class);
    } catch (JsonProcessingException e) {
      throw new AssertionError("not JSON: " + text, e);
    }
  }

  private void checkBody(String where, JsonObject schema, Object tree) {
    if (schema.containsKey("$ref")) {
      String name = schema.getString("$ref").substring(SCHEMAS.length());
      refuse(where, validator.check(name, tree));
    } else if ("array".equals(schema.getString("type"))) {
      String item = schema.getJsonObject("items").getString("$ref").substring(SCHEMAS.length());
      if (!(tree instanceof List<?> items)) {
        throw new AssertionError(where + " answered against the document: no array");
      }
      refuse(where, validator.checkEach(item, items));
    } else {
      throw new AssertionError(where + ": the test cannot follow the schema " + schema);
    }
  }

  private static void refuse(String where, List<Fault> faults) {
    if (!faults.isEmpty()) {
      throw new AssertionError(where + " answered against the document: " + faults);
    }
  }

  private JsonObject resolve(JsonObject response) {
    String reference = response.getString("$ref");
    return reference == null
        ? response
        : document
            .getJsonObject("components")
            .getJsonObject("responses")
            .getJsonObject(reference.substring(RESPONSES.length()));
  }

  private JsonObject operation(String method, String path) {
    for (Map.Entry<Pattern, JsonObject> entry : paths.entrySet()) {
      JsonObject operation = entry.getValue().getJsonObject(method.toLowerCase());
      if (operation != null && entry.getKey().matcher(path).matches()) {
        return operation;
      }
    }
    throw new AssertionError("the document has no " + method + " " + path);
  }
}
