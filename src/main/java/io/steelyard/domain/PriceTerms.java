package io.steelyard.domain;

import java.math.BigDecimal;
import java.time.Instant;

/**
 * One version of one price of a plan.
 *
 * @param base whether it is the plan's fixed price of a cadence
 * @param cadence null for whatever the subscription's is
 * @param limit quantity included in a period at no charge; null for none
 * @param maxUsage ceiling of access and of what is billed; null for none
 * @param billableId null for a base price
 * @param customPricingUnitId null for a price in currency
 * @param activeUntil exclusive; null while it is the current version
 */
public record PriceTerms(
    Id id,
    boolean base,
    String name,
    BillingCadence cadence,
    BillingMode mode,
    PriceType type,
    PriceRules rules,
    boolean blockOverage,
    BigDecimal limit,
    BigDecimal maxUsage,
    Id billableId,
    Id customPricingUnitId,
    int position,
    Instant activeFrom,
    Instant activeUntil) {
  public PriceTerms {
    if ((type == PriceType.TIERED || type == PriceType.VOLUME) && rules.tiers().isEmpty()) {
      throw new IllegalArgumentException("a " + type.wire() + " price must have tiers");
    }
  }

  public boolean activeAt(Instant t) {
    return !t.isBefore(activeFrom) && (activeUntil == null || t.isBefore(activeUntil));
  }

  public boolean appliesTo(BillingCadence subscriptionCadence) {
    return cadence == null || cadence == subscriptionCadence;
  }

  public boolean usesCustomPricingUnit() {
    return customPricingUnitId != null;
  }
}
