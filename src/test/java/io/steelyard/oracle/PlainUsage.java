package io.steelyard.oracle;

import io.steelyard.domain.Calculation;
import io.steelyard.oracle.Facts.Accepted;
import io.steelyard.oracle.Facts.Event;
import io.steelyard.oracle.Facts.Price;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What a customer used, by going through all events from the first. */
final class PlainUsage {
  private PlainUsage() {}

  /** Events in the order of their acceptance; of those with one key only the first. */
  static List<Event> accepted(Facts facts) {
    Set<String> keys = new HashSet<>();
    List<Event> accepted = new ArrayList<>();
    for (Facts.Fact fact : facts.all()) {
      if (fact instanceof Accepted post) {
        post.events().stream().filter(event -> keys.add(event.key())).forEach(accepted::add);
      }
    }
    return accepted;
  }

  /** Whether the event has what the calculation asks for. */
  static boolean counts(Event event, Calculation calculation) {
    return switch (calculation) {
      case COUNT -> true;
      case UNIQUE_COUNT -> event.value() != null;
      case SUM, MAX, MIN, AVERAGE, LATEST -> isNumber(event.value());
    };
  }

  /** Also a text of digits is one. */
  private static boolean isNumber(Object value) {
    return value instanceof BigDecimal || value instanceof String text && text.matches("[0-9]+");
  }

  static List<Event> of(List<Event> events, int customer, Price price, Instant from, Instant to) {
    return events.stream()
        .filter(event -> event.customer() == customer && event.name().equals(price.slug()))
        .filter(event -> !event.at().isBefore(from) && event.at().isBefore(to))
        .filter(event -> counts(event, price.calculation()))
        .toList();
  }

  /** Zero when there was nothing. */
  static Fraction quantity(List<Event> events, Calculation calculation) {
    if (events.isEmpty()) {
      return Fraction.ZERO;
    }
    return switch (calculation) {
      case COUNT -> Fraction.of(events.size());
      case UNIQUE_COUNT -> Fraction.of(unique(events));
      case SUM -> sum(events);
      case AVERAGE -> sum(events).dividedBy(Fraction.of(events.size()));
      case MAX -> events.stream().map(PlainUsage::number).max(Fraction::compareTo).orElseThrow();
      case MIN -> events.stream().map(PlainUsage::number).min(Fraction::compareTo).orElseThrow();
      case LATEST -> number(latest(events));
    };
  }

  private static Fraction sum(List<Event> events) {
    Fraction sum = Fraction.ZERO;
    for (Event event : events) {
      sum = sum.plus(number(event));
    }
    return sum;
  }

  private static long unique(List<Event> events) {
    Set<String> texts = new HashSet<>();
    for (Event event : events) {
      texts.add(
          event.value() instanceof BigDecimal number
              ? number.stripTrailingZeros().toPlainString()
              : event.value().toString());
    }
    return texts.size();
  }

  // Of two at the same millisecond the one with the greater key, which is fixed-width text here.
  private static Event latest(List<Event> events) {
    Event latest = events.getFirst();
    for (Event event : events) {
      int order = event.at().compareTo(latest.at());
      if (order > 0 || order == 0 && event.key().compareTo(latest.key()) > 0) {
        latest = event;
      }
    }
    return latest;
  }

  private static Fraction number(Event event) {
    return Fraction.of(new BigDecimal(event.value().toString()));
  }
}
