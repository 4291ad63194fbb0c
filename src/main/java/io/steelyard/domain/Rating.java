package io.steelyard.domain;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Iterator;

/** What a quantity costs under a price: exact, never rounded to cents. */
public final class Rating {
  private Rating() {}

  /**
   * The part of a period's quantity that is charged: what lies above the limit and not above
   * maxUsage, and nothing where overage is blocked.
   */
  public static BigDecimal chargedQuantity(PriceTerms price, BigDecimal quantity) {
    BigDecimal counted = price.maxUsage() == null ? quantity : quantity.min(price.maxUsage());
    if (price.limit() == null) {
      return counted.max(BigDecimal.ZERO);
    }
    return price.blockOverage()
        ? BigDecimal.ZERO
        : counted.subtract(price.limit()).max(BigDecimal.ZERO);
  }

  /** The amount of an already reduced quantity, in currency or in the price's unit. */
  public static BigDecimal amount(PriceTerms price, BigDecimal chargedQuantity) {
    if (chargedQuantity.signum() <= 0) {
      return BigDecimal.ZERO;
    }
    PriceRules rules = price.rules();
    return switch (price.type()) {
      case UNIT -> Money.divide(chargedQuantity.multiply(rules.price()), rules.quantity());
      case BULK ->
          chargedQuantity.divide(rules.quantity(), 0, RoundingMode.CEILING).multiply(rules.price());
      case TIERED -> tiered(rules, chargedQuantity);
      case VOLUME -> volume(rules, chargedQuantity);
    };
  }

  private static BigDecimal tiered(PriceRules rules, BigDecimal quantity) {
    BigDecimal weighted = BigDecimal.ZERO;
    BigDecimal fees = BigDecimal.ZERO;
    BigDecimal below = BigDecimal.ZERO;
    Iterator<PriceRules.Tier> tiers = rules.tiers().iterator();
    while (below.compareTo(quantity) < 0) {
      PriceRules.Tier tier = tiers.next();
      BigDecimal upTo = reaches(tier, quantity, !tiers.hasNext()) ? quantity : tier.upTo();
      weighted = weighted.add(upTo.subtract(below).multiply(tier.price()));
      fees = fees.add(tier.flatFee());
      below = upTo;
    }
    // Divided once, at the end, so that no slice is rounded by itself.
    return Money.divide(weighted, rules.quantity()).add(fees);
  }

  private static BigDecimal volume(PriceRules rules, BigDecimal quantity) {
    Iterator<PriceRules.Tier> tiers = rules.tiers().iterator();
    PriceRules.Tier tier = tiers.next();
    while (!reaches(tier, quantity, !tiers.hasNext())) {
      tier = tiers.next();
    }
    return Money.divide(quantity.multiply(tier.price()), rules.quantity()).add(tier.flatFee());
  }

  private static boolean reaches(PriceRules.Tier tier, BigDecimal quantity, boolean last) {
    return last || quantity.compareTo(tier.upTo()) <= 0;
  }

  /** The amount of a period's whole quantity. */
  public static BigDecimal usageAmount(PriceTerms price, BigDecimal quantity) {
    return amount(price, chargedQuantity(price, quantity));
  }

  /** What a price in advance costs per period: one {@code rules.quantity}. */
  public static BigDecimal advanceAmount(PriceTerms price) {
    return amount(price, price.rules().quantity());
  }

  /** Whether a customer with this usage may use the billable on. */
  public static boolean accessAt(PriceTerms price, BigDecimal quantity) {
    boolean blocked =
        price.blockOverage() && price.limit() != null && quantity.compareTo(price.limit()) > 0;
    boolean exhausted = price.maxUsage() != null && quantity.compareTo(price.maxUsage()) >= 0;
    return !blocked && !exhausted;
  }
}
