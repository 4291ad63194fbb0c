package io.steelyard.json;

import java.nio.charset.StandardCharsets;
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

  /** In place of an instant where there is none. */
  public static final long NONE = Long.MIN_VALUE;

  /** In UTC a year must have four digits: answers have no other. */
  private static final long SECOND_MIN = LocalDate.of(0, 1, 1).toEpochDay() * 86_400;

  private static final long SECOND_END = LocalDate.of(10_000, 1, 1).toEpochDay() * 86_400;

  private Timestamps() {}

  /** The instant that {@code text} spells, or empty when it is no date-time with an offset. */
  public static Optional<Instant> dateTime(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    long millis = epochMillis(utf8, 0, utf8.length);
    return millis == NONE ? Optional.empty() : Optional.of(Instant.ofEpochMilli(millis));
  }

  /** As {@link #dateTime}, of a text in UTF-8; {@link #NONE} when it is no such date-time. */
  public static long epochMillis(byte[] text, int from, int length) {
    if (length <= SECOND_CHARS
        || (text[from + DATE_CHARS] | 0x20) != 't'
        || text[from + 13] != ':'
        || text[from + 16] != ':') {
      return NONE;
    }
    int end = from + length;
    long day = epochDay(text, from);
    int hour = digits(text, from + 11, 2);
    int minute = digits(text, from + 14, 2);
    int second = digits(text, from + 17, 2);
    int offsetAt = fractionEnd(text, from + SECOND_CHARS, end);
    int offsetMinutes = offsetMinutes(text, offsetAt, end);
    if (day == NONE
        || outside(hour, 23)
        || outside(minute, 59)
        || outside(second, 59)
        || offsetAt < 0
        || offsetMinutes == Integer.MIN_VALUE) {
      return NONE;
    }
    long seconds = day * 86_400 + hour * 3600L + minute * 60L + second - offsetMinutes * 60L;
    if (seconds < SECOND_MIN || seconds >= SECOND_END) {
      return NONE;
    }
    return seconds * 1000 + millis(text, from + SECOND_CHARS, offsetAt);
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
    return text.length() == DATE_CHARS && epochDay(text) != NONE && !text.startsWith("0000");
  }

  private static long epochDay(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    return utf8.length == DATE_CHARS ? epochDay(utf8, 0) : NONE;
  }

  private static long epochDay(byte[] text, int from) {
    int year = digits(text, from, 4);
    int month = digits(text, from + 5, 2);
    int day = digits(text, from + 8, 2);
    if (text[from + 4] != '-' || text[from + 7] != '-' || year < 0 || month < 0 || day < 0) {
      return NONE;
    }
    try {
      return LocalDate.of(year, month, day).toEpochDay();
    } catch (DateTimeException e) {
      return NONE; // no such day
    }
  }

  /** Where the offset begins, or -1 when a point is not followed by a digit. */
  private static int fractionEnd(byte[] text, int secondEnd, int end) {
    if (text[secondEnd] != '.') {
      return secondEnd;
    }
    int at = secondEnd + 1;
    while (at < end && isDigit(text[at])) {
      at++;
    }
    return at == secondEnd + 1 ? -1 : at;
  }

  private static int millis(byte[] text, int secondEnd, int end) {
    int millis = 0;
    for (int at = secondEnd + 1; at <= secondEnd + 3; at++) {
      millis = millis * 10 + (at < end ? text[at] - '0' : 0);
    }
    return millis;
  }

  private static int offsetMinutes(byte[] text, int at, int end) {
    if (at < 0 || at >= end) {
      return Integer.MIN_VALUE;
    }
    byte sign = text[at];
    if ((sign | 0x20) == 'z') {
      return at + 1 == end ? 0 : Integer.MIN_VALUE;
    }
    if ((sign != '+' && sign != '-') || at + OFFSET_CHARS != end || text[at + 3] != ':') {
      return Integer.MIN_VALUE;
    }
    int hours = digits(text, at + 1, 2);
    int minutes = digits(text, at + 4, 2);
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
  private static int digits(byte[] text, int from, int length) {
    int value = 0;
    for (int i = from; i < from + length; i++) {
      if (!isDigit(text[i])) {
        return -1;
      }
      value = value * 10 + (text[i] - '0');
    }
    return value;
  }

  private static boolean isDigit(byte b) {
    return b >= '0' && b <= '9';
  }
}
