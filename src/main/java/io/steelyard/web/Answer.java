package io.steelyard.web;

import io.steelyard.bus.Replayed;
import io.steelyard.bus.Reply;
import io.steelyard.json.Json;
import io.vertx.core.buffer.Buffer;

/**
 * What an operation answers.
 *
 * @param body null for none
 * @param replayed whether it was given before, to the same request
 */
public record Answer(int status, String contentType, Buffer body, boolean replayed) {
  private static final String JSON = "application/json";

  public Answer(int status, String contentType, Buffer body) {
    this(status, contentType, body, false);
  }

  /** What {@link io.steelyard.bus.Bus#askOnce} answers, with the endpoint's status of success. */
  public static Answer once(int status, Reply reply) {
    return reply instanceof Replayed replayed
        ? new Answer(status, JSON, Buffer.buffer(replayed.json()), true)
        : new Answer(status, JSON, Json.encode(reply.shown()));
  }

  public static Answer ok(Object value) {
    return new Answer(200, JSON, Json.encode(value));
  }

  public static Answer accepted(Object value) {
    return new Answer(202, JSON, Json.encode(value));
  }

  public static Answer noContent() {
    return new Answer(204, null, null);
  }
}
