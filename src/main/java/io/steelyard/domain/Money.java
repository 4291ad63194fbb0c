package io.steelyard.domain;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Collection;

/** Arithmetic of amounts. */
public final class Money {
  private Money() {}

  /** Rounded to the cent, halves away from zero. The only place where money is rounded. */
  public static BigDecimal toCents(Quotient exact) {
    return exact.rounded(2, RoundingMode.HALF_UP);
  }

  public static BigDecimal sum(Collection<BigDecimal> amounts) {
    return amounts.stream().reduce(BigDecimal.ZERO, BigDecimal::add);
  }
}
