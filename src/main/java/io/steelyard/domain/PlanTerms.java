package io.steelyard.domain;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A plan with everything that its periods are billed by.
 *
 * @param prices all versions, past ones included
 * @param allocations all versions, past ones included
 * @param billables those of all prices, by id
 */
public record PlanTerms(
    Id id,
    String externalId,
    String name,
    Currency currency,
    NetTerms netTerms,
    boolean isPrivate,
    boolean available,
    int trialDays,
    boolean chargeUsageDuringTrial,
    List<PriceTerms> prices,
    List<AllocationTerms> allocations,
    Map<Id, BillableTerms> billables) {
  private static final Comparator<PriceTerms> BASE_FIRST =
      Comparator.comparing(PriceTerms::base, Comparator.reverseOrder())
          .thenComparingInt(PriceTerms::position)
          .thenComparing(PriceTerms::id);

  public PlanTerms {
    prices = List.copyOf(prices);
    allocations = List.copyOf(allocations);
    billables = Map.copyOf(billables);
  }

  /** The prices of a period that opened then, base price first, then by position. */
  public List<PriceTerms> pricesFor(BillingCadence cadence, Instant openedAt) {
    return prices.stream()
        .filter(price -> price.activeAt(openedAt) && price.appliesTo(cadence))
        .sorted(BASE_FIRST)
        .toList();
  }

  public List<AllocationTerms> allocationsAt(Instant openedAt) {
    return allocations.stream().filter(allocation -> allocation.activeAt(openedAt)).toList();
  }

  /**
   * The last time from {@code t} to so long after it at which any version of a price, an allocation
   * or a rule began or ended, else {@code t}. Whoever can see a version that begins later than now
   * has a clock behind that of who made it.
   */
  public Instant changedWithin(Instant t, Duration after) {
    Stream<Instant> ofPrices =
        prices.stream().flatMap(each -> Stream.of(each.activeFrom(), each.activeUntil()));
    Stream<Instant> ofAllocations =
        allocations.stream().flatMap(each -> Stream.of(each.activeFrom(), each.activeUntil()));
    Stream<Instant> ofRules =
        billables.values().stream()
            .flatMap(each -> each.versions().stream())
            .flatMap(each -> Stream.of(each.activeFrom(), each.activeUntil()));
    Instant last = t.plus(after);
    return Stream.of(ofPrices, ofAllocations, ofRules)
        .flatMap(each -> each)
        .filter(Objects::nonNull)
        .filter(each -> each.isAfter(t) && !each.isAfter(last))
        .max(Comparator.naturalOrder())
        .orElse(t);
  }

  /** The first of monthly, quarterly, annually and oneTime that has a base price. */
  public Optional<BillingCadence> defaultCadence(Instant at) {
    return Arrays.stream(BillingCadence.values())
        .filter(cadence -> pricesFor(cadence, at).stream().anyMatch(PriceTerms::base))
        .findFirst();
  }
}
