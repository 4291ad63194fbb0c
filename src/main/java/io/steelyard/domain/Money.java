package io.steelyard.domain;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Collection;

/** Arithmetic of amounts. */
public final class Money {
  private Money() {}

  /** Rounded to the cent, halves away from zero. The only place where money is rounded. */
  public static BigDecimal toCents(BigDecimal exact) {
    return exact.setScale(2, RoundingMode.HALF_UP);
  }

  public static BigDecimal sum(Collection<BigDecimal> amounts) {
    return amounts.stream().reduce(BigDecimal.ZERO, BigDecimal::add);
  }

  /** The exact quotient, or 34 digits of one that has no end. */
  static BigDecimal divide(BigDecimal dividend, BigDecimal divisor) {
    try {
      return dividend.divide(divisor);
    } catch (ArithmeticException endless) {
      return dividend.divide(divisor, MathContext.DECIMAL128);
    }
  }
}
