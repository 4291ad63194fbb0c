package io.steelyard.domain;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * A number as two, so that nothing is lost while it is computed with: the average of 2, 2 and 1 is
 * no decimal, and three times 34 digits of it is not 5. Rounded once, by who stores or shows it.
 *
 * @param divisor above zero
 */
public record Quotient(BigDecimal dividend, BigDecimal divisor) {
  public static final Quotient ZERO = of(BigDecimal.ZERO);

  /**
   * @throws IllegalArgumentException where the divisor is not above zero
   */
  public Quotient {
    if (divisor.signum() <= 0) {
      throw new IllegalArgumentException("a divisor must be above zero, and is " + divisor);
    }
  }

  public static Quotient of(BigDecimal decimal) {
    return new Quotient(decimal, BigDecimal.ONE);
  }

  Quotient plus(BigDecimal number) {
    return new Quotient(dividend.add(number.multiply(divisor)), divisor);
  }

  Quotient minus(BigDecimal number) {
    return plus(number.negate());
  }

  Quotient times(BigDecimal number) {
    return new Quotient(dividend.multiply(number), divisor);
  }

  Quotient dividedBy(BigDecimal number) {
    return new Quotient(dividend, divisor.multiply(number));
  }

  Quotient dividedBy(Quotient other) {
    return times(other.divisor).dividedBy(other.dividend);
  }

  int signum() {
    return dividend.signum();
  }

  /** Below, at or above zero as this is below, at or above the number. */
  int compareTo(BigDecimal number) {
    return dividend.compareTo(number.multiply(divisor));
  }

  /** The least whole number that is not below this. */
  BigDecimal ceiling() {
    return rounded(0, RoundingMode.CEILING);
  }

  BigDecimal rounded(int scale, RoundingMode mode) {
    return dividend.divide(divisor, scale, mode);
  }

  /** As a decimal: exact, or the first 34 digits of one that has no end. */
  public BigDecimal toDecimal() {
    if (divisor.equals(BigDecimal.ONE)) {
      return dividend;
    }
    try {
      return dividend.divide(divisor);
    } catch (ArithmeticException endless) {
      return dividend.divide(divisor, MathContext.DECIMAL128);
    }
  }
}
