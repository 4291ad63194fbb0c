package io.steelyard.domain;

import static io.steelyard.domain.BillingCadence.ANNUALLY;
import static io.steelyard.domain.BillingCadence.MONTHLY;
import static io.steelyard.domain.BillingCadence.ONE_TIME;
import static io.steelyard.domain.BillingCadence.QUARTERLY;
import static io.steelyard.domain.Examples.LONG_AGO;
import static io.steelyard.domain.Examples.active;
import static io.steelyard.domain.Examples.base;
import static io.steelyard.domain.Examples.id;
import static io.steelyard.domain.Examples.plan;
import static io.steelyard.domain.Examples.rules;
import static io.steelyard.domain.Examples.usage;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.BillableTerms.RulesVersion;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PlanTermsTest {
  private static final Instant CHANGE = Instant.parse("2024-04-10T00:00:00Z");
  private static final PriceTerms MONTH = base(1, MONTHLY, "49");
  private static final PriceTerms YEAR = base(2, ANNUALLY, "490");
  private static final PriceTerms FIRST = metered(3);
  private static final PriceTerms SECOND = metered(4);

  @Test
  void pricesOfAPeriodAreTheBasePriceOfItsCadenceAndThenTheRestByPosition() {
    PlanTerms plan = plan(false, SECOND, YEAR, FIRST, MONTH);

    assertThat(plan.pricesFor(MONTHLY, CHANGE)).containsExactly(MONTH, FIRST, SECOND);
    assertThat(plan.pricesFor(ANNUALLY, CHANGE)).containsExactly(YEAR, FIRST, SECOND);
    assertThat(plan.pricesFor(QUARTERLY, CHANGE)).containsExactly(FIRST, SECOND);
  }

  @Test
  void aPeriodKeepsThePricesThatWereActiveWhenItOpened() {
    PriceTerms old = active(MONTH, LONG_AGO, CHANGE);
    PriceTerms current = active(base(9, MONTHLY, "59"), CHANGE, null);
    PlanTerms plan = plan(false, old, current);

    assertThat(plan.pricesFor(MONTHLY, LONG_AGO.minusMillis(1))).isEmpty();
    assertThat(plan.pricesFor(MONTHLY, LONG_AGO)).containsExactly(old);
    assertThat(plan.pricesFor(MONTHLY, CHANGE.minusMillis(1))).containsExactly(old);
    assertThat(plan.pricesFor(MONTHLY, CHANGE)).containsExactly(current);
  }

  @Test
  void aPeriodKeepsTheRulesThatWereInForceWhenItOpened() {
    EventRules old = new EventRules(List.of(), Calculation.COUNT, null);
    EventRules current = new EventRules(List.of(), Calculation.SUM, "data.n");
    Instant end = CHANGE.plusSeconds(60);
    BillableTerms billable =
        new BillableTerms(
            id(IdKind.BILLABLE, 1),
            "b",
            "B",
            "",
            "",
            List.of(
                new RulesVersion(old, LONG_AGO, CHANGE),
                new RulesVersion(current, CHANGE, end),
                new RulesVersion(null, end, null)));

    assertThat(billable.rulesAt(LONG_AGO.minusMillis(1))).isEmpty();
    assertThat(billable.rulesAt(LONG_AGO)).contains(old);
    assertThat(billable.rulesAt(CHANGE.minusMillis(1))).contains(old);
    assertThat(billable.rulesAt(CHANGE)).contains(current);
    assertThat(billable.rulesAt(end)).isEmpty();
  }

  @Test
  void defaultCadenceIsTheFirstWithAnActiveBasePrice() {
    PriceTerms once = base(5, ONE_TIME, "99");
    PriceTerms quarter = base(6, QUARTERLY, "140");

    assertThat(plan(false, once, YEAR, quarter, MONTH).defaultCadence(CHANGE)).contains(MONTHLY);
    assertThat(plan(false, once, YEAR, quarter).defaultCadence(CHANGE)).contains(QUARTERLY);
    assertThat(plan(false, once, YEAR).defaultCadence(CHANGE)).contains(ANNUALLY);
    assertThat(plan(false, once, FIRST).defaultCadence(CHANGE)).contains(ONE_TIME);
    assertThat(plan(false, FIRST).defaultCadence(CHANGE)).isEmpty();
    assertThat(plan(false, active(MONTH, LONG_AGO, CHANGE), YEAR).defaultCadence(CHANGE))
        .contains(ANNUALLY);
  }

  @Test
  void allocationsAreThoseActiveThen() {
    AllocationTerms old = allocation(1, LONG_AGO, CHANGE);
    AllocationTerms current = allocation(2, CHANGE, null);
    PlanTerms plan =
        new PlanTerms(
            id(IdKind.PLAN, 1),
            "pro",
            "Pro",
            Currency.USD,
            NetTerms.NET30,
            false,
            true,
            0,
            false,
            List.of(),
            List.of(old, current),
            Map.of());

    assertThat(plan.allocationsAt(CHANGE.minusMillis(1))).containsExactly(old);
    assertThat(plan.allocationsAt(CHANGE)).containsExactly(current);
    assertThat(plan.allocationsAt(LONG_AGO.minusMillis(1))).isEmpty();
  }

  @Test
  void whatIsAboutToChangeWithinTheTimeGivenHasChanged() {
    Duration soon = Duration.ofSeconds(5);
    PlanTerms plan = plan(false, active(MONTH, LONG_AGO, CHANGE), active(YEAR, CHANGE, null));

    assertThat(plan.changedWithin(CHANGE.minusSeconds(5), soon)).isEqualTo(CHANGE);
    assertThat(plan.changedWithin(CHANGE.minusMillis(1), soon)).isEqualTo(CHANGE);
    for (Instant t : List.of(CHANGE, CHANGE.minusMillis(5001), CHANGE.plusMillis(1), LONG_AGO)) {
      assertThat(plan.changedWithin(t, soon)).isEqualTo(t);
    }
    assertThat(plan(false).changedWithin(CHANGE, soon)).isEqualTo(CHANGE);
  }

  private static PriceTerms metered(int number) {
    return usage(number, BillingMode.ARREARS, PriceType.UNIT, rules("1", "1"));
  }

  private static AllocationTerms allocation(int number, Instant from, Instant until) {
    return new AllocationTerms(
        id(IdKind.PRICE, number),
        id(IdKind.CUSTOM_PRICING_UNIT, 1),
        BigDecimal.TEN,
        MONTHLY,
        null,
        from,
        until);
  }
}
