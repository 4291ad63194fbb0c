package io.steelyard.usage;

import io.steelyard.domain.BillableTerms;
import io.steelyard.domain.BillingMode;
import io.steelyard.domain.EventRules;
import io.steelyard.domain.Id;
import io.steelyard.domain.PlanTerms;
import io.steelyard.domain.PriceTerms;
import io.steelyard.domain.Quotient;
import io.steelyard.domain.Rating;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * One counter: a billable in a period, with the prices that the period has for it. Made once for
 * all events of a fold, and equal to itself only: events find theirs without a look at all of it.
 *
 * @param rules those in force when the period opened
 * @param prices all of them, at least one
 * @param drawing those whose usage takes units from blocks as it happens
 */
record Meter(
    UsagePeriod period,
    BillableTerms billable,
    EventRules rules,
    List<PriceTerms> prices,
    List<PriceTerms> drawing) {
  /** The counter's key. */
  record Ref(UsagePeriod.Ref period, UUID billableId) {}

  /** A billable counts once in a period, however many prices it has there. */
  static List<Meter> of(UsagePeriod period, PlanTerms plan) {
    Map<Id, List<PriceTerms>> byBillable = new LinkedHashMap<>();
    for (PriceTerms price : plan.pricesFor(period.cadence(), period.openedAt())) {
      if (!price.base()) {
        byBillable.computeIfAbsent(price.billableId(), id -> new ArrayList<>()).add(price);
      }
    }
    List<Meter> meters = new ArrayList<>();
    byBillable.forEach(
        (billableId, prices) -> {
          BillableTerms billable = plan.billables().get(billableId);
          billable
              .rulesAt(period.openedAt())
              .map(
                  rules -> new Meter(period, billable, rules, List.copyOf(prices), drawing(prices)))
              .ifPresent(meters::add);
        });
    return meters;
  }

  /** In advance a period's units were paid for when it began. */
  private static List<PriceTerms> drawing(List<PriceTerms> prices) {
    return prices.stream()
        .filter(price -> price.usesCustomPricingUnit() && price.mode() == BillingMode.ARREARS)
        .toList();
  }

  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }

  Ref ref() {
    return new Ref(period.ref(), billable.id().uuid());
  }

  boolean accessAt(Quotient quantity) {
    return prices.stream().allMatch(price -> Rating.accessAt(price, quantity));
  }
}
