package io.steelyard.catalog;

import io.steelyard.catalog.CatalogDocument.Allocation;
import io.steelyard.catalog.CatalogDocument.BasePrices;
import io.steelyard.catalog.CatalogDocument.Billable;
import io.steelyard.catalog.CatalogDocument.Plan;
import io.steelyard.catalog.CatalogDocument.Price;
import io.steelyard.catalog.CatalogDocument.Unit;
import io.steelyard.domain.BillingCadence;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * A merchant's catalogue as the database holds it, in the terms of a complete document.
 *
 * @param latestChange the latest start or end of any version of anything; null without any
 */
record StoredCatalog(
    UUID defaultPlanId,
    List<Stored<Unit>> units,
    List<Stored<Billable>> billables,
    List<StoredPlan> plans,
    Instant latestChange) {

  record Stored<T>(UUID id, boolean archived, T value) {}

  /**
   * @param plan the plan's own fields, without prices and allocations
   * @param prices the active ones; those without a billable are base prices
   * @param allocations the active ones
   */
  record StoredPlan(
      Stored<Plan> plan, List<Placed<Price>> prices, List<Placed<Allocation>> allocations) {}

  /** A part of a plan and its position among its siblings. */
  record Placed<T>(UUID id, int position, T value) {}

  /** The document that, applied, changes nothing. */
  CatalogDocument document() {
    return new CatalogDocument(
        available(units), available(billables), availablePlans(), defaultPlanExternalId());
  }

  /** Null when there is no default plan. */
  String defaultPlanExternalId() {
    return plans.stream()
        .map(StoredPlan::plan)
        .filter(plan -> plan.id().equals(defaultPlanId))
        .map(plan -> plan.value().externalId())
        .findFirst()
        .orElse(null);
  }

  private static <T> List<T> available(List<Stored<T>> all) {
    return all.stream().filter(one -> !one.archived()).map(Stored::value).toList();
  }

  private List<Plan> availablePlans() {
    return plans.stream()
        .filter(plan -> !plan.plan().archived())
        .map(
            plan ->
                withParts(
                    plan.plan().value(),
                    basePrices(plan.prices()),
                    plan.prices().stream()
                        .map(Placed::value)
                        .filter(price -> price.billable() != null)
                        .toList(),
                    plan.allocations().stream().map(Placed::value).toList()))
        .toList();
  }

  private static BasePrices basePrices(List<Placed<Price>> prices) {
    var byCadence =
        prices.stream()
            .map(Placed::value)
            .filter(price -> price.billable() == null)
            .collect(
                Collectors.toMap(
                    Price::billingCadence, price -> (BigDecimal) price.rules().get("price")));
    return byCadence.isEmpty()
        ? null
        : new BasePrices(
            byCadence.get(BillingCadence.MONTHLY),
            byCadence.get(BillingCadence.QUARTERLY),
            byCadence.get(BillingCadence.ANNUALLY),
            byCadence.get(BillingCadence.ONE_TIME));
  }

  /** The plan's own fields alone. */
  static Plan header(Plan plan, String crossEnvironmentId) {
    return withParts(withCrossEnvironmentId(plan, crossEnvironmentId), null, null, null);
  }

  private static Plan withCrossEnvironmentId(Plan plan, String crossEnvironmentId) {
    return new Plan(
        plan.externalId(),
        plan.name(),
        plan.description(),
        plan.currency(),
        plan.netTerms(),
        plan.isPrivate(),
        plan.purchasable(),
        plan.requestPricingText(),
        plan.requestPricingUrl(),
        crossEnvironmentId,
        plan.trialDays(),
        plan.chargeForUsageBasedPricesDuringTrial(),
        plan.basePrices(),
        plan.prices(),
        plan.allocations());
  }

  private static Plan withParts(
      Plan plan, BasePrices base, List<Price> prices, List<Allocation> allocations) {
    return new Plan(
        plan.externalId(),
        plan.name(),
        plan.description(),
        plan.currency(),
        plan.netTerms(),
        plan.isPrivate(),
        plan.purchasable(),
        plan.requestPricingText(),
        plan.requestPricingUrl(),
        plan.crossEnvironmentId(),
        plan.trialDays(),
        plan.chargeForUsageBasedPricesDuringTrial(),
        base,
        prices,
        allocations);
  }
}
