package io.steelyard.web;

import io.steelyard.json.Json;
import io.vertx.core.buffer.Buffer;

/**
 * What an operation answers.
 *
 * @param body null for none
 */
public record Answer(int status, String contentType, Buffer body) {
  private static final String JSON = "application/json";

  public static Answer ok(Object value) {
    return new Answer(200, JSON, Json.encode(value));
  }

  public static Answer created(Object value) {
    return new Answer(201, JSON, Json.encode(value));
  }

  public static Answer accepted(Object value) {
    return new Answer(202, JSON, Json.encode(value));
  }

  public static Answer noContent() {
    return new Answer(204, null, null);
  }
}
