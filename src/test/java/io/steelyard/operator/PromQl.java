package io.steelyard.operator;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * Reads of an expression which metrics it asks for, by which labels. It knows what our own rules
 * and panels use of the language, and refuses the rest.
 */
final class PromQl {
  private static final Pattern TOKEN =
      Pattern.compile(
          "\\s+|\"(?:[^\"\\\\]|\\\\.)*\"|[a-zA-Z_:][\\w:]*|\\[(?:\\d+[smhd]|\\$__rate_interval)]"
              + "|\\d+[smhd]|\\d+(?:\\.\\d+)?|=~|!~|!=|==|>=|<=|[-+*/%<>=(){},]");
  private static final Pattern NAME = Pattern.compile("[a-zA-Z_:][\\w:]*");
  private static final Set<String> GROUPING = Set.of("by", "without");
  private static final Set<String> OPERATORS = Set.of("and", "or", "unless", "offset");
  private static final Set<String> FUNCTIONS =
      Set.of(
          "sum",
          "max",
          "min",
          "avg",
          "absent",
          "rate",
          "increase",
          "changes",
          "max_over_time",
          "label_replace",
          "time");

  private final List<String> tokens;
  private final Map<String, Set<String>> selectors = new HashMap<>();
  private final Set<String> grouped = new HashSet<>();
  private int at;

  private PromQl(List<String> tokens) {
    this.tokens = tokens;
  }

  /** Labels by metric; those that the expression groups by count for each metric of it. */
  static Map<String, Set<String>> selectors(String expression) {
    StringBuilder read = new StringBuilder();
    List<String> tokens =
        TOKEN
            .matcher(expression)
            .results()
            .map(MatchResult::group)
            .peek(read::append)
            .filter(token -> !token.isBlank())
            .toList();
    if (!read.toString().equals(expression)) {
      throw new AssertionError("cannot be read: " + expression);
    }
    PromQl reader = new PromQl(tokens);
    reader.read(expression);
    reader.selectors.values().forEach(labels -> labels.addAll(reader.grouped));
    return reader.selectors;
  }

  private void read(String expression) {
    int open = 0;
    while (at < tokens.size()) {
      String token = tokens.get(at++);
      open += token.equals("(") ? 1 : token.equals(")") ? -1 : 0;
      if (GROUPING.contains(token)) {
        readLabels(")").forEach(grouped::add);
      } else if (NAME.matcher(token).matches() && !OPERATORS.contains(token)) {
        readName(token, expression);
      }
    }
    if (open != 0 || selectors.isEmpty()) {
      throw new AssertionError("parentheses do not match, or nothing is asked: " + expression);
    }
  }

  private void readName(String name, String expression) {
    String next = at < tokens.size() ? tokens.get(at) : "";
    if (FUNCTIONS.contains(name) && (next.equals("(") || GROUPING.contains(next))) {
      return;
    }
    if (next.equals("(")) {
      throw new AssertionError("no function is called " + name + ": " + expression);
    }
    Set<String> labels = selectors.computeIfAbsent(name, metric -> new HashSet<>());
    if (next.equals("{")) {
      labels.addAll(readLabels("}"));
    }
  }

  /** The names between what opens here and {@code end}. */
  private Set<String> readLabels(String end) {
    Set<String> labels = new HashSet<>();
    while (!tokens.get(at).equals(end)) {
      if (NAME.matcher(tokens.get(at)).matches()) {
        labels.add(tokens.get(at));
      }
      at++;
    }
    at++;
    return labels;
  }
}
