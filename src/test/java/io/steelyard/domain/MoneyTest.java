package io.steelyard.domain;

import static io.steelyard.domain.Examples.decimal;
import static io.steelyard.domain.Examples.quotient;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MoneyTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0.00",
    "49, 49.00",
    "0.004, 0.00",
    "0.0049999999999999999999999999999999999, 0.00",
    "0.005, 0.01",
    "0.015, 0.02",
    "0.025, 0.03",
    "1.005, 1.01",
    "2.675, 2.68",
    "-0.004, 0.00",
    "-0.005, -0.01",
    "1E+3, 1000.00",
    "123456789012345678901234567890.125, 123456789012345678901234567890.13",
  })
  void halvesOfACentAreRoundedAwayFromZero(String exact, String cents) {
    assertThat(Money.toCents(quotient(exact))).isEqualTo(decimal(cents));
  }

  @ParameterizedTest
  @CsvSource({
    "1, 3, 0.33",
    "2, 3, 0.67",
    "0.045, 9, 0.01",
    "-0.045, 9, -0.01",
    "0.0449999999999999999999999999999999999999999999999999999999999999, 9, 0.00",
    "1E+40, 3, 3333333333333333333333333333333333333333.33",
  })
  void whatHasNoEndIsRoundedOnce(String dividend, String divisor, String cents) {
    assertThat(Money.toCents(new Quotient(decimal(dividend), decimal(divisor))))
        .isEqualTo(decimal(cents));
  }

  @Test
  void sumsAreExact() {
    assertThat(Money.sum(List.of())).isEqualByComparingTo("0");
    assertThat(Money.sum(List.of(decimal("0.1"), decimal("0.2"), decimal("-1E-30"))))
        .isEqualByComparingTo("0.299999999999999999999999999999");
  }
}
