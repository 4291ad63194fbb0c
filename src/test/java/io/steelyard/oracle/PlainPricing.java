package io.steelyard.oracle;

import io.steelyard.oracle.Facts.Price;
import io.steelyard.oracle.Facts.Tier;

/** What a quantity costs, exactly. */
final class PlainPricing {
  private PlainPricing() {}

  /** The cost of a period's usage. */
  static Fraction usage(Price price, Fraction used) {
    Fraction billed = used;
    if (price.maxUsage() != null) {
      billed = billed.min(Fraction.of(price.maxUsage()));
    }
    if (price.limit() != null) {
      billed = price.blockOverage() ? Fraction.ZERO : billed.minus(Fraction.of(price.limit()));
    }
    return cost(price, billed);
  }

  /** The cost of one quantity of the price. */
  static Fraction inAdvance(Price price) {
    return cost(price, Fraction.of(price.quantity()));
  }

  private static Fraction cost(Price price, Fraction quantity) {
    if (!quantity.isPositive()) {
      return Fraction.ZERO;
    }
    Fraction packs = quantity.dividedBy(Fraction.of(price.quantity()));
    return switch (price.type()) {
      case UNIT -> packs.times(Fraction.of(price.price()));
      case BULK -> packs.roundedUp().times(Fraction.of(price.price()));
      case TIERED -> tiered(price, quantity);
      case VOLUME -> volume(price, quantity);
    };
  }

  private static Fraction tiered(Price price, Fraction quantity) {
    Fraction cost = Fraction.ZERO;
    Fraction from = Fraction.ZERO;
    for (Tier tier : price.tiers()) {
      Fraction to = tier.upTo() == null ? quantity : quantity.min(Fraction.of(tier.upTo()));
      if (to.compareTo(from) > 0) {
        cost = cost.plus(ofTier(price, tier, to.minus(from)));
        from = to;
      }
    }
    return cost;
  }

  private static Fraction volume(Price price, Fraction quantity) {
    for (Tier tier : price.tiers()) {
      if (tier.upTo() == null || quantity.compareTo(Fraction.of(tier.upTo())) <= 0) {
        return ofTier(price, tier, quantity);
      }
    }
    throw new AssertionError("the last tier has no end");
  }

  private static Fraction ofTier(Price price, Tier tier, Fraction units) {
    return units
        .times(Fraction.of(tier.price()))
        .dividedBy(Fraction.of(price.quantity()))
        .plus(Fraction.of(tier.flatFee()));
  }
}
