package io.steelyard.domain;

import java.math.BigDecimal;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.regex.Pattern;

/**
 * Which events count for a billable, and what of them: a billable's {@code eventQueryRules}.
 *
 * @param conditions the outer list is OR and matches nothing when empty; an inner list is AND and
 *     matches everything when empty
 * @param overProperty what the calculation is over; null for a count
 */
public record EventRules(
    List<List<Condition>> conditions, Calculation calculation, String overProperty) {
  // An event's numbers have at most 64 digits; text is held to the same, plus sign and point.
  private static final int NUMBER_LENGTH_MAX = 66;
  private static final Pattern PLAIN_NUMBER = Pattern.compile("-?\\d+(\\.\\d+)?");

  public EventRules {
    conditions = conditions.stream().map(List::copyOf).toList();
  }

  public boolean matches(EventFacts event) {
    for (List<Condition> all : conditions) { // of each event: a stream costs more than the work
      if (allHold(all, event)) {
        return true;
      }
    }
    return false;
  }

  private static boolean allHold(List<Condition> all, EventFacts event) {
    for (Condition condition : all) {
      if (!condition.holds(event)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Names one of which a matching event must have; empty when the rules allow others too. Only says
   * what may be left out: an event with such a name need not match.
   */
  public Optional<Set<String>> eventNames() {
    Set<String> names = new HashSet<>();
    for (List<Condition> all : conditions) {
      Optional<Condition> named = all.stream().filter(Condition::namesEvents).findFirst();
      if (named.isEmpty()) {
        return Optional.empty();
      }
      names.addAll(named.get().values());
    }
    return Optional.of(names);
  }

  /**
   * The event's number under {@link #overProperty}: a JSON number, or text that is one in plain
   * notation. Empty when there is none, and then the event contributes nothing.
   */
  public Optional<BigDecimal> number(EventFacts event) {
    return overProperty == null ? Optional.empty() : numberAt(event, overProperty);
  }

  /** The event's text under {@link #overProperty}, by which unique values are told apart. */
  public Optional<String> text(EventFacts event) {
    return overProperty == null ? Optional.empty() : event.text(overProperty);
  }

  private static Optional<BigDecimal> numberAt(EventFacts event, String key) {
    return event
        .property(key)
        .flatMap(
            value -> value instanceof String text ? parseNumber(text) : EventFacts.numberOf(value));
  }

  private static Optional<BigDecimal> parseNumber(String text) {
    return text.length() <= NUMBER_LENGTH_MAX && PLAIN_NUMBER.matcher(text).matches()
        ? Optional.of(new BigDecimal(text))
        : Optional.empty();
  }

  /**
   * One comparison, which holds if it does for any of the values. A missing property, and one
   * without the text or number that the rule compares, satisfies {@code notMatches} only.
   *
   * @param key {@code eventName}, {@code userId} or {@code data.<path>}
   * @param values several for {@code in}, none for {@code exists}, else one
   */
  public record Condition(String key, Rule rule, List<String> values) {
    public Condition {
      values = List.copyOf(values);
    }

    private boolean namesEvents() {
      return key.equals("eventName") && (rule == Rule.MATCHES || rule == Rule.IN);
    }

    boolean holds(EventFacts event) {
      return switch (rule) {
        case MATCHES, IN -> event.text(key).filter(values::contains).isPresent();
        case NOT_MATCHES -> event.text(key).filter(values::contains).isEmpty();
        case CONTAINS ->
            event.text(key).filter(text -> values.stream().anyMatch(text::contains)).isPresent();
        case STARTS_WITH ->
            event.text(key).filter(text -> values.stream().anyMatch(text::startsWith)).isPresent();
        case EXISTS -> event.property(key).isPresent();
        case GT -> compares(event, order -> order > 0);
        case GTE -> compares(event, order -> order >= 0);
        case LT -> compares(event, order -> order < 0);
        case LTE -> compares(event, order -> order <= 0);
      };
    }

    private boolean compares(EventFacts event, IntPredicate wanted) {
      Optional<BigDecimal> number = numberAt(event, key);
      return number.isPresent()
          && values.stream()
              .flatMap(value -> parseNumber(value).stream())
              .anyMatch(value -> wanted.test(number.get().compareTo(value)));
    }
  }

  /** How a condition compares. */
  public enum Rule implements WireName {
    MATCHES("matches"),
    NOT_MATCHES("notMatches"),
    CONTAINS("contains"),
    STARTS_WITH("startsWith"),
    EXISTS("exists"),
    GT("gt"),
    GTE("gte"),
    LT("lt"),
    LTE("lte"),
    IN("in");

    private final String wire;

    Rule(String wire) {
      this.wire = wire;
    }

    @Override
    public String wire() {
      return wire;
    }
  }
}
