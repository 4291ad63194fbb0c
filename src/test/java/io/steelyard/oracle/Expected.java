package io.steelyard.oracle;

import io.steelyard.oracle.Facts.Event;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * An invoice that must exist.
 *
 * @param finaliseAt when it becomes final, or became so
 * @param last null while it is pending
 */
record Expected(
    int subscription,
    int boundary,
    Instant boundaryAt,
    Instant finaliseAt,
    List<Line> advance,
    Last last) {
  enum Kind {
    ADVANCE,
    ARREARS,
    ADJUSTMENT
  }

  /**
   * @param price the slug of its meter, or base
   * @param period the index of the period that is charged
   * @param events that the quantity was computed from; null for a fixed price
   */
  record Line(
      Kind kind,
      String price,
      int period,
      Instant start,
      Instant end,
      Fraction quantity,
      BigDecimal amount,
      List<Event> events) {
    @Override
    public String toString() {
      return "%s %s p%d %s..%s x %s = %s"
          .formatted(kind, price, period, start, end, quantity.decimal(6), amount);
    }
  }

  /** What it was when nothing could change it any more. */
  record Last(Instant issueDate, Instant dueDate, String status, List<Line> others) {}

  boolean isPending() {
    return last == null;
  }

  List<Line> lines() {
    List<Line> lines = new ArrayList<>(advance);
    if (last != null) {
      lines.addAll(last.others());
    }
    return lines;
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    text.append("s%d b%d at %s ".formatted(subscription, boundary, boundaryAt));
    text.append(
        last == null
            ? "pending until " + finaliseAt
            : last.status() + " " + last.issueDate() + " due " + last.dueDate());
    lines().forEach(line -> text.append("\n    ").append(line));
    return text.toString();
  }
}
