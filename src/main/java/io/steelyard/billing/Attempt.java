package io.steelyard.billing;

import io.steelyard.bus.Call;
import io.steelyard.merchant.MerchantClock;

/**
 * One merchant's work in one transaction.
 *
 * @param folded whether every event accepted before the run began has been counted
 */
record Attempt(Call call, MerchantClock.Reading clock, boolean folded) {}
