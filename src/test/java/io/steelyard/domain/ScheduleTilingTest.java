package io.steelyard.domain;

import static io.steelyard.domain.BillingCadence.ANNUALLY;
import static io.steelyard.domain.BillingCadence.MONTHLY;
import static io.steelyard.domain.BillingCadence.ONE_TIME;
import static io.steelyard.domain.BillingCadence.QUARTERLY;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

/**
 * Periods tile time: every zone of the tz database, every anchor day, fifty years, every cadence.
 * The years hold the days that Apia (2011) and Kwajalein (1993) left out.
 */
class ScheduleTilingTest {
  private static final int FIRST_YEAR = 1990;
  private static final int MONTHS = 50 * 12;
  private static final List<BillingCadence> RECURRING = List.of(MONTHLY, QUARTERLY, ANNUALLY);

  /** Zones by their rules: many names share theirs, and need no proof of their own. */
  private static final List<ZoneId> ZONES = distinctZones();

  /** Clocks change at these times of the day, somewhere. */
  private static final List<LocalTime> TIMES =
      List.of(
          LocalTime.MIDNIGHT,
          LocalTime.of(2, 30),
          LocalTime.of(0, 30),
          LocalTime.of(1, 59, 59, 999_000_000),
          LocalTime.of(2, 0),
          LocalTime.of(3, 0),
          LocalTime.of(23, 30),
          LocalTime.of(12, 34, 56, 789_000_000));

  private static List<ZoneId> distinctZones() {
    Map<ZoneRules, ZoneId> byRules = new HashMap<>();
    ZoneId.getAvailableZoneIds().stream()
        .sorted()
        .map(ZoneId::of)
        .forEach(zone -> byRules.putIfAbsent(zone.getRules(), zone));
    return List.copyOf(byRules.values());
  }

  /**
   * The start of every month's period, reckoned without the schedule: months are counted from the
   * original anchor, days that the month lacks become its last. The offset before a clock change
   * moves a skipped time past the gap, and takes the first of two.
   */
  private static Instant[] boundaries(LocalDateTime anchor, ZoneRules rules) {
    Instant[] boundaries = new Instant[MONTHS + 1];
    int firstMonth = anchor.getYear() * 12 + anchor.getMonthValue() - 1;
    for (int k = 0; k <= MONTHS; k++) {
      YearMonth month = YearMonth.of((firstMonth + k) / 12, (firstMonth + k) % 12 + 1);
      int day = Math.min(anchor.getDayOfMonth(), month.lengthOfMonth());
      LocalDateTime local = LocalDateTime.of(month.atDay(day), anchor.toLocalTime());
      ZoneOffsetTransition change = rules.getTransition(local);
      ZoneOffset offset = change == null ? rules.getOffset(local) : change.getOffsetBefore();
      boundaries[k] = local.toInstant(offset);
    }
    return boundaries;
  }

  private static List<LocalDate> anchorDays() {
    List<LocalDate> days = new ArrayList<>();
    IntStream.rangeClosed(1, 31).forEach(day -> days.add(LocalDate.of(FIRST_YEAR, 1, day)));
    days.add(LocalDate.of(1992, 2, 29));
    return days;
  }

  @Test
  void everyAnchorDayInEveryZoneForFiftyYearsAtEveryCadence() {
    List<String> wrong =
        ZONES.parallelStream()
            .flatMap(zone -> anchorDays().stream().map(day -> faultOf(zone, day)))
            .filter(Objects::nonNull)
            .toList();

    assertThat(ZONES).hasSizeGreaterThan(200);
    assertThat(wrong).isEmpty();
  }

  // Each zone meets each time of the day, on different days.
  private static String faultOf(ZoneId zone, LocalDate day) {
    int time = Math.floorMod(zone.getId().hashCode() + day.getDayOfMonth(), TIMES.size());
    Instant[] expected = boundaries(day.atTime(TIMES.get(time)), zone.getRules());
    Instant anchor = day.atTime(TIMES.get(time)).atZone(zone).toInstant();
    if (!expected[0].equals(anchor)) {
      return "the anchor is " + anchor + ", not " + expected[0];
    }
    for (BillingCadence cadence : RECURRING) {
      String fault = faultOf(new Schedule(anchor, null, cadence, zone), expected);
      if (fault != null) {
        return fault;
      }
    }
    return null;
  }

  private static String faultOf(Schedule schedule, Instant[] expected) {
    int months = schedule.cadence().months();
    for (int k = 0; (k + 1) * months <= MONTHS; k++) {
      BillingPeriod period = schedule.period(k);
      Instant start = expected[k * months];
      Instant end = expected[(k + 1) * months];
      if (!start.isBefore(end) || !period.equals(new BillingPeriod(k, start, end, false))) {
        return schedule + ": " + period + " instead of " + start + " to " + end;
      }
    }
    return null;
  }

  @Property(tries = 20_000)
  void everyInstantIsInThePeriodThatContainsIt(
      @ForAll("schedules") Schedule schedule,
      @ForAll @IntRange(max = MONTHS) int index,
      @ForAll @LongRange(max = 366L * 86_400_000) long inside) {
    int k = schedule.cadence() == ONE_TIME ? index % trialPeriods(schedule, 1) : index;
    BillingPeriod period = schedule.period(k);
    Instant last = period.end().minusMillis(1);
    Instant random = period.start().plusMillis(inside);

    assertThat(schedule.containing(period.start())).isEqualTo(period);
    assertThat(schedule.containing(last)).isEqualTo(period);
    if (period.contains(random)) {
      assertThat(schedule.containing(random)).isEqualTo(period);
    }
    if (schedule.cadence() != ONE_TIME) {
      BillingPeriod next = schedule.period(k + 1);
      assertThat(next.start()).isEqualTo(period.end());
      assertThat(schedule.containing(period.end())).isEqualTo(next);
    }
  }

  private static int trialPeriods(Schedule schedule, int regular) {
    return schedule.trialEnd() == null ? regular : regular + 1;
  }

  @Provide
  Arbitrary<Schedule> schedules() {
    Collection<ZoneId> zones =
        ZONES.stream().sorted((a, b) -> a.getId().compareTo(b.getId())).toList();
    Arbitrary<Instant> starts =
        Arbitraries.longs()
            .between(
                Instant.parse("1990-01-01T00:00:00Z").toEpochMilli(),
                Instant.parse("2040-01-01T00:00:00Z").toEpochMilli())
            .map(Instant::ofEpochMilli);
    Arbitrary<Integer> trialDays = Arbitraries.of(0, 0, 1, 14, 45);
    return Combinators.combine(
            starts, trialDays, Arbitraries.of(BillingCadence.values()), Arbitraries.of(zones))
        .as(ScheduleTilingTest::schedule);
  }

  private static Schedule schedule(
      Instant start, int trialDays, BillingCadence cadence, ZoneId zone) {
    Instant trialEnd = trialDays == 0 ? null : start.atZone(zone).plusDays(trialDays).toInstant();
    return new Schedule(start, trialEnd, cadence, zone);
  }
}
