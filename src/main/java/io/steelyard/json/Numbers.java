package io.steelyard.json;

import java.math.BigDecimal;
import java.math.BigInteger;

/** Exact numbers out of JSON literals, within bounds that keep arithmetic on them cheap. */
final class Numbers {
  static final int DIGITS_MAX = 64;
  static final int EXPONENT_MAX = 100;

  private static final BigInteger INT_MIN = BigInteger.valueOf(Integer.MIN_VALUE);
  private static final BigInteger INT_MAX = BigInteger.valueOf(Integer.MAX_VALUE);
  private static final int LONG_BITS = 63;

  private Numbers() {}

  /** Decided on the literal, so that no number of a million digits is ever computed. */
  static boolean isInRange(String literal) {
    int digits = 0;
    int i = 0;
    for (; i < literal.length() && !isExponentMark(literal.charAt(i)); i++) {
      if (Character.isDigit(literal.charAt(i))) {
        digits++;
      }
    }
    int exponent = 0;
    for (; i < literal.length() && exponent <= EXPONENT_MAX; i++) {
      if (Character.isDigit(literal.charAt(i))) {
        exponent = exponent * 10 + (literal.charAt(i) - '0');
      }
    }
    return digits <= DIGITS_MAX && exponent <= EXPONENT_MAX;
  }

  /** Whole numbers as such, whatever they look like: JSON Schema takes {@code 1.0} as integer. */
  static Number parse(String literal) {
    BigDecimal number = new BigDecimal(literal);
    if (number.signum() != 0 && number.stripTrailingZeros().scale() > 0) {
      return number;
    }
    BigInteger whole = number.toBigIntegerExact();
    if (whole.compareTo(INT_MIN) >= 0 && whole.compareTo(INT_MAX) <= 0) {
      return whole.intValue();
    }
    return whole.bitLength() <= LONG_BITS ? (Number) whole.longValue() : whole;
  }

  private static boolean isExponentMark(char c) {
    return c == 'e' || c == 'E';
  }
}
