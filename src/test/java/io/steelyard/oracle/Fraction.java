package io.steelyard.oracle;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;

/** A rational number, so that the oracle rounds nothing but cents. */
record Fraction(BigInteger over, BigInteger under) implements Comparable<Fraction> {
  static final Fraction ZERO = of(BigDecimal.ZERO);

  static Fraction of(BigDecimal decimal) {
    return new Fraction(decimal.unscaledValue(), BigInteger.ONE)
        .times(power(Math.max(0, -decimal.scale())))
        .dividedBy(power(Math.max(0, decimal.scale())));
  }

  static Fraction of(long number) {
    return new Fraction(BigInteger.valueOf(number), BigInteger.ONE);
  }

  private static Fraction power(int exponent) {
    return new Fraction(BigInteger.TEN.pow(exponent), BigInteger.ONE);
  }

  Fraction plus(Fraction other) {
    return new Fraction(
        over.multiply(other.under).add(other.over.multiply(under)), under.multiply(other.under));
  }

  Fraction minus(Fraction other) {
    return plus(new Fraction(other.over.negate(), other.under));
  }

  Fraction times(Fraction other) {
    return new Fraction(over.multiply(other.over), under.multiply(other.under));
  }

  /**
   * @param other above zero
   */
  Fraction dividedBy(Fraction other) {
    return new Fraction(over.multiply(other.under), under.multiply(other.over));
  }

  Fraction min(Fraction other) {
    return compareTo(other) <= 0 ? this : other;
  }

  Fraction max(Fraction other) {
    return compareTo(other) >= 0 ? this : other;
  }

  boolean isPositive() {
    return over.signum() > 0;
  }

  Fraction roundedUp() {
    BigInteger[] parts = over.divideAndRemainder(under);
    BigInteger whole = parts[1].signum() > 0 ? parts[0].add(BigInteger.ONE) : parts[0];
    return new Fraction(whole, BigInteger.ONE);
  }

  /** Halves go away from zero. */
  BigDecimal toCents() {
    return decimal(2);
  }

  BigDecimal decimal(int scale) {
    return new BigDecimal(over).divide(new BigDecimal(under), scale, RoundingMode.HALF_UP);
  }

  @Override
  public int compareTo(Fraction other) {
    return over.multiply(other.under).compareTo(other.over.multiply(under));
  }
}
