package io.steelyard.domain;

import java.time.Instant;

/**
 * One period of a subscription, half-open: its end is the next one's start.
 *
 * @param index from 0, in order of time
 * @param trial whether this is the trial, which charges no fixed price
 */
public record BillingPeriod(int index, Instant start, Instant end, boolean trial) {
  /** The end of a period that has none. */
  public static final Instant END_OF_TIME = Instant.parse("9999-12-31T00:00:00Z");

  public BillingPeriod {
    if (!start.isBefore(end)) {
      throw new IllegalArgumentException("a period must end after " + start + ", not at " + end);
    }
  }

  public boolean contains(Instant t) {
    return !t.isBefore(start) && t.isBefore(end);
  }

  /**
   * The part before a subscription's end date; all of it when that is null or not before the end.
   *
   * @throws IllegalArgumentException when the subscription ends before the period begins
   */
  public BillingPeriod clippedTo(Instant endDate) {
    if (endDate == null || !endDate.isBefore(end)) {
      return this;
    }
    return new BillingPeriod(index, start, endDate, trial);
  }
}
