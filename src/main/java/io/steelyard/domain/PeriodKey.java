package io.steelyard.domain;

/** One period of one subscription. */
public record PeriodKey(Id subscriptionId, int index) {}
