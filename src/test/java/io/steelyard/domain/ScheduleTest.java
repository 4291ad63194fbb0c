package io.steelyard.domain;

import static io.steelyard.domain.BillingCadence.ANNUALLY;
import static io.steelyard.domain.BillingCadence.MONTHLY;
import static io.steelyard.domain.BillingCadence.ONE_TIME;
import static io.steelyard.domain.BillingCadence.QUARTERLY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ScheduleTest {
  private static final List<BillingCadence> RECURRING = List.of(MONTHLY, QUARTERLY, ANNUALLY);

  @ParameterizedTest(name = "{2} {0} from {1}")
  @CsvSource({
    // The anchor day is kept: a short month does not shorten the next.
    "UTC, 2023-01-31T00:00:00Z, MONTHLY, 2023-02-28T00:00:00Z 2023-03-31T00:00:00Z"
        + " 2023-04-30T00:00:00Z 2023-05-31T00:00:00Z",
    "UTC, 2024-01-31T00:00:00Z, MONTHLY, 2024-02-29T00:00:00Z 2024-03-31T00:00:00Z",
    "UTC, 2023-12-29T00:00:00Z, MONTHLY, 2024-01-29T00:00:00Z 2024-02-29T00:00:00Z",
    "UTC, 2023-01-29T12:34:56.789Z, MONTHLY, 2023-02-28T12:34:56.789Z 2023-03-29T12:34:56.789Z",
    "UTC, 2100-01-31T00:00:00Z, MONTHLY, 2100-02-28T00:00:00Z 2100-03-31T00:00:00Z",
    "UTC, 2023-11-30T00:00:00Z, QUARTERLY, 2024-02-29T00:00:00Z 2024-05-30T00:00:00Z"
        + " 2024-08-30T00:00:00Z 2024-11-30T00:00:00Z 2025-02-28T00:00:00Z",
    "UTC, 2024-02-29T00:00:00Z, ANNUALLY, 2025-02-28T00:00:00Z 2026-02-28T00:00:00Z"
        + " 2027-02-28T00:00:00Z 2028-02-29T00:00:00Z",
    // Midnight in the zone, whatever its offset is then.
    "America/New_York, 2023-01-31T05:00:00Z, MONTHLY, 2023-02-28T05:00:00Z 2023-03-31T04:00:00Z",
    // The last of the month there, the first of the next in UTC.
    "America/New_York, 2024-02-01T03:00:00Z, MONTHLY, 2024-03-01T03:00:00Z 2024-04-01T02:00:00Z",
    // 2024-03-10 02:30 does not exist and becomes 03:30; the month after is 02:30 again.
    "America/New_York, 2024-02-10T07:30:00Z, MONTHLY, 2024-03-10T07:30:00Z 2024-04-10T06:30:00Z",
    // 2024-11-03 01:30 exists twice: the first.
    "America/New_York, 2024-10-03T05:30:00Z, MONTHLY, 2024-11-03T05:30:00Z 2024-12-03T06:30:00Z",
    // A start in the second 01:30 stays where it is.
    "America/New_York, 2024-11-03T06:30:00Z, MONTHLY, 2024-12-03T06:30:00Z 2025-01-03T06:30:00Z",
    // Half an hour of daylight saving: 2024-10-06 02:15 becomes 02:45.
    "Australia/Lord_Howe, 2024-09-05T15:45:00Z, MONTHLY,"
        + " 2024-10-05T15:45:00Z 2024-11-05T15:15:00Z",
    // 2024-04-07 01:45 exists twice.
    "Australia/Lord_Howe, 2024-03-06T14:45:00Z, MONTHLY,"
        + " 2024-04-06T14:45:00Z 2024-05-06T15:15:00Z",
    // 2011-12-30 does not exist at all and becomes the 31st.
    "Pacific/Apia, 2011-11-30T20:00:00Z, MONTHLY, 2011-12-30T20:00:00Z 2012-01-29T20:00:00Z"
        + " 2012-02-28T20:00:00Z",
  })
  void boundariesCountFromTheAnchor(
      ZoneId zone, Instant start, BillingCadence cadence, String boundaries) {
    Schedule schedule = new Schedule(start, null, cadence, zone);

    List<Instant> expected =
        Stream.concat(Stream.of(start), Stream.of(boundaries.split(" ")).map(Instant::parse))
            .toList();
    List<BillingPeriod> periods =
        IntStream.range(0, expected.size() - 1).mapToObj(schedule::period).toList();
    for (int i = 0; i < periods.size(); i++) {
      assertThat(periods.get(i))
          .isEqualTo(new BillingPeriod(i, expected.get(i), expected.get(i + 1), false));
      assertThat(schedule.containing(expected.get(i))).isEqualTo(periods.get(i));
    }
  }

  @Test
  void trialIsThePeriodBeforeTheAnchor() {
    Instant trialEnd = Instant.parse("2024-01-31T00:00:00Z");
    Instant start = Instant.parse("2024-01-17T00:00:00Z");
    Schedule schedule = new Schedule(start, trialEnd, MONTHLY, ZoneOffset.UTC);

    BillingPeriod trial = new BillingPeriod(0, start, trialEnd, true);
    BillingPeriod first =
        new BillingPeriod(1, trialEnd, Instant.parse("2024-02-29T00:00:00Z"), false);
    assertThat(schedule.period(0)).isEqualTo(trial);
    assertThat(schedule.period(1)).isEqualTo(first);
    assertThat(schedule.period(2).end()).isEqualTo(Instant.parse("2024-03-31T00:00:00Z"));
    assertThat(schedule.containing(start)).isEqualTo(trial);
    assertThat(schedule.containing(trialEnd.minusMillis(1))).isEqualTo(trial);
    assertThat(schedule.containing(trialEnd)).isEqualTo(first);
    assertThat(schedule.containing(first.end()).index()).isEqualTo(2);
  }

  @Test
  void aTrialLongerThanTheCadenceIsStillOnePeriod() {
    Instant start = Instant.parse("2024-01-01T00:00:00Z");
    Instant trialEnd = Instant.parse("2024-03-31T00:00:00Z");
    Schedule schedule = new Schedule(start, trialEnd, MONTHLY, ZoneOffset.UTC);

    assertThat(schedule.containing(trialEnd.minusMillis(1)))
        .isEqualTo(new BillingPeriod(0, start, trialEnd, true));
    assertThat(schedule.period(1).end()).isEqualTo(Instant.parse("2024-04-30T00:00:00Z"));
  }

  @Test
  void oneTimeHasOnePeriodWithoutEnd() {
    Instant start = Instant.parse("2024-01-17T00:00:00Z");
    Schedule schedule = new Schedule(start, null, ONE_TIME, ZoneOffset.UTC);

    BillingPeriod only = new BillingPeriod(0, start, BillingPeriod.END_OF_TIME, false);
    assertThat(schedule.period(0)).isEqualTo(only);
    assertThat(schedule.containing(Instant.parse("2099-12-31T23:59:59.999Z"))).isEqualTo(only);
    assertThatIllegalArgumentException().isThrownBy(() -> schedule.period(1));
  }

  @Test
  void oneTimeAfterATrialStartsWhenTheTrialEnds() {
    Instant start = Instant.parse("2024-01-17T00:00:00Z");
    Instant trialEnd = Instant.parse("2024-01-31T00:00:00Z");
    Schedule schedule = new Schedule(start, trialEnd, ONE_TIME, ZoneOffset.UTC);

    assertThat(schedule.period(0)).isEqualTo(new BillingPeriod(0, start, trialEnd, true));
    assertThat(schedule.containing(trialEnd))
        .isEqualTo(new BillingPeriod(1, trialEnd, BillingPeriod.END_OF_TIME, false));
    assertThatIllegalArgumentException().isThrownBy(() -> schedule.period(2));
  }

  @Test
  void thereIsNothingBeforeTheStart() {
    Instant start = Instant.parse("2024-11-03T06:30:00Z");
    Schedule schedule = new Schedule(start, null, MONTHLY, ZoneId.of("America/New_York"));

    assertThatIllegalArgumentException().isThrownBy(() -> schedule.period(-1));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> schedule.containing(start.minusMillis(1)));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Schedule(start, start, MONTHLY, ZoneOffset.UTC));
  }

  /** Every anchor day of four years, with a leap day in them and the day that Apia left out. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "UTC",
        "America/New_York",
        "Australia/Lord_Howe",
        "Pacific/Apia",
        "America/Sao_Paulo",
        "Europe/Dublin"
      })
  void periodsTileTime(ZoneId zone) {
    Random random = new Random(zone.getId().hashCode());
    LocalDate.of(2009, 1, 1)
        .datesUntil(LocalDate.of(2013, 1, 1))
        .forEach(
            day -> {
              LocalTime time = LocalTime.ofNanoOfDay(random.nextInt(86_400_000) * 1_000_000L);
              Instant start = day.atTime(time).atZone(zone).toInstant();
              Instant trialEnd = random.nextInt(4) == 0 ? start.plusSeconds(14 * 86_400) : null;
              for (BillingCadence cadence : RECURRING) {
                Schedule schedule = new Schedule(start, trialEnd, cadence, zone);
                int fiftyYears = 600 / cadence.months();
                assertTiles(schedule, 0);
                assertTiles(schedule, random.nextInt(1, 14));
                assertTiles(schedule, random.nextInt(fiftyYears));
                assertTiles(schedule, fiftyYears);
              }
            });
  }

  // Plain comparisons first: hundreds of thousands of fluent assertions take many seconds.
  private static void assertTiles(Schedule schedule, int index) {
    BillingPeriod period = schedule.period(index);
    BillingPeriod next = schedule.period(index + 1);
    boolean tiles =
        period.start().isBefore(period.end())
            && period.end().equals(next.start())
            && schedule.containing(period.start()).equals(period)
            && schedule.containing(period.end().minusMillis(1)).equals(period)
            && schedule.containing(period.end()).equals(next);
    assertThat(tiles).as("%s at %d", schedule, index).isTrue();
  }
}
