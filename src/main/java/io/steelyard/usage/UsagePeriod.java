package io.steelyard.usage;

import io.steelyard.domain.BillingCadence;
import java.time.Instant;
import java.util.UUID;

/**
 * A subscription's period with what the fold needs of its surroundings.
 *
 * @param countsFrom from which on events are counted in it now, of those in the period
 * @param countsUntil exclusive
 * @param allocatedUntil when its next units will be allocated, or its end: what is dated from then
 *     on waits, so that it finds the units of its time
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
    Instant allocatedUntil,
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

  /** The same, with what is counted in it now ending there. */
  UsagePeriod countingUntil(Instant until) {
    return new UsagePeriod(
        merchantId,
        subscriptionId,
        index,
        customerId,
        planId,
        start,
        end,
        countsFrom,
        until,
        allocatedUntil,
        openedAt,
        cadence,
        now,
        frozen,
        subscriptionStart,
        subscriptionEnd,
        closed,
        recounts,
        recounting);
  }
}
