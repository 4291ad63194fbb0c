package io.steelyard.domain;

import static io.steelyard.domain.BillingMode.ARREARS;
import static io.steelyard.domain.Examples.decimal;
import static io.steelyard.domain.Examples.limited;
import static io.steelyard.domain.Examples.quotient;
import static io.steelyard.domain.Examples.rules;
import static io.steelyard.domain.Examples.tier;
import static io.steelyard.domain.Examples.usage;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.math.BigDecimal;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class RatingTest {
  private static final PriceRules TIERS =
      rules("1", null, tier("100", "1", "5"), tier("200", "0.5", null), tier(null, "0.1", "10"));

  @ParameterizedTest
  @CsvSource({
    // quantity of the price, its price, usage, amount
    "1, 0.002, 0, 0",
    "1, 0.002, 1, 0.002",
    "1, 0.002, 12345.678, 24.691356",
    "1000, 2, 1, 0.002",
    "1000, 2, 1500, 3",
    "0.5, 3, 2, 12",
    "3, 0.015, 1, 0.005",
    "3, 1, 1, 0.3333333333333333333333333333333333",
    "3, 2, 1, 0.6666666666666666666666666666666667",
    "1, 0.01, 12345678901234567890123456789012345678901234567890.1,"
        + " 123456789012345678901234567890123456789012345678.901",
  })
  void unitChargesEveryFractionOfTheQuantity(
      String quantity, String price, String used, String amount) {
    PriceTerms unit = usage(1, ARREARS, PriceType.UNIT, rules(quantity, price));

    assertThat(Rating.amount(unit, quotient(used)).toDecimal()).isEqualByComparingTo(amount);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "0.001, 2",
    "1, 2",
    "999.999, 2",
    "1000, 2",
    "1000.001, 4",
    "2000, 4",
    "2001, 6",
  })
  void bulkChargesWholePacks(String used, String amount) {
    PriceTerms bulk = usage(1, ARREARS, PriceType.BULK, rules("1000", "2"));

    assertThat(Rating.amount(bulk, quotient(used)).toDecimal()).isEqualByComparingTo(amount);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "0.5, 5.5",
    "1, 6",
    "100, 105",
    "100.5, 105.25",
    "101, 105.5",
    "200, 155",
    "200.1, 165.01",
    "201, 165.1",
    "300, 175",
  })
  void tieredChargesEachSliceAtItsOwnTier(String used, String amount) {
    PriceTerms tiered = usage(1, ARREARS, PriceType.TIERED, TIERS);

    assertThat(Rating.amount(tiered, quotient(used)).toDecimal()).isEqualByComparingTo(amount);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "1, 6",
    "100, 105",
    "100.5, 50.25",
    "101, 50.5",
    "200, 100",
    "201, 30.1",
    "300, 40",
  })
  void volumeChargesAllAtTheTierReached(String used, String amount) {
    PriceTerms volume = usage(1, ARREARS, PriceType.VOLUME, TIERS);

    assertThat(Rating.amount(volume, quotient(used)).toDecimal()).isEqualByComparingTo(amount);
  }

  @ParameterizedTest
  @CsvSource({"TIERED, 15, 2", "VOLUME, 15, 3", "TIERED, 25, 4", "VOLUME, 25, 5"})
  void tierPricesAreForTheQuantityOfThePriceAndTheLastTierHasNoEnd(
      PriceType type, String used, String amount) {
    PriceRules packs = rules("10", null, tier("10", "1", null), tier("20", "2", null));

    assertThat(Rating.amount(usage(1, ARREARS, type, packs), quotient(used)).toDecimal())
        .isEqualByComparingTo(amount);
  }

  @Test
  void slicesThatDoNotDivideAreNotRoundedApart() {
    PriceRules thirds =
        rules("3", null, tier("1", "1", null), tier("2", "1", null), tier(null, "1", null));

    assertThat(
            Rating.amount(usage(1, ARREARS, PriceType.TIERED, thirds), quotient("3")).toDecimal())
        .isEqualByComparingTo("1");
  }

  /** What 34 digits of the average would miss by half a cent, a pack or a tier. */
  @ParameterizedTest
  @CsvSource({
    // sum, events, type, quantity of the price, its price, cents
    "5, 6, UNIT, 1, 0.03, 0.03",
    "1, 3, UNIT, 1, 0.015, 0.01",
    "2, 3, UNIT, 2, 0.015, 0.01",
    "4, 3, BULK, 1, 1, 2.00",
    "1, 7, TIERED, 1, 0.035, 0.01",
    "1, 7, VOLUME, 1, 0.035, 0.01",
  })
  void anAverageIsChargedAsItIs(
      String sum, String events, PriceType type, String quantity, String price, String cents) {
    PriceRules rules = rules(quantity, price, tier(null, price, null));
    Quotient average = new Quotient(decimal(sum), decimal(events));

    assertThat(Money.toCents(Rating.usageAmount(usage(1, ARREARS, type, rules), average)))
        .isEqualTo(decimal(cents));
  }

  @ParameterizedTest
  @CsvSource({
    // sum, events, limit, maxUsage, charged times events, access
    "10, 3, 3, , 1, false",
    "9, 3, 3, , 0, true",
    "8, 3, 3, , 0, true",
    "10, 3, , 3, 9, false",
    "8, 3, , 3, 8, true",
  })
  void limitsAreComparedWithTheAverageAsItIs(
      String sum, String events, String limit, String max, String charged, boolean access) {
    PriceTerms price = usage(1, ARREARS, PriceType.UNIT, rules("1", "2"));
    Quotient average = new Quotient(decimal(sum), decimal(events));

    assertThat(
            Rating.chargedQuantity(limited(price, limit, max, false), average)
                .times(decimal(events))
                .toDecimal())
        .isEqualByComparingTo(charged);
    assertThat(Rating.accessAt(limited(price, limit, max, true), average)).isEqualTo(access);
  }

  @ParameterizedTest
  @CsvSource({
    // limit, maxUsage, blockOverage, usage, charged, access
    ", , false, 5, 5, true",
    ", , true, 5, 5, true",
    ", , false, 0, 0, true",
    ", , false, -3, 0, true",
    "10, , false, 9.9, 0, true",
    "10, , false, 10, 0, true",
    "10, , false, 10.5, 0.5, true",
    "10, , true, 10, 0, true",
    "10, , true, 10.001, 0, false",
    "0, , true, 0, 0, true",
    "0, , true, 1, 0, false",
    ", 100, false, 99.9, 99.9, true",
    ", 100, false, 100, 100, false",
    ", 100, false, 150, 100, false",
    "10, 100, false, 50, 40, true",
    "10, 100, false, 150, 90, false",
    "10, 100, true, 50, 0, false",
    "100, 10, false, 150, 0, false",
  })
  void limitsDecideWhatIsChargedAndWhoMayGoOn(
      String limit, String max, boolean block, String used, String charged, boolean access) {
    PriceTerms price =
        limited(usage(1, ARREARS, PriceType.UNIT, rules("1", "2")), limit, max, block);

    assertThat(Rating.chargedQuantity(price, quotient(used)).toDecimal())
        .isEqualByComparingTo(charged);
    assertThat(Rating.usageAmount(price, quotient(used)).toDecimal())
        .isEqualByComparingTo(decimal(charged).multiply(BigDecimal.TWO));
    assertThat(Rating.accessAt(price, quotient(used))).isEqualTo(access);
  }

  @ParameterizedTest
  @CsvSource({"UNIT, 7", "BULK, 7", "TIERED, 60", "VOLUME, 60"})
  void inAdvanceOneQuantityIsChargedWhateverTheLimit(PriceType type, String amount) {
    PriceRules rules = rules("50", "7", tier(null, "55", "5"));

    assertThat(
            Rating.advanceAmount(limited(usage(1, ARREARS, type, rules), "50", "1", true))
                .toDecimal())
        .isEqualByComparingTo(amount);
  }

  @ParameterizedTest
  @EnumSource(
      value = PriceType.class,
      names = {"UNIT", "BULK", "TIERED"})
  void moreUsageNeverCostsLess(PriceType type) {
    PriceTerms price =
        usage(
            1,
            ARREARS,
            type,
            rules("7", "3", tier("10", "2", "1"), tier("20", "1", "0"), tier(null, "0", "4")));
    Random random = new Random(type.ordinal());
    BigDecimal used = BigDecimal.ZERO;
    BigDecimal amount = BigDecimal.ZERO;
    for (int i = 0; i < 300; i++) {
      used = used.add(BigDecimal.valueOf(random.nextInt(500), 3));
      BigDecimal next = Rating.amount(price, Quotient.of(used)).toDecimal();

      assertThat(next).isGreaterThanOrEqualTo(amount);

      amount = next;
    }
  }

  @Test
  void pricesThatCannotRateAreRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> rules("0", "1"));
    assertThatIllegalArgumentException().isThrownBy(() -> rules("-1", "1"));
    assertThatIllegalArgumentException().isThrownBy(() -> rules("1", "1", tier("0", "1", null)));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> rules("1", "1", tier("5", "1", null), tier("5", "1", null)));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> rules("1", "1", tier(null, "1", null), tier("5", "1", null)));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> rules("1", "1", tier(null, "1", null), tier(null, "1", null)));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> usage(1, ARREARS, PriceType.VOLUME, rules("1", "1")));
  }
}
