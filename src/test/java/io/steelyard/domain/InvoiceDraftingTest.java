package io.steelyard.domain;

import static io.steelyard.domain.BillingCadence.MONTHLY;
import static io.steelyard.domain.BillingCadence.ONE_TIME;
import static io.steelyard.domain.BillingMode.ADVANCE;
import static io.steelyard.domain.BillingMode.ARREARS;
import static io.steelyard.domain.Examples.active;
import static io.steelyard.domain.Examples.base;
import static io.steelyard.domain.Examples.decimal;
import static io.steelyard.domain.Examples.inUnits;
import static io.steelyard.domain.Examples.limited;
import static io.steelyard.domain.Examples.plan;
import static io.steelyard.domain.Examples.rules;
import static io.steelyard.domain.Examples.tier;
import static io.steelyard.domain.Examples.usage;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.InvoiceBasis.Closed;
import io.steelyard.domain.InvoiceBasis.Opened;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InvoiceDraftingTest {
  private static final Instant START = Instant.parse("2024-04-01T00:00:00Z");
  private static final Instant END = Instant.parse("2024-05-01T00:00:00Z");
  private static final BillingPeriod APRIL = new BillingPeriod(3, START, END, false);
  private static final BillingPeriod TRIAL = new BillingPeriod(0, START, END, true);
  private static final PriceTerms BASE = base(1, MONTHLY, "49");
  private static final PriceTerms SEATS = usage(2, ADVANCE, PriceType.UNIT, rules("5", "12"));
  private static final PriceTerms CALLS = usage(3, ARREARS, PriceType.UNIT, rules("1000", "2"));

  @Test
  void inAdvanceThereIsTheBasePriceAndWhatElseIsChargedInAdvance() {
    PriceTerms yearly = base(4, BillingCadence.ANNUALLY, "490");
    PriceTerms credits = inUnits(usage(5, ADVANCE, PriceType.UNIT, rules("1", "1")));
    PriceTerms replaced = active(base(6, MONTHLY, "39"), Examples.LONG_AGO, START);

    List<InvoiceLine> lines =
        advance(plan(false, CALLS, credits, SEATS, yearly, replaced, BASE), APRIL, APRIL);

    assertThat(lines).hasSize(2);
    assertLine(lines.get(0), BASE, "Pro (monthly)", "1", "49", "49", "49.00");
    assertLine(lines.get(1), SEATS, "usage 2", "5", "2.4", "12", "12.00");
    assertThat(lines)
        .allSatisfy(
            line -> {
              assertThat(line.start()).isEqualTo(START);
              assertThat(line.end()).isEqualTo(END);
            });
    assertThat(InvoiceDrafting.total(lines)).isEqualTo(decimal("61.00"));
  }

  @Test
  void aTieredPriceInAdvanceShowsWhatOneUnitOfItCosts() {
    PriceTerms tiered =
        usage(2, ADVANCE, PriceType.TIERED, rules("10", null, tier(null, "20", "5")));

    List<InvoiceLine> lines = advance(plan(false, tiered), APRIL, APRIL);

    assertLine(lines.get(0), tiered, "usage 2", "10", "2.5", "25", "25.00");
  }

  @ParameterizedTest
  @CsvSource({
    // plan charges usage during the trial, amount of the price in advance, its description
    "false, 0, 0.00, usage 2 (trial)",
    "true, 12, 12.00, usage 2",
  })
  void aTrialChargesNoFixedPriceAndUsageOnlyWhereThePlanSaysSo(
      boolean chargeUsage, String exact, String cents, String description) {
    List<InvoiceLine> lines = advance(plan(chargeUsage, BASE, SEATS), TRIAL, TRIAL);

    assertThat(lines).hasSize(2);
    assertLine(lines.get(0), BASE, "Pro (monthly) (trial)", "1", "49", "0", "0.00");
    assertLine(lines.get(1), SEATS, description, "5", "2.4", exact, cents);
  }

  @ParameterizedTest
  @CsvSource({
    // price, period, end date, cents
    "49, 2024-04-01T00:00:00Z, 2024-05-01T00:00:00Z, 2024-04-11T00:00:00Z, 16.33",
    "30, 2024-04-01T00:00:00Z, 2024-05-01T00:00:00Z, 2024-04-30T23:59:59.999Z, 30.00",
    "30, 2024-04-01T00:00:00Z, 2024-05-01T00:00:00Z, 2024-04-01T00:00:00.001Z, 0.00",
    "30, 2024-04-01T00:00:00Z, 2024-05-01T00:00:00Z, 2024-04-16T12:00:00Z, 15.50",
    // A third of 1.5 cents is half a cent, which a rounded third would miss.
    "0.015, 2024-04-01T00:00:00Z, 2024-05-01T00:00:00Z, 2024-04-11T00:00:00Z, 0.01",
    // March in New York has 743 hours, its first ten days 239: 49 * 239 / 743.
    "49, 2024-03-01T05:00:00Z, 2024-04-01T04:00:00Z, 2024-03-11T04:00:00Z, 15.76",
  })
  void aPeriodCutShortChargesItsShareOfTime(
      String price, Instant start, Instant end, Instant endDate, String cents) {
    BillingPeriod full = new BillingPeriod(1, start, end, false);

    InvoiceLine line =
        advance(plan(false, base(1, MONTHLY, price)), full, full.clippedTo(endDate)).getFirst();

    assertThat(line.amount()).isEqualTo(decimal(cents));
    assertThat(line.quantity()).isEqualByComparingTo("1");
    assertThat(line.unitPrice()).isEqualByComparingTo(price);
    assertThat(line.start()).isEqualTo(start);
    assertThat(line.end()).isEqualTo(endDate);
  }

  @Test
  void sharesOfOnePeriodAddUpToItsPrice() {
    BillingPeriod first = APRIL.clippedTo(Instant.parse("2024-04-11T03:04:05.678Z"));
    BillingPeriod rest = new BillingPeriod(3, first.end(), END, false);
    PlanTerms plan = plan(false, base(1, MONTHLY, "0.07"));

    BigDecimal together =
        Money.sum(
            List.of(
                advance(plan, APRIL, first).getFirst().exactAmount(),
                advance(plan, APRIL, rest).getFirst().exactAmount()));

    assertThat(together).isCloseTo(decimal("0.07"), Offset.offset(decimal("1E-30")));
  }

  @Test
  void whatIsChargedOnceIsChargedWholeHoweverSoonItEnds() {
    PriceTerms once = base(1, ONE_TIME, "99");
    BillingPeriod endless = new BillingPeriod(0, START, BillingPeriod.END_OF_TIME, false);

    List<InvoiceLine> lines =
        InvoiceDrafting.lines(
            new InvoiceBasis(
                plan(false, once),
                ONE_TIME,
                false,
                new Opened(endless, endless.clippedTo(END), START),
                null,
                List.of()));

    assertLine(lines.getFirst(), once, "Pro (oneTime)", "1", "99", "99", "99.00");
  }

  @Test
  void inArrearsEveryMeteredPriceInCurrencyHasALine() {
    PriceTerms bulk = usage(4, ARREARS, PriceType.BULK, rules("1000", "2"));
    PriceTerms credits = inUnits(usage(5, ARREARS, PriceType.UNIT, rules("1", "1")));
    PriceTerms unused = usage(6, ARREARS, PriceType.UNIT, rules("1", "1"));
    PlanTerms plan = plan(false, BASE, SEATS, CALLS, bulk, credits, unused);

    List<InvoiceLine> lines =
        arrears(
            plan,
            APRIL,
            false,
            Map.of(
                CALLS.billableId(), decimal("1502.5"),
                bulk.billableId(), decimal("1502.5"),
                credits.billableId(), decimal("10")));

    assertThat(lines).hasSize(3);
    assertLine(lines.get(0), CALLS, "usage 3", "1502.5", "0.002", "3.005", "3.01");
    assertLine(lines.get(1), bulk, "usage 4", "1502.5", "0.002", "4", "4.00");
    assertLine(lines.get(2), unused, "usage 6", "0", "1", "0", "0.00");
    assertThat(InvoiceDrafting.total(lines)).isEqualTo(decimal("7.01"));
  }

  @Test
  void aLineOfUsageNamesItsPeriod() {
    BillingPeriod clipped = APRIL.clippedTo(START.plusSeconds(3600));

    InvoiceLine line = arrears(plan(false, CALLS), clipped, false, Map.of()).getFirst();

    assertThat(line.start()).isEqualTo(START);
    assertThat(line.end()).isEqualTo(START.plusSeconds(3600));
  }

  @ParameterizedTest
  @CsvSource({
    // usage, of which 100 are included; average price of a charged unit; amount
    "50, 0, 0",
    "100, 0, 0",
    "110, 1.5, 15",
    "130, 0.8333333333333333333333333333333333, 25",
  })
  void aTieredLineShowsTheAverageOfWhatIsCharged(String used, String unitPrice, String amount) {
    PriceRules rules = rules("1", null, tier("10", "1", "5"), tier(null, "0.5", null));
    PriceTerms tiered = limited(usage(3, ARREARS, PriceType.TIERED, rules), "100", null, false);

    InvoiceLine line =
        arrears(plan(false, tiered), APRIL, false, Map.of(tiered.billableId(), decimal(used)))
            .getFirst();

    assertLine(line, tiered, "usage 3", used, unitPrice, amount, amount + ".00");
  }

  @Test
  void usageOfATrialIsChargedOnlyWhenAskedFor() {
    PlanTerms plan = plan(false, CALLS);
    Map<Id, BigDecimal> used = Map.of(CALLS.billableId(), decimal("1000"));

    assertThat(arrears(plan, TRIAL, false, used)).isEmpty();
    assertLine(
        arrears(plan, TRIAL, true, used).getFirst(),
        CALLS,
        "usage 3",
        "1000",
        "0.002",
        "2",
        "2.00");
  }

  @Test
  void theTotalIsTheSumOfTheRoundedLines() {
    PriceTerms[] prices = new PriceTerms[3];
    for (int i = 0; i < prices.length; i++) {
      prices[i] = usage(i + 1, ADVANCE, PriceType.UNIT, rules("1", "0.335"));
    }

    List<InvoiceLine> lines = advance(plan(false, prices), APRIL, APRIL);

    // Rounding the exact sum, 1.005, would give 1.01.
    assertThat(InvoiceDrafting.total(lines)).isEqualTo(decimal("1.02"));
    assertThat(InvoiceDrafting.total(List.of())).isEqualByComparingTo("0");
  }

  @ParameterizedTest
  @CsvSource({
    "2024-02-01T03:00:00Z, NET30, UTC, 2024-03-02T23:59:59.999Z",
    "2024-02-01T03:00:00Z, UPON_RECEIPT, UTC, 2024-02-01T23:59:59.999Z",
    // Still January 31 there; thirty days later is March 1.
    "2024-02-01T03:00:00Z, NET30, America/New_York, 2024-03-02T04:59:59.999Z",
    // Ninety days later daylight saving has begun.
    "2024-01-15T12:00:00Z, NET90, America/New_York, 2024-04-15T03:59:59.999Z",
    // Already January 2 there.
    "2024-01-01T12:00:00Z, NET60, Pacific/Kiritimati, 2024-03-02T09:59:59.999Z",
    // The last hour of 2018-02-17 occurs twice: the day ends with the second.
    "2018-02-17T12:00:00Z, UPON_RECEIPT, America/Sao_Paulo, 2018-02-18T02:59:59.999Z",
    // 2018-11-04 has no midnight.
    "2018-11-03T12:00:00Z, UPON_RECEIPT, America/Sao_Paulo, 2018-11-04T02:59:59.999Z",
  })
  void dueAtTheEndOfTheMerchantsDay(Instant issue, NetTerms terms, ZoneId zone, Instant due) {
    assertThat(InvoiceDrafting.dueDate(issue, terms, false, zone)).isEqualTo(due);
  }

  @ParameterizedTest
  @CsvSource({
    "0, , LIVE, PAID",
    "0.00, CARD_GATEWAY, LIVE, PAID",
    "0, LEDGER_A, TEST, PAID",
    "0.01, CARD_GATEWAY, LIVE, READY_TO_SYNC",
    "0.01, LEDGER_B, TEST, READY_TO_SYNC",
    "0.01, , TEST, TEST",
    "0.01, , LIVE, ISSUED",
  })
  void finalStatusDependsOnTotalGatewayAndEnvironment(
      String total, PaymentGateway gateway, Environment environment, InvoiceStatus status) {
    assertThat(InvoiceDrafting.finalStatus(decimal(total), gateway, environment)).isEqualTo(status);
  }

  @Test
  void chargedAutomaticallyItIsDueAtOnce() {
    assertThat(InvoiceDrafting.dueDate(START, NetTerms.NET90, true, ZoneId.of("UTC")))
        .isEqualTo(START);
  }

  @ParameterizedTest
  @CsvSource({
    // usage now, billed before, adjustment
    "1502.5, 3.00, 0.01", // 3.005 rounds to 3.01
    "2000, 3.01, 0.99",
    "500, 3.01, -2.01",
  })
  void anEarlierPeriodIsCorrectedByTheDifferenceOfRoundedAmounts(
      String used, String billed, String adjustment) {
    InvoiceLine line = rebill(CALLS, decimal(used), decimal(billed)).getFirst();

    assertThat(line.kind()).isEqualTo(LineKind.ADJUSTMENT);
    assertThat(line.periodIndex()).isEqualTo(3);
    assertThat(line.start()).isEqualTo(START);
    assertThat(line.end()).isEqualTo(END);
    assertThat(line.quantity()).isEqualByComparingTo(used);
    assertThat(line.amount()).isEqualTo(decimal(adjustment));
  }

  @Test
  void whatWasBilledRightIsNotCorrected() {
    assertThat(rebill(CALLS, decimal("1502.5"), decimal("3.01"))).isEmpty();
  }

  private static List<InvoiceLine> rebill(PriceTerms price, BigDecimal used, BigDecimal billed) {
    return InvoiceDrafting.lines(
        new InvoiceBasis(
            plan(false, BASE, price),
            MONTHLY,
            false,
            null,
            null,
            List.of(
                new InvoiceBasis.Rebilled(
                    new Opened(APRIL, APRIL, START),
                    Map.of(price.billableId(), sum(used)),
                    true,
                    false,
                    Map.of(price.id(), billed)))));
  }

  private static List<InvoiceLine> advance(
      PlanTerms plan, BillingPeriod full, BillingPeriod clipped) {
    return InvoiceDrafting.lines(
        new InvoiceBasis(
            plan,
            MONTHLY,
            plan.chargeUsageDuringTrial(),
            new Opened(full, clipped, full.start()),
            null,
            List.of()));
  }

  private static List<InvoiceLine> arrears(
      PlanTerms plan, BillingPeriod period, boolean chargeUsage, Map<Id, BigDecimal> quantities) {
    Map<Id, UsageTotal> usage = new HashMap<>();
    quantities.forEach((billable, quantity) -> usage.put(billable, sum(quantity)));
    return InvoiceDrafting.lines(
        new InvoiceBasis(
            plan,
            MONTHLY,
            chargeUsage,
            null,
            new Closed(period, period.start(), usage),
            List.of()));
  }

  private static UsageTotal sum(BigDecimal quantity) {
    UsageTotal.Tally tally = new UsageTotal.Tally(UsageTotal.NONE);
    tally.add(quantity, START, new UUID(0, 1), false);
    return tally.total();
  }

  private static void assertLine(
      InvoiceLine line,
      PriceTerms price,
      String description,
      String quantity,
      String unitPrice,
      String exactAmount,
      String amount) {
    assertThat(line.price()).isEqualTo(price);
    assertThat(line.description()).isEqualTo(description);
    assertThat(line.quantity()).isEqualByComparingTo(quantity);
    assertThat(line.unitPrice()).isEqualByComparingTo(unitPrice);
    assertThat(line.exactAmount()).isEqualByComparingTo(exactAmount);
    assertThat(line.amount()).isEqualTo(decimal(amount));
  }
}
