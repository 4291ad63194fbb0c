package io.steelyard.oracle;

import io.steelyard.oracle.Facts.Subscription;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;

/** When periods start, reckoned from the anchor with years, months and days. */
final class PlainCalendar {
  static final Instant NEVER = Instant.parse("9999-12-31T00:00:00Z");

  private PlainCalendar() {}

  /** Where period {@code index} starts; also the end of the one before. */
  static Instant start(Subscription subscription, ZoneId zone, int index) {
    if (index == 0) {
      return subscription.start();
    }
    boolean trial = subscription.trialEnd() != null;
    int regular = trial ? index - 1 : index;
    if (regular == 0) {
      return subscription.trialEnd();
    }
    int months = subscription.cadence().months();
    return months == 0
        ? NEVER
        : later(trial ? subscription.trialEnd() : subscription.start(), zone, regular * months);
  }

  static boolean isTrial(Subscription subscription, int index) {
    return subscription.trialEnd() != null && index == 0;
  }

  /** So many months later at the same local time, or on the last day of a shorter month. */
  private static Instant later(Instant anchor, ZoneId zone, int months) {
    LocalDateTime from = anchor.atZone(zone).toLocalDateTime();
    int count = from.getYear() * 12 + from.getMonthValue() - 1 + months;
    YearMonth month = YearMonth.of(count / 12, count % 12 + 1);
    int day = Math.min(from.getDayOfMonth(), month.lengthOfMonth());
    return instant(month.atDay(day).atTime(from.toLocalTime()), zone);
  }

  /** A skipped time moves past the gap, of two the first is taken. */
  static Instant instant(LocalDateTime local, ZoneId zone) {
    ZoneOffsetTransition change = zone.getRules().getTransition(local);
    ZoneOffset offset =
        change == null ? zone.getRules().getOffset(local) : change.getOffsetBefore();
    return local.toInstant(offset);
  }

  /** The last millisecond of the day so many days after. */
  static Instant endOfDay(Instant t, int days, ZoneId zone) {
    LocalDate next = t.atZone(zone).toLocalDate().plusDays(days + 1L);
    Instant midnight = instant(next.atStartOfDay(), zone);
    ZoneOffsetTransition change = zone.getRules().getTransition(next.atStartOfDay());
    // a midnight that is skipped: the day starts with the clock change
    Instant start = change != null && change.isGap() ? change.getInstant() : midnight;
    return start.minusMillis(1);
  }
}
