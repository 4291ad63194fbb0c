package io.steelyard.domain;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;

/**
 * How a subscription's periods tile time. Boundaries are local date-times in the zone, a whole
 * number of months after the anchor and clamped to the month's length. A local time that a clock
 * change skips is moved past the gap; one that occurs twice is taken the first time.
 *
 * @param start where the first period starts, to the millisecond
 * @param trialEnd where the trial ends and the regular periods are anchored; null without a trial
 */
public record Schedule(Instant start, Instant trialEnd, BillingCadence cadence, ZoneId zone) {
  public Schedule {
    if (trialEnd != null && !start.isBefore(trialEnd)) {
      throw new IllegalArgumentException("a trial must end after the start");
    }
  }

  /**
   * @throws IllegalArgumentException when there is no such period
   */
  public BillingPeriod period(int index) {
    if (index < 0) {
      throw new IllegalArgumentException("no period " + index);
    }
    if (trialEnd != null && index == 0) {
      return new BillingPeriod(0, start, trialEnd, true);
    }
    int regular = index - trialPeriods();
    if (cadence != BillingCadence.ONE_TIME) {
      return new BillingPeriod(index, boundary(regular), boundary(regular + 1L), false);
    }
    if (regular > 0) {
      throw new IllegalArgumentException("a oneTime subscription has no period " + index);
    }
    return new BillingPeriod(index, anchor(), BillingPeriod.END_OF_TIME, false);
  }

  /**
   * The period that {@code t} falls in.
   *
   * @throws IllegalArgumentException when {@code t} is before the start
   */
  public BillingPeriod containing(Instant t) {
    if (t.isBefore(start)) {
      throw new IllegalArgumentException(t + " is before the start, " + start);
    }
    if (t.isBefore(anchor())) {
      return period(0);
    }
    if (cadence == BillingCadence.ONE_TIME) {
      return period(trialPeriods());
    }
    // Right but for clamping and clock changes, which move a boundary across t by less than a
    // period.
    long estimate = ChronoUnit.MONTHS.between(local(anchor()), local(t)) / cadence.months();
    int regular = Math.toIntExact(Math.max(0, estimate));
    while (t.isBefore(boundary(regular))) {
      regular--;
    }
    while (!t.isBefore(boundary(regular + 1L))) {
      regular++;
    }
    return period(regular + trialPeriods());
  }

  private Instant anchor() {
    return trialEnd == null ? start : trialEnd;
  }

  private int trialPeriods() {
    return trialEnd == null ? 0 : 1;
  }

  private Instant boundary(long regular) {
    if (regular == 0) {
      return anchor(); // not by way of local time, which may occur twice
    }
    return local(anchor()).plusMonths(regular * cadence.months()).atZone(zone).toInstant();
  }

  private LocalDateTime local(Instant t) {
    return LocalDateTime.ofInstant(t, zone);
  }
}
