package io.steelyard.json;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.Optional;

/**
 * Reads the ISO 8601 timestamps that callers send, strictly: {@code 2026-01-31T23:59:59.999Z} or
 * with an offset of at most 18 hours in place of {@code Z}. Seconds are required, a leap second is
 * refused, and digits behind the millisecond are cut off.
 */
public final class Timestamps {
  private static final int DATE_CHARS = 10;
  private static final int SECOND_CHARS = 19;
  private static final int OFFSET_CHARS = 6;
  private static final int OFFSET_MINUTES_MAX = 18 * 60;

  /** In UTC a year must have four digits: answers have no other. */
  private static final long SECOND_MIN = LocalDate.of(0, 1, 1).toEpochDay() * 86_400;

  private static final long SECOND_END = LocalDate.of(10_000, 1, 1).toEpochDay() * 86_400;

  private Timestamps() {}

  /** The instant that {@code text} spells, or empty when it is no date-time with an offset. */
  public static Optional<Instant> dateTime(String text) {
    if (text.length() <= SECOND_CHARS
        || (text.charAt(DATE_CHARS) | 0x20) != 't'
        || text.charAt(13) != ':'
        || text.charAt(16) != ':') {
      return Optional.empty();
    }
    long day = epochDay(text);
    int hour = digits(text, 11, 13);
    int minute = digits(text, 14, 16);
    int second = digits(text, 17, SECOND_CHARS);
    int offsetAt = fractionEnd(text);
    int offsetMinutes = offsetMinutes(text, offsetAt);
    if (day == Long.MIN_VALUE
        || outside(hour, 23)
        || outside(minute, 59)
        || outside(second, 59)
        || offsetAt < 0
        || offsetMinutes == Integer.MIN_VALUE) {
      return Optional.empty();
    }
    long seconds = day * 86_400 + hour * 3600L + minute * 60L + second - offsetMinutes * 60L;
    if (seconds < SECOND_MIN || seconds >= SECOND_END) {
      return Optional.empty();
    }
    return Optional.of(Instant.ofEpochSecond(seconds, millis(text, offsetAt) * 1_000_000L));
  }

  /** As {@link #dateTime}; a date alone means its first instant in {@code zone}. */
  public static Optional<Instant> dateOrDateTime(String text, ZoneId zone) {
    if (text.length() != DATE_CHARS) {
      return dateTime(text);
    }
    return isDate(text)
        ? Optional.of(LocalDate.ofEpochDay(epochDay(text)).atStartOfDay(zone).toInstant())
        : Optional.empty();
  }

  /** Whether {@code text} is a date that exists, not of the year 0, east of UTC the one before. */
  static boolean isDate(String text) {
    return text.length() == DATE_CHARS
        && epochDay(text) != Long.MIN_VALUE
        && !text.startsWith("0000");
  }

  private static long epochDay(String text) {
    int year = digits(text, 0, 4);
    int month = digits(text, 5, 7);
    int day = digits(text, 8, DATE_CHARS);
    if (text.charAt(4) != '-' || text.charAt(7) != '-' || year < 0 || month < 0 || day < 0) {
      return Long.MIN_VALUE;
    }
    try {
      return LocalDate.of(year, month, day).toEpochDay();
    } catch (DateTimeException e) {
      return Long.MIN_VALUE; // no such day
    }
  }

  /** Where the offset begins, or -1 when a point is not followed by a digit. */
  private static int fractionEnd(String text) {
    if (text.charAt(SECOND_CHARS) != '.') {
      return SECOND_CHARS;
    }
    int at = SECOND_CHARS + 1;
    while (at < text.length() && isDigit(text.charAt(at))) {
      at++;
    }
    return at == SECOND_CHARS + 1 ? -1 : at;
  }

  private static int millis(String text, int end) {
    int millis = 0;
    for (int i = 1; i <= 3; i++) {
      int at = SECOND_CHARS + i;
      millis = millis * 10 + (at < end ? text.charAt(at) - '0' : 0);
    }
    return millis;
  }

  private static int offsetMinutes(String text, int at) {
    if (at < 0 || at >= text.length()) {
      return Integer.MIN_VALUE;
    }
    char sign = text.charAt(at);
    if ((sign | 0x20) == 'z') {
      return at + 1 == text.length() ? 0 : Integer.MIN_VALUE;
    }
    if ((sign != '+' && sign != '-')
        || at + OFFSET_CHARS != text.length()
        || text.charAt(at + 3) != ':') {
      return Integer.MIN_VALUE;
    }
    int hours = digits(text, at + 1, at + 3);
    int minutes = digits(text, at + 4, at + OFFSET_CHARS);
    int total = hours * 60 + minutes;
    if (hours < 0 || outside(minutes, 59) || total > OFFSET_MINUTES_MAX) {
      return Integer.MIN_VALUE;
    }
    return sign == '-' ? -total : total;
  }

  private static boolean outside(int value, int max) {
    return value < 0 || value > max;
  }

  /** The number these characters spell, or -1. */
  private static int digits(String text, int from, int to) {
    int value = 0;
    for (int i = from; i < to; i++) {
      char c = text.charAt(i);
      if (!isDigit(c)) {
        return -1;
      }
      value = value * 10 + (c - '0');
    }
    return value;
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }
}
