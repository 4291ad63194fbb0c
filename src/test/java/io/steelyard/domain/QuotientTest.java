package io.steelyard.domain;

import static io.steelyard.domain.Examples.decimal;
import static io.steelyard.domain.Examples.quotient;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.math.BigDecimal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QuotientTest {
  private static final Quotient THIRD = new Quotient(BigDecimal.ONE, decimal("3"));

  @Test
  void threeThirdsAreOne() {
    assertThat(THIRD.times(decimal("3")).toDecimal()).isEqualByComparingTo("1");
    assertThat(THIRD.dividedBy(THIRD).toDecimal()).isEqualByComparingTo("1");
    assertThat(THIRD.plus(decimal("1")).minus(decimal("0.5")).times(decimal("6")).toDecimal())
        .isEqualByComparingTo("5");
    assertThat(THIRD.dividedBy(decimal("0.25")).times(decimal("3")).toDecimal())
        .isEqualByComparingTo("4");
  }

  @ParameterizedTest
  @CsvSource({
    "1, 3, 0.3333333333333333333333333333333333, 1",
    "-2, 3, -0.6666666666666666666666666666666667, 0",
    "1, 8, 0.125, 1",
    "9, 3, 3, 3",
    "0, 7, 0, 0",
    "12345678901234567890123456789012345678901234567890.1, 1,"
        + " 12345678901234567890123456789012345678901234567890.1,"
        + " 12345678901234567890123456789012345678901234567891",
  })
  void decimalsAreExactOrHave34Digits(
      String dividend, String divisor, String decimal, String ceiling) {
    Quotient quotient = new Quotient(decimal(dividend), decimal(divisor));

    assertThat(quotient.toDecimal()).isEqualByComparingTo(decimal);
    assertThat(quotient.ceiling()).isEqualByComparingTo(ceiling);
  }

  @Test
  void comparesAsItIs() {
    assertThat(THIRD.compareTo(THIRD.toDecimal())).isPositive();
    assertThat(THIRD.compareTo(decimal("0.34"))).isNegative();
    assertThat(quotient("0.50").compareTo(decimal("0.5"))).isZero();
    assertThat(THIRD.signum()).isPositive();
    assertThat(Quotient.ZERO.signum()).isZero();
  }

  @ParameterizedTest
  @CsvSource({"0", "-1"})
  void aDivisorIsAboveZero(String divisor) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Quotient(BigDecimal.ONE, decimal(divisor)))
        .withMessageContaining(divisor);
  }
}
