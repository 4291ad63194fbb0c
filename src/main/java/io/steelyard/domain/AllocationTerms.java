package io.steelyard.domain;

import java.math.BigDecimal;
import java.time.Instant;

/**
 * One version of the units that a plan allocates in each period.
 *
 * @param rolloverMax how many unused units live one more period; null for none
 * @param activeUntil exclusive; null while it is the current version
 */
public record AllocationTerms(
    Id id,
    Id customPricingUnitId,
    BigDecimal amount,
    BillingCadence cadence,
    BigDecimal rolloverMax,
    Instant activeFrom,
    Instant activeUntil) {
  public boolean activeAt(Instant t) {
    return !t.isBefore(activeFrom) && (activeUntil == null || t.isBefore(activeUntil));
  }
}
