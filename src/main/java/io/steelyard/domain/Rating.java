package io.steelyard.domain;

import java.math.BigDecimal;
import java.util.Iterator;

/** What a quantity costs under a price: exact, never rounded. */
public final class Rating {
  private Rating() {}

  /**
   * The part of a period's quantity that is charged: what lies above the limit and not above
   * maxUsage, and nothing where overage is blocked.
   */
  public static Quotient chargedQuantity(PriceTerms price, Quotient quantity) {
    if (price.limit() != null && price.blockOverage()) {
      return Quotient.ZERO;
    }
    boolean above = price.maxUsage() != null && quantity.compareTo(price.maxUsage()) > 0;
    Quotient counted = above ? Quotient.of(price.maxUsage()) : quantity;
    Quotient charged = price.limit() == null ? counted : counted.minus(price.limit());
    return charged.signum() < 0 ? Quotient.ZERO : charged;
  }

  /** The amount of an already reduced quantity, in currency or in the price's unit. */
  public static Quotient amount(PriceTerms price, Quotient chargedQuantity) {
    if (chargedQuantity.signum() <= 0) {
      return Quotient.ZERO;
    }
    PriceRules rules = price.rules();
    return switch (price.type()) {
      case UNIT -> chargedQuantity.times(rules.price()).dividedBy(rules.quantity());
      case BULK -> {
        BigDecimal packs = chargedQuantity.dividedBy(rules.quantity()).ceiling();
        yield Quotient.of(packs.multiply(rules.price()));
      }
      case TIERED -> tiered(rules, chargedQuantity);
      case VOLUME -> volume(rules, chargedQuantity);
    };
  }

  private static Quotient tiered(PriceRules rules, Quotient quantity) {
    BigDecimal weighted = BigDecimal.ZERO;
    BigDecimal fees = BigDecimal.ZERO;
    BigDecimal below = BigDecimal.ZERO;
    Iterator<PriceRules.Tier> tiers = rules.tiers().iterator();
    PriceRules.Tier tier = tiers.next();
    while (!reaches(tier, quantity, !tiers.hasNext())) {
      weighted = weighted.add(tier.upTo().subtract(below).multiply(tier.price()));
      fees = fees.add(tier.flatFee());
      below = tier.upTo();
      tier = tiers.next();
    }
    Quotient last = quantity.minus(below).times(tier.price());
    return last.plus(weighted).dividedBy(rules.quantity()).plus(fees.add(tier.flatFee()));
  }

  private static Quotient volume(PriceRules rules, Quotient quantity) {
    Iterator<PriceRules.Tier> tiers = rules.tiers().iterator();
    PriceRules.Tier tier = tiers.next();
    while (!reaches(tier, quantity, !tiers.hasNext())) {
      tier = tiers.next();
    }
    return quantity.times(tier.price()).dividedBy(rules.quantity()).plus(tier.flatFee());
  }

  private static boolean reaches(PriceRules.Tier tier, Quotient quantity, boolean last) {
    return last || quantity.compareTo(tier.upTo()) <= 0;
  }

  /** The amount of a period's whole quantity. */
  public static Quotient usageAmount(PriceTerms price, Quotient quantity) {
    return amount(price, chargedQuantity(price, quantity));
  }

  /** What a price in advance costs per period: one {@code rules.quantity}. */
  public static Quotient advanceAmount(PriceTerms price) {
    return amount(price, Quotient.of(price.rules().quantity()));
  }

  /** Whether a customer with this usage may use the billable on. */
  public static boolean accessAt(PriceTerms price, Quotient quantity) {
    boolean blocked =
        price.blockOverage() && price.limit() != null && quantity.compareTo(price.limit()) > 0;
    boolean exhausted = price.maxUsage() != null && quantity.compareTo(price.maxUsage()) >= 0;
    return !blocked && !exhausted;
  }
}
