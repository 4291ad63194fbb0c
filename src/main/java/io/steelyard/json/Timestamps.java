package io.steelyard.json;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.util.Optional;
import java.util.regex.Pattern;

/** The instants that clients may write. The schemas' formats are decided by the same code. */
public final class Timestamps {
  private static final Pattern DATE_TIME =
      Pattern.compile(
          "\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?([Zz]|[+-]\\d{2}:\\d{2})");
  private static final Pattern DATE = Pattern.compile("\\d{4}-\\d{2}-\\d{2}");

  private Timestamps() {}

  /** An RFC 3339 date-time, or empty: a time zone is required, and the date must exist. */
  public static Optional<Instant> dateTime(String text) {
    if (!DATE_TIME.matcher(text).matches()) {
      return Optional.empty();
    }
    try {
      return Optional.of(OffsetDateTime.parse(text).toInstant());
    } catch (DateTimeException e) {
      return Optional.empty();
    }
  }

  /** As {@link #dateTime}, or a date alone, which is its midnight in {@code zone}. */
  public static Optional<Instant> dateOrDateTime(String text, ZoneId zone) {
    return isDate(text)
        ? Optional.of(LocalDate.parse(text).atStartOfDay(zone).toInstant())
        : dateTime(text);
  }

  static boolean isDate(String text) {
    if (!DATE.matcher(text).matches()) {
      return false;
    }
    try {
      LocalDate.parse(text);
      return true;
    } catch (DateTimeException e) {
      return false;
    }
  }
}
