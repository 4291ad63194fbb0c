package io.steelyard.domain;

import static io.steelyard.domain.BillingCadence.MONTHLY;
import static io.steelyard.domain.BillingMode.ARREARS;
import static io.steelyard.domain.Examples.base;
import static io.steelyard.domain.Examples.decimal;
import static io.steelyard.domain.Examples.limited;
import static io.steelyard.domain.Examples.plan;
import static io.steelyard.domain.Examples.quotient;
import static io.steelyard.domain.Examples.rules;
import static io.steelyard.domain.Examples.tier;
import static io.steelyard.domain.Examples.usage;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.InvoiceBasis.Closed;
import io.steelyard.domain.InvoiceBasis.Opened;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The billing rules as tables to be checked with pencil and paper. Times are local, with the offset
 * from UTC that the zone's clocks show then; above each row stands why it is so.
 */
class WorkedExamplesTest {
  /** 1 each up to 10, with 5 on entering; 0.50 each up to 20; 0.10 each beyond, with 3. */
  private static final PriceRules TIERS =
      rules("1", null, tier("10", "1", "5"), tier("20", "0.5", null), tier(null, "0.1", "3"));

  @ParameterizedTest(name = "{0} {1}: {2}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          # The 31st: every month has its own last day, and long ones have the 31st again.
          UTC | MONTHLY | 2025-01-31T00:00Z 2025-02-28T00:00Z 2025-03-31T00:00Z 2025-04-30T00:00Z
          # The 30th is cut short by February only.
          UTC | MONTHLY | 2025-01-30T00:00Z 2025-02-28T00:00Z 2025-03-30T00:00Z
          # The 29th fits into February of a leap year.
          UTC | MONTHLY | 2024-01-29T00:00Z 2024-02-29T00:00Z 2024-03-29T00:00Z
          # 2100 is no leap year, 2000 was one.
          UTC | MONTHLY | 2100-01-29T00:00Z 2100-02-28T00:00Z 2100-03-29T00:00Z
          UTC | MONTHLY | 2000-01-31T00:00Z 2000-02-29T00:00Z 2000-03-31T00:00Z
          # A leap day's anniversary is February 28, until there is a 29th again.
          UTC | ANNUALLY | 2024-02-29T00:00Z 2025-02-28T00:00Z 2026-02-28T00:00Z \
          2027-02-28T00:00Z 2028-02-29T00:00Z
          # Quarters of a November 30: the one in February is short.
          UTC | QUARTERLY | 2024-11-30T00:00Z 2025-02-28T00:00Z 2025-05-30T00:00Z 2025-08-30T00:00Z
          # The millisecond is kept, also over the turn of the year.
          UTC | MONTHLY | 2024-12-31T23:59:59.999Z 2025-01-31T23:59:59.999Z \
          2025-02-28T23:59:59.999Z
          # Berlin: midnight stays midnight; March has one hour less (2025-03-30), October one more.
          Europe/Berlin | MONTHLY | 2025-03-15T00:00+01:00 2025-04-15T00:00+02:00
          Europe/Berlin | MONTHLY | 2025-10-15T00:00+02:00 2025-11-15T00:00+01:00
          # Berlin, 2025-03-30: 02:30 does not exist; an hour is skipped, so 03:30. Then 02:30 again.
          Europe/Berlin | MONTHLY | 2025-02-28T02:30+01:00 2025-03-28T02:30+01:00
          Europe/Berlin | MONTHLY | 2025-01-30T02:30+01:00 2025-02-28T02:30+01:00 \
          2025-03-30T03:30+02:00 2025-04-30T02:30+02:00
          # Berlin, 2025-10-26: 02:30 exists twice, first in summer time.
          Europe/Berlin | MONTHLY | 2025-09-26T02:30+02:00 2025-10-26T02:30+02:00 \
          2025-11-26T02:30+01:00
          # New York, 2025-03-09 and 2025-11-02.
          America/New_York | MONTHLY | 2025-02-09T02:00-05:00 2025-03-09T03:00-04:00 \
          2025-04-09T02:00-04:00
          America/New_York | MONTHLY | 2025-10-02T01:59-04:00 2025-11-02T01:59-04:00 \
          2025-12-02T01:59-05:00
          # Lord Howe moves its clocks by half an hour: 2025-10-05 02:10 becomes 02:40.
          Australia/Lord_Howe | MONTHLY | 2025-09-05T02:10+10:30 2025-10-05T02:40+11:00 \
          2025-11-05T02:10+11:00
          # Lord Howe, 2025-04-06: 01:40 exists twice.
          Australia/Lord_Howe | MONTHLY | 2025-03-06T01:40+11:00 2025-04-06T01:40+11:00 \
          2025-05-06T01:40+10:30
          # Apia left out the whole of 2011-12-30: a day is skipped, so the 31st. Then the 30th again.
          Pacific/Apia | MONTHLY | 2011-11-30T10:00-10:00 2011-12-31T10:00+14:00 \
          2012-01-30T10:00+14:00
          """)
  void periodsStartAt(ZoneId zone, BillingCadence cadence, String boundaries) {
    List<Instant> expected =
        List.of(boundaries.split("\\s+")).stream()
            .map(text -> OffsetDateTime.parse(text).toInstant())
            .toList();
    Schedule schedule = new Schedule(expected.getFirst(), null, cadence, zone);

    assertThat(IntStream.range(0, expected.size()).mapToObj(k -> schedule.period(k).start()))
        .isEqualTo(expected);
  }

  @ParameterizedTest(name = "{0} used: tiered {1}, volume {2}")
  @CsvSource({
    "0,    0,     0", // no tier is entered
    "1,    6,     6", // 5 + 1
    "10,   15,    15", // 5 + 10: ten is still in the first tier
    "10.1, 15.05, 5.05", // 5 + 10 + 0.1 * 0.5; all of it at 0.5
    "11,   15.5,  5.5", // 15 + 0.5; 11 * 0.5
    "20,   20,    10", // 15 + 10 * 0.5; 20 * 0.5
    "21,   23.1,  5.1", // 20 + 3 + 0.1; 3 + 21 * 0.1
    "120,  33,    15", // 20 + 3 + 100 * 0.1; 3 + 12
  })
  void tiersCost(String used, String tiered, String volume) {
    PriceTerms graduated = usage(1, ARREARS, PriceType.TIERED, TIERS);
    PriceTerms reached = usage(1, ARREARS, PriceType.VOLUME, TIERS);

    assertThat(Rating.usageAmount(graduated, quotient(used)).toDecimal())
        .isEqualByComparingTo(tiered);
    assertThat(Rating.usageAmount(reached, quotient(used)).toDecimal())
        .isEqualByComparingTo(volume);
  }

  @ParameterizedTest(name = "{0} used of limit {1}, maxUsage {2}: {4}")
  @CsvSource({
    // used, limit, maxUsage, blockOverage, charged
    "8,  10,   , false, 0", // included
    "10, 10,   , false, 0", // the limit itself is included
    "12, 10,   , false, 7.00", // the 2 above it are the first two of the tiers: 5 + 2
    "30, 10, 25, false, 17.50", // 25 - 10 = 15: 5 + 10 + 5 * 0.5
    "30,   , 25, false, 23.50", // 25: 5 + 10 + 10 * 0.5 + 3 + 5 * 0.1
    "30, 10,   , true,  0", // overage is recorded and not billed
    "30,   ,   , true,  24.00", // without a limit there is no overage: 20 + 3 + 10 * 0.1
  })
  void limitsAreTakenOffBeforeTheTiers(
      String used, String limit, String maxUsage, boolean blockOverage, String charged) {
    PriceTerms price =
        limited(usage(1, ARREARS, PriceType.TIERED, TIERS), limit, maxUsage, blockOverage);

    assertThat(Rating.usageAmount(price, quotient(used)).toDecimal()).isEqualByComparingTo(charged);
  }

  @ParameterizedTest(name = "{0} units of which {1} cost {2}: {3}")
  @CsvSource({
    // used, quantity, price, cents
    "1,  1,    0.005, 0.01", // half a cent goes up
    "1,  1,    0.0049, 0.00", // less goes down
    "1,  1,    0.015, 0.02", // not to the even cent
    "1,  1,    0.025, 0.03",
    "3,  2,    0.01,  0.02", // 1.5 cents
    "1,  3,    0.01,  0.00", // a third of a cent
    "2,  3,    0.01,  0.01", // two thirds
    "3,  3,    0.01,  0.01", // three thirds are whole
    "1,  6,    0.03,  0.01", // 0.005: a sixth of three cents is exactly half a cent
    "7,  1000, 2.50,  0.02", // 0.0175
  })
  void aLineIsRoundedOnce(String used, String quantity, String price, String cents) {
    PriceTerms unit = usage(1, ARREARS, PriceType.UNIT, rules(quantity, price));
    BillingPeriod period = period("2025-01-01T00:00Z", "2025-02-01T00:00Z");

    UsageTotal.Tally usage = new UsageTotal.Tally(UsageTotal.NONE);
    usage.add(decimal(used), period.start(), new UUID(0, 1), false);

    InvoiceLine line =
        InvoiceDrafting.lines(
                new InvoiceBasis(
                    plan(false, unit),
                    MONTHLY,
                    false,
                    null,
                    new Closed(period, period.start(), Map.of(unit.billableId(), usage.total())),
                    List.of()))
            .getFirst();

    assertThat(line.amount()).isEqualTo(decimal(cents));
  }

  @ParameterizedTest(name = "{0} for {1} to {2}, ended {3}: {4}")
  @CsvSource({
    // price, period, end date, cents
    "30, 2025-04-01T00:00Z, 2025-05-01T00:00Z, 2025-04-16T00:00Z, 15.00", // 15 days of 30
    "31, 2025-01-01T00:00Z, 2025-02-01T00:00Z, 2025-01-11T00:00Z, 10.00", // 10 of 31
    "28, 2025-02-01T00:00Z, 2025-03-01T00:00Z, 2025-02-02T12:00Z, 1.50", // a day and a half of 28
    "29, 2024-02-01T00:00Z, 2024-03-01T00:00Z, 2024-02-29T00:00Z, 28.00", // all but the leap day
    "10, 2025-04-01T00:00Z, 2025-05-01T00:00Z, 2025-04-11T00:00Z, 3.33", // a third
    "20, 2025-04-01T00:00Z, 2025-05-01T00:00Z, 2025-04-11T00:00Z, 6.67",
    "365, 2025-01-01T00:00Z, 2026-01-01T00:00Z, 2025-02-01T00:00Z, 31.00",
    // 0.15 for 30 days is half a cent a day.
    "0.15, 2025-04-01T00:00Z, 2025-05-01T00:00Z, 2025-04-02T00:00Z, 0.01",
    // Berlin's March has 743 hours; 371.5 of them are half.
    "74.30, 2025-03-01T00:00+01:00, 2025-04-01T00:00+02:00, 2025-03-16T11:30+01:00, 37.15",
    // Berlin's October has 745; the first 15 days have 360 of them.
    "74.50, 2025-10-01T00:00+02:00, 2025-11-01T00:00+01:00, 2025-10-16T00:00+02:00, 36.00",
  })
  void aFixedPriceIsChargedByItsShareOfTime(
      String price, String start, String end, String endDate, String cents) {
    BillingPeriod full = period(start, end);
    BillingPeriod clipped = full.clippedTo(OffsetDateTime.parse(endDate).toInstant());

    InvoiceLine line = advance(plan(false, base(1, MONTHLY, price)), full, clipped).getFirst();

    assertThat(line.amount()).isEqualTo(decimal(cents));
  }

  private static List<InvoiceLine> advance(
      PlanTerms plan, BillingPeriod full, BillingPeriod clipped) {
    return InvoiceDrafting.lines(
        new InvoiceBasis(
            plan, MONTHLY, false, new Opened(full, clipped, full.start()), null, List.of()));
  }

  private static BillingPeriod period(String start, String end) {
    return new BillingPeriod(
        0, OffsetDateTime.parse(start).toInstant(), OffsetDateTime.parse(end).toInstant(), false);
  }

  @ParameterizedTest(name = "{0} {1} {2}: {3}")
  @CsvSource({
    // zone, terms, issue, the first instant at which it is too late
    "UTC, UPON_RECEIPT, 2025-01-31T00:00Z, 2025-02-01T00:00Z",
    "UTC, UPON_RECEIPT, 2025-01-31T23:59:59.999Z, 2025-02-01T00:00Z",
    "UTC, NET30, 2025-01-31T12:00Z, 2025-03-03T00:00Z", // January 31 + 30 days = March 2
    "UTC, NET30, 2024-01-31T12:00Z, 2024-03-02T00:00Z", // ... March 1 in a leap year
    "UTC, NET60, 2025-01-01T12:00Z, 2025-03-03T00:00Z", // 30 + 28 days later is March 1, + 2
    "UTC, NET90, 2025-01-01T12:00Z, 2025-04-02T00:00Z",
    // In Berlin it is February 1 already.
    "Europe/Berlin, UPON_RECEIPT, 2025-01-31T23:30Z, 2025-02-02T00:00+01:00",
    // In New York it is still January 31.
    "America/New_York, UPON_RECEIPT, 2025-02-01T04:30Z, 2025-02-01T00:00-05:00",
    // The days of the clock changes have 23 and 25 hours.
    "Europe/Berlin, UPON_RECEIPT, 2025-03-30T00:00+01:00, 2025-03-31T00:00+02:00",
    "Europe/Berlin, UPON_RECEIPT, 2025-10-26T00:00+02:00, 2025-10-27T00:00+01:00",
    "Europe/Berlin, NET30, 2025-03-01T12:00+01:00, 2025-04-01T00:00+02:00",
    // Apia had no December 30: the 29th ends where the 31st begins.
    "Pacific/Apia, UPON_RECEIPT, 2011-12-29T12:00-10:00, 2011-12-31T00:00+14:00",
  })
  void paymentIsDueByTheEndOfTheLastDay(ZoneId zone, NetTerms terms, String issue, String tooLate) {
    Instant due =
        InvoiceDrafting.dueDate(OffsetDateTime.parse(issue).toInstant(), terms, false, zone);

    assertThat(due).isEqualTo(OffsetDateTime.parse(tooLate).toInstant().minusMillis(1));
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource({
    "0.005 0.005, 0.02", // each line is rounded, then they are added
    "0.004 0.004 0.004, 0.00",
    "49.99 0.015, 50.01",
    "1.005 1.005 1.005, 3.03",
  })
  void theTotalIsTheSumOfRoundedLines(String prices, String total) {
    String[] each = prices.split(" ");
    PriceTerms[] terms = new PriceTerms[each.length];
    for (int i = 0; i < each.length; i++) {
      terms[i] = usage(i + 1, BillingMode.ADVANCE, PriceType.UNIT, rules("1", each[i]));
    }
    BillingPeriod period = period("2025-01-01T00:00Z", "2025-02-01T00:00Z");

    BigDecimal sum = InvoiceDrafting.total(advance(plan(false, terms), period, period));

    assertThat(sum).isEqualTo(decimal(total));
  }
}
