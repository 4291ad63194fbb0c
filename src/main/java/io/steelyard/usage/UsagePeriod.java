package io.steelyard.usage;

import io.steelyard.domain.BillingCadence;
import java.time.Instant;
import java.util.UUID;

/**
 * A subscription's period with what the fold needs of its surroundings.
 *
 * @param countsFrom from which on events are counted in it now, of those in the period
 * @param countsUntil exclusive
 * @param now the merchant's time
 * @param frozen whether that is the clock of a test merchant
 * @param subscriptionEnd null when none is set
 * @param closed whether the boundary at its end was passed, so that what is counted now is late
 * @param recounts how often all of it was to be counted anew
 * @param recounting whether that is still to be done, and is done by who counts in it now
 */
record UsagePeriod(
    UUID merchantId,
    UUID subscriptionId,
    int index,
    UUID customerId,
    UUID planId,
    Instant start,
    Instant end,
    Instant countsFrom,
    Instant countsUntil,
    Instant openedAt,
    BillingCadence cadence,
    Instant now,
    boolean frozen,
    Instant subscriptionStart,
    Instant subscriptionEnd,
    boolean closed,
    int recounts,
    boolean recounting) {
  /** What counters, draws and claims hang on. */
  record Ref(UUID merchantId, UUID subscriptionId, int index) {}

  Ref ref() {
    return new Ref(merchantId, subscriptionId, index);
  }
}
