package io.steelyard.web;

import java.util.ArrayList;
import java.util.List;

/**
 * A path such as {@code /external/customers/{id}}, matched against raw paths segment by segment.
 */
final class PathTemplate {
  private static final String[] NONE = new String[0];

  private final String text;
  private final List<String> parameters = new ArrayList<>();

  /** What a segment must be; null where any will do. */
  private final String[] literals;

  /**
   * @throws IllegalArgumentException if a parameter is not a whole segment
   */
  PathTemplate(String text) {
    this.text = text;
    this.literals = text.substring(1).split("/", -1);
    for (int i = 0; i < literals.length; i++) {
      String segment = literals[i];
      if (segment.startsWith("{") && segment.endsWith("}")) {
        parameters.add(segment.substring(1, segment.length() - 1));
        literals[i] = null;
      } else if (segment.contains("{")) {
        throw new IllegalArgumentException(text + " has a parameter that is not a whole segment");
      }
    }
  }

  /** As given. */
  String text() {
    return text;
  }

  /** Names of the parameters, in order. */
  List<String> parameters() {
    return parameters;
  }

  /** The raw values of the parameters, which may be empty; null when the path is another one. */
  String[] match(String path) {
    String[] values = parameters.isEmpty() ? NONE : new String[parameters.size()];
    int known = 0;
    int at = 0;
    for (String literal : literals) {
      if (at >= path.length() || path.charAt(at) != '/') {
        return null;
      }
      int start = at + 1;
      if (literal == null) {
        int slash = path.indexOf('/', start);
        at = slash < 0 ? path.length() : slash;
        values[known++] = path.substring(start, at);
      } else if (path.startsWith(literal, start)) {
        at = start + literal.length(); // a longer segment fails at the next slash, or at the end
      } else {
        return null;
      }
    }
    return at == path.length() ? values : null;
  }
}
