package io.steelyard.domain;

import static io.steelyard.domain.BillingCadence.ANNUALLY;
import static io.steelyard.domain.BillingCadence.MONTHLY;
import static io.steelyard.domain.BillingCadence.ONE_TIME;
import static io.steelyard.domain.BillingCadence.QUARTERLY;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.AllocationSchedule.Slice;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class AllocationScheduleTest {
  private static final Instant FAR = Instant.parse("2100-01-01T00:00:00Z");

  /** Boundaries are separated by spaces; the last is the end of the last slice. */
  @ParameterizedTest(name = "{0} units of {2} subscription from {3} in {1}")
  @CsvSource({
    // Month ends and leap years: the anchor's day is kept.
    "MONTHLY, UTC, MONTHLY, , , 2023-01-31T00:00:00Z 2023-02-28T00:00:00Z 2023-03-31T00:00:00Z"
        + " 2023-04-30T00:00:00Z",
    "MONTHLY, UTC, ANNUALLY, , , 2023-12-31T00:00:00Z 2024-01-31T00:00:00Z 2024-02-29T00:00:00Z"
        + " 2024-03-31T00:00:00Z",
    "ANNUALLY, UTC, MONTHLY, , , 2024-02-29T00:00:00Z 2025-02-28T00:00:00Z 2026-02-28T00:00:00Z"
        + " 2027-02-28T00:00:00Z 2028-02-29T00:00:00Z",
    // Every third month, whatever the months between are cut to.
    "QUARTERLY, UTC, MONTHLY, , , 2023-11-30T00:00:00Z 2024-02-29T00:00:00Z 2024-05-30T00:00:00Z",
    // Midnight in the zone, whatever its offset is then.
    "MONTHLY, America/New_York, ANNUALLY, , , 2023-02-28T05:00:00Z 2023-03-28T04:00:00Z"
        + " 2023-04-28T04:00:00Z",
    // 2024-03-10 02:30 does not exist and becomes 03:30; the month after is 02:30 again.
    "MONTHLY, America/New_York, QUARTERLY, , , 2024-02-10T07:30:00Z 2024-03-10T07:30:00Z"
        + " 2024-04-10T06:30:00Z",
    // A trial shorter than a slice is one slice, and the next ones count from its end.
    "MONTHLY, UTC, MONTHLY, 2024-01-31T00:00:00Z, , 2024-01-17T00:00:00Z 2024-01-31T00:00:00Z"
        + " 2024-02-29T00:00:00Z 2024-03-31T00:00:00Z",
    // A longer one has slices of its own, the last of them cut.
    "MONTHLY, UTC, ANNUALLY, 2024-03-01T00:00:00Z, , 2024-01-17T00:00:00Z 2024-02-17T00:00:00Z"
        + " 2024-03-01T00:00:00Z 2024-04-01T00:00:00Z",
    // One that ends with a slice has no cut one.
    "MONTHLY, UTC, MONTHLY, 2024-03-17T00:00:00Z, , 2024-01-17T00:00:00Z 2024-02-17T00:00:00Z"
        + " 2024-03-17T00:00:00Z 2024-04-17T00:00:00Z",
    "ANNUALLY, UTC, MONTHLY, 2024-01-31T00:00:00Z, , 2024-01-17T00:00:00Z 2024-01-31T00:00:00Z"
        + " 2025-01-31T00:00:00Z",
    // The end date cuts the last slice, and none starts there.
    "MONTHLY, UTC, ANNUALLY, , 2024-03-10T00:00:00Z, 2024-01-31T00:00:00Z 2024-02-29T00:00:00Z"
        + " 2024-03-10T00:00:00Z",
    "MONTHLY, UTC, ANNUALLY, , 2024-03-31T00:00:00Z, 2024-01-31T00:00:00Z 2024-02-29T00:00:00Z"
        + " 2024-03-31T00:00:00Z",
    // It may fall into the trial.
    "MONTHLY, UTC, MONTHLY, 2024-02-01T00:00:00Z, 2024-01-20T00:00:00Z, 2024-01-17T00:00:00Z"
        + " 2024-01-20T00:00:00Z",
    // A subscription that is billed once is still allocated by the allocation's cadence.
    "MONTHLY, UTC, ONE_TIME, , , 2024-01-31T00:00:00Z 2024-02-29T00:00:00Z 2024-03-31T00:00:00Z",
  })
  void slicesTileTheSubscription(
      BillingCadence cadence,
      ZoneId zone,
      BillingCadence billed,
      Instant trialEnd,
      Instant endDate,
      String boundaries) {
    List<Instant> expected = List.of(boundaries.split(" ")).stream().map(Instant::parse).toList();
    AllocationSchedule schedule =
        new AllocationSchedule(
            new Schedule(expected.getFirst(), trialEnd, billed, zone), endDate, cadence);

    List<Slice> slices =
        IntStream.range(0, expected.size() - 1)
            .mapToObj(i -> new Slice(i, expected.get(i), expected.get(i + 1)))
            .toList();
    assertThat(schedule.startingIn(Instant.EPOCH, expected.getLast())).isEqualTo(slices);
    for (Slice slice : slices) {
      Instant last = slice.end().minusNanos(1);
      assertThat(schedule.startingIn(slice.start(), slice.end())).containsExactly(slice);
      assertThat(schedule.startingIn(slice.start().plusNanos(1), slice.end())).isEmpty();
      boolean ends = slice.end().equals(endDate);
      Optional<Instant> next = ends ? Optional.empty() : Optional.of(slice.end());
      assertThat(schedule.nextStartAfter(slice.start())).isEqualTo(next);
      assertThat(schedule.nextStartAfter(last)).isEqualTo(next);
    }
    assertThat(schedule.nextStartAfter(expected.getFirst().minusNanos(1)))
        .contains(expected.getFirst());
    if (endDate != null) {
      assertThat(schedule.startingIn(endDate, FAR)).isEmpty();
    }
  }

  @Test
  void unitsAllocatedOnceComeWithTheVeryFirstPeriodAndNeverExpire() {
    Instant start = Instant.parse("2024-01-17T00:00:00Z");
    Instant trialEnd = Instant.parse("2024-01-31T00:00:00Z");
    Instant endDate = Instant.parse("2024-06-01T00:00:00Z");
    AllocationSchedule schedule =
        new AllocationSchedule(
            new Schedule(start, trialEnd, MONTHLY, ZoneOffset.UTC), endDate, ONE_TIME);

    assertThat(schedule.startingIn(Instant.EPOCH, FAR)).containsExactly(new Slice(0, start, null));
    assertThat(schedule.startingIn(start.plusNanos(1), FAR)).isEmpty();
    assertThat(schedule.nextStartAfter(Instant.EPOCH)).contains(start);
    assertThat(schedule.nextStartAfter(start)).isEmpty();
  }

  @Test
  void noSliceStartsAfterTheEndOfTime() {
    AllocationSchedule schedule =
        new AllocationSchedule(
            new Schedule(Instant.parse("9999-10-31T00:00:00Z"), null, ONE_TIME, ZoneOffset.UTC),
            null,
            MONTHLY);

    assertThat(schedule.startingIn(Instant.EPOCH, Instant.MAX)).hasSize(2);
    assertThat(schedule.nextStartAfter(BillingPeriod.END_OF_TIME)).isEmpty();
    assertThat(schedule.nextStartAfter(Instant.MAX)).isEmpty();
  }

  /** For the allocation's cadence, a regular slice is what a subscription billed so would have. */
  @ParameterizedTest
  @EnumSource(names = {"MONTHLY", "QUARTERLY", "ANNUALLY"})
  void anySpanHasTheSlicesThatStartInIt(BillingCadence cadence) {
    Random random = new Random(7);
    List<String> zones = new ArrayList<>(ZoneId.getAvailableZoneIds().stream().sorted().toList());
    for (int round = 0; round < 300; round++) {
      ZoneId zone = ZoneId.of(zones.get(random.nextInt(zones.size())));
      Instant start = Instant.ofEpochSecond(1_400_000_000L + random.nextInt(400_000_000));
      Instant trialEnd =
          random.nextBoolean() ? null : start.plusSeconds(1 + random.nextInt(20_000_000));
      Instant endDate =
          random.nextBoolean() ? null : start.plusSeconds(1 + random.nextInt(90_000_000));
      AllocationSchedule schedule =
          new AllocationSchedule(
              new Schedule(start, trialEnd, random.nextBoolean() ? ANNUALLY : QUARTERLY, zone),
              endDate,
              cadence);
      Instant horizon = start.plusSeconds(130_000_000);

      List<Slice> all = schedule.startingIn(start, horizon);
      assertThat(all.getFirst().start()).isEqualTo(start);
      for (int i = 1; i < all.size(); i++) {
        assertThat(all.get(i).index()).isEqualTo(i);
        assertThat(all.get(i).start()).isEqualTo(all.get(i - 1).end());
      }
      if (endDate != null) {
        assertThat(all.getLast().end()).isEqualTo(endDate);
      }
      Instant from = start.plusSeconds(random.nextInt(130_000_000));
      List<Slice> later = all.stream().filter(slice -> !slice.start().isBefore(from)).toList();
      assertThat(schedule.startingIn(from, horizon)).isEqualTo(later);
      if (!later.isEmpty()) {
        assertThat(schedule.nextStartAfter(from.minusNanos(1))).contains(later.getFirst().start());
      }
    }
  }

  @Test
  void aRegularSliceOfTheSubscriptionsCadenceIsItsPeriod() {
    Schedule schedule =
        new Schedule(
            Instant.parse("2024-01-31T10:00:00Z"), null, MONTHLY, ZoneId.of("Australia/Lord_Howe"));
    AllocationSchedule allocated = new AllocationSchedule(schedule, null, MONTHLY);

    for (Slice slice : allocated.startingIn(schedule.start(), FAR)) {
      BillingPeriod period = schedule.period(slice.index());
      assertThat(slice).isEqualTo(new Slice(slice.index(), period.start(), period.end()));
    }
  }
}
