package io.steelyard.domain;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * When a subscription is allocated the units of one allocation. Slices tile time from the
 * subscription's start to its end by the allocation's own cadence, whatever the subscription's is:
 * the trial by itself, its last slice cut at the trial's end, and then from the trial's end on,
 * each boundary counted from there. A slice belongs to the period that contains its start: there
 * may be several in one period, or none. What is allocated once is a single slice at the very
 * start, the trial's when there is one, which outlives the subscription.
 *
 * @param schedule of the subscription
 * @param endDate of the subscription, exclusive; null for none
 * @param cadence of the allocation
 */
public record AllocationSchedule(Schedule schedule, Instant endDate, BillingCadence cadence) {
  /**
   * A span with an allocation of its own.
   *
   * @param index from 0, in order of time
   * @param end exclusive; null for never
   */
  public record Slice(int index, Instant start, Instant end) {}

  /**
   * The slices that start in [from, until), in order: at most one for each month of it, none after
   * {@link BillingPeriod#END_OF_TIME}.
   */
  public List<Slice> startingIn(Instant from, Instant until) {
    List<Slice> slices = new ArrayList<>();
    Optional<Slice> next = firstFrom(from);
    while (next.isPresent() && next.get().start().isBefore(until)) {
      slices.add(next.get());
      next = slice(next.get().index() + 1);
    }
    return List.copyOf(slices);
  }

  /** When the first slice after {@code t} starts; empty when none does. */
  public Optional<Instant> nextStartAfter(Instant t) {
    return firstFrom(t)
        .flatMap(first -> first.start().equals(t) ? slice(first.index() + 1) : Optional.of(first))
        .map(Slice::start);
  }

  /** The first slice that starts at {@code t} or later. */
  private Optional<Slice> firstFrom(Instant t) {
    if (!t.isAfter(schedule.start())) {
      return slice(0);
    }
    if (cadence == BillingCadence.ONE_TIME || !t.isBefore(BillingPeriod.END_OF_TIME)) {
      return Optional.empty();
    }
    boolean inTrial = schedule.trialEnd() != null && t.isBefore(schedule.trialEnd());
    BillingPeriod containing =
        inTrial ? from(schedule.start()).containing(t) : from(anchor()).containing(t);
    int index = containing.index() + (inTrial ? 0 : trialSlices());
    return slice(containing.start().equals(t) ? index : index + 1);
  }

  private Optional<Slice> slice(int index) {
    if (cadence == BillingCadence.ONE_TIME) {
      return index == 0 ? Optional.of(new Slice(0, schedule.start(), null)) : Optional.empty();
    }
    int trialSlices = trialSlices();
    BillingPeriod span =
        index < trialSlices
            ? from(schedule.start()).period(index).clippedTo(schedule.trialEnd())
            : from(anchor()).period(index - trialSlices);
    if (!span.start().isBefore(endOfAll())) {
      return Optional.empty();
    }
    return Optional.of(new Slice(index, span.start(), span.clippedTo(endDate).end()));
  }

  private int trialSlices() {
    if (schedule.trialEnd() == null) {
      return 0;
    }
    return from(schedule.start()).containing(schedule.trialEnd().minusNanos(1)).index() + 1;
  }

  /** Boundaries of this cadence as a schedule of their own, so that they are counted as periods. */
  private Schedule from(Instant anchor) {
    return new Schedule(anchor, null, cadence, schedule.zone());
  }

  private Instant anchor() {
    return schedule.trialEnd() == null ? schedule.start() : schedule.trialEnd();
  }

  private Instant endOfAll() {
    return endDate == null || endDate.isAfter(BillingPeriod.END_OF_TIME)
        ? BillingPeriod.END_OF_TIME
        : endDate;
  }
}
