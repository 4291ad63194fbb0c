package io.steelyard.domain;

import static io.steelyard.domain.Examples.decimal;
import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class UsageTotalTest {
  private static final Instant NOON = Instant.parse("2024-04-10T12:00:00Z");
  private static final UUID LOW = UUID.fromString("7fffffff-ffff-ffff-ffff-ffffffffffff");
  private static final UUID HIGH = UUID.fromString("80000000-0000-0000-0000-000000000000");
  private static final UUID HIGH_HIGH = UUID.fromString("80000000-0000-0000-8000-000000000000");

  @ParameterizedTest
  @EnumSource(Calculation.class)
  void nothingIsZero(Calculation calculation) {
    assertThat(UsageTotal.NONE.quantity(calculation).toDecimal()).isEqualByComparingTo("0");
  }

  @ParameterizedTest
  @CsvSource({
    "SUM, 4",
    "COUNT, 3",
    "MAX, 7.5",
    "MIN, -5.5",
    "AVERAGE, 1.333333333333333333333333333333333",
    "UNIQUE_COUNT, 2",
    "LATEST, -5.5",
  })
  void everyCalculationHasItsQuantity(Calculation calculation, String quantity) {
    UsageTotal total =
        total(
            contribution("2", NOON, LOW, true),
            contribution("-5.5", NOON.plusMillis(2), LOW, false),
            contribution("7.5", NOON.plusMillis(1), LOW, true));

    assertThat(total.quantity(calculation).toDecimal()).isEqualByComparingTo(quantity);
  }

  @Test
  void allNegativeNumbersHaveANegativeMaximum() {
    UsageTotal total =
        total(contribution("-2", NOON, LOW, false), contribution("-3", NOON, HIGH, false));

    assertThat(total.quantity(Calculation.MAX).toDecimal()).isEqualByComparingTo("-2");
    assertThat(total.quantity(Calculation.MIN).toDecimal()).isEqualByComparingTo("-3");
  }

  @Test
  void latestIsByTheEventsOwnTimeWhateverTheOrder() {
    Contribution earlier = contribution("1", NOON, HIGH, false);
    Contribution later = contribution("2", NOON.plusMillis(1), LOW, false);

    assertThat(total(earlier, later).latest()).isEqualTo(decimal("2"));
    assertThat(total(later, earlier).latest()).isEqualTo(decimal("2"));
  }

  @Test
  void atTheSameTimeTheGreatestKeyIsLatestAsPostgresOrdersKeys() {
    Contribution low = contribution("1", NOON, LOW, false);
    Contribution high = contribution("2", NOON, HIGH, false);
    Contribution highest = contribution("3", NOON, HIGH_HIGH, false);

    assertThat(total(low, high).latestKey()).isEqualTo(HIGH);
    assertThat(total(high, low).latestKey()).isEqualTo(HIGH);
    assertThat(total(highest, high).latestKey()).isEqualTo(HIGH_HIGH);
    assertThat(total(high, highest).latest()).isEqualTo(decimal("3"));
  }

  @Test
  void aContributionWithoutNumberOnlyCounts() {
    UsageTotal total =
        total(new Contribution(null, NOON, LOW, true), new Contribution(null, NOON, HIGH, false));

    assertThat(total)
        .isEqualTo(new UsageTotal(2, BigDecimal.ZERO, null, null, null, null, null, 1));
  }

  @Test
  void aTallyGoesOnFromWhereItWasLookedAt() {
    UsageTotal.Tally tally = new UsageTotal.Tally(total(contribution("4", NOON, HIGH, true)));
    tally.add(decimal("1"), NOON.plusMillis(1), LOW, true);

    assertThat(tally.total())
        .isEqualTo(
            new UsageTotal(
                2,
                decimal("5"),
                decimal("1"),
                decimal("4"),
                decimal("1"),
                NOON.plusMillis(1),
                LOW,
                2));
    assertThat(tally.total()).isEqualTo(tally.total());
    tally.add(decimal("9"), NOON, LOW, false);
    assertThat(tally.total())
        .isEqualTo(
            new UsageTotal(
                3,
                decimal("14"),
                decimal("1"),
                decimal("9"),
                decimal("1"),
                NOON.plusMillis(1),
                LOW,
                2));
  }

  @Test
  void theOrderAndTheGroupingOfEventsMakeNoDifference() {
    Random random = new Random(1);
    List<Contribution> events = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      events.add(
          contribution(
              Integer.toString(random.nextInt(-50, 50)),
              NOON.plusMillis(random.nextInt(5)),
              new UUID(random.nextLong(), random.nextLong()),
              random.nextBoolean()));
    }
    UsageTotal inOrder = UsageTotal.NONE;
    for (Contribution event : events) {
      inOrder = inOrder.merge(total(event));
    }
    for (int i = 0; i < 100; i++) {
      Collections.shuffle(events, random);
      int cut = random.nextInt(events.size() + 1);

      UsageTotal first = total(events.subList(0, cut).toArray(Contribution[]::new));
      UsageTotal second = total(events.subList(cut, events.size()).toArray(Contribution[]::new));

      assertThat(first.merge(second)).isEqualTo(inOrder);
    }
  }

  private static UsageTotal total(Contribution... events) {
    UsageTotal.Tally tally = new UsageTotal.Tally(UsageTotal.NONE);
    for (Contribution event : events) {
      tally.add(event.number(), event.at(), event.key(), event.first());
    }
    return tally.total();
  }

  private record Contribution(BigDecimal number, Instant at, UUID key, boolean first) {}

  private static Contribution contribution(String number, Instant at, UUID key, boolean first) {
    return new Contribution(decimal(number), at, key, first);
  }
}
