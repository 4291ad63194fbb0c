package io.steelyard.domain;

import java.math.BigDecimal;
import java.util.List;

/**
 * The numbers of a price: {@code price} is what {@code quantity} units cost.
 *
 * @param quantity above zero
 * @param price null is taken as zero, for prices that have tiers
 * @param tiers in order; empty for unit and bulk
 */
public record PriceRules(BigDecimal quantity, BigDecimal price, List<Tier> tiers) {
  /**
   * @param upTo the last quantity of the tier, inclusive; null for no end. A last tier has no end
   *     whatever it says, so that no usage is lost
   * @param price what {@link PriceRules#quantity} units cost
   * @param flatFee charged once when the tier is entered; null is taken as zero
   */
  public record Tier(BigDecimal upTo, BigDecimal price, BigDecimal flatFee) {
    public Tier {
      flatFee = flatFee == null ? BigDecimal.ZERO : flatFee;
    }
  }

  public PriceRules {
    if (quantity.signum() <= 0) {
      throw new IllegalArgumentException("a price must be for more than " + quantity + " units");
    }
    price = price == null ? BigDecimal.ZERO : price;
    tiers = List.copyOf(tiers);
    BigDecimal last = BigDecimal.ZERO;
    for (Tier tier : tiers) {
      if (last == null || tier.upTo() != null && tier.upTo().compareTo(last) <= 0) {
        throw new IllegalArgumentException("tiers must ascend, and only the last may be endless");
      }
      last = tier.upTo();
    }
  }
}
