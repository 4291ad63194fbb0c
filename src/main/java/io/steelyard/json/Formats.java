package io.steelyard.json;

import io.vertx.json.schema.JsonFormatValidator;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The formats of our schemas. They take the place of vertx-json-schema's own, which throw on an
 * empty email, take a date-time without a time zone, and take a second {@code @} at the end.
 */
final class Formats implements JsonFormatValidator {
  /** Only for people and code generators: a pattern beside it or the number's bounds decide. */
  private static final Set<String> ANNOTATIONS = Set.of("email", "int32", "int64");

  private static final Map<String, String> MESSAGES =
      Map.of(
          "date", "Must be a date such as 2026-01-31.",
          "date-time", "Must be a date-time with a time zone such as 2026-01-31T12:00:00Z.",
          "uri", "Must be an absolute http or https URL.");

  /** What vertx-json-schema does not know, it leaves to us. */
  private static final String OURS = "steelyard ";

  private static final String PLACEHOLDER = "{CHECKOUT_SESSION_ID}";
  private static final int PORT_MAX = 65_535;

  /** The name that a compiled schema carries for a documented format, if it decides. */
  static Optional<String> compiled(Map<?, ?> schema) {
    String format = (String) schema.get("format");
    if (ANNOTATIONS.contains(format)) {
      return Optional.empty();
    }
    if (!MESSAGES.containsKey(format)) {
      throw new IllegalArgumentException("the schemas have no format " + format);
    }
    return Optional.of(
        schema.containsKey("x-from")
            ? OURS + format + ' ' + schema.get("x-from") + ' ' + schema.get("x-before")
            : OURS + format);
  }

  static String message(String format) {
    return MESSAGES.get(format);
  }

  @Override
  public String validateFormat(String instanceType, String format, Object instance) {
    if (format == null || !format.startsWith(OURS) || !(instance instanceof String text)) {
      return null;
    }
    String[] parts = format.split(" ");
    boolean fits =
        switch (parts[1]) {
          case "date" -> Timestamps.isDate(text);
          case "date-time" -> isDateTime(text, parts);
          case "uri" -> isWebAddress(text);
          default -> throw new IllegalStateException("no such format: " + parts[1]);
        };
    return fits ? null : parts[1];
  }

  private static boolean isDateTime(String text, String[] parts) {
    boolean bounded = parts.length == 4;
    return Timestamps.dateTime(text)
        .filter(instant -> !bounded || !instant.isBefore(Instant.parse(parts[2])))
        .filter(instant -> !bounded || instant.isBefore(Instant.parse(parts[3])))
        .isPresent();
  }

  /** Braces are no part of a URL, but that placeholder is what users of card gateways write. */
  private static boolean isWebAddress(String text) {
    try {
      URI uri = new URI(text.replace(PLACEHOLDER, "id"));
      boolean web =
          "http".equalsIgnoreCase(uri.getScheme()) || "https".equalsIgnoreCase(uri.getScheme());
      return web && uri.getHost() != null && uri.getPort() <= PORT_MAX;
    } catch (URISyntaxException e) {
      return false;
    }
  }
}
