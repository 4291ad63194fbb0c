package io.steelyard.billing;

import io.steelyard.bus.Call;
import io.steelyard.merchant.MerchantClock;
import java.time.Instant;

/**
 * One merchant's work in one run.
 *
 * @param countedBy by the merchant's clock: every event accepted before then has been counted; null
 *     when that is known of no instant
 */
record Attempt(Call call, MerchantClock.Reading clock, Instant countedBy) {}
