package io.steelyard.bus;

/**
 * In place of a request's own reply: what the same request was answered before. It had no effect
 * now.
 *
 * @param json what {@link Reply#shown} of that answer was, as it was sent
 */
public record Replayed(String json) implements Reply {
  /** Without the answer, which may hold secrets, for logs. */
  @Override
  public String toString() {
    return "Replayed[" + json.length() + " characters]";
  }
}
