package io.steelyard.catalog;

import io.steelyard.catalog.CatalogDocument.Allocation;
import io.steelyard.catalog.CatalogDocument.Plan;
import io.steelyard.catalog.CatalogDocument.Price;
import io.steelyard.catalog.CatalogEdits.Edits;
import io.steelyard.catalog.CatalogEdits.Entry;
import io.steelyard.catalog.CatalogEdits.PlanAllocation;
import io.steelyard.catalog.CatalogEdits.PlanPrice;
import io.steelyard.catalog.CatalogMessages.Change;
import io.steelyard.catalog.CatalogMessages.PlanRef;
import io.steelyard.catalog.CatalogMessages.PriceRef;
import io.steelyard.catalog.StoredCatalog.Placed;
import io.steelyard.catalog.StoredCatalog.StoredPlan;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Compares the prices and allocations of plans, which end and are replaced when they differ. Base
 * prices are matched by cadence, usage prices by billable and cadence, allocations by unit.
 */
final class PlanPartsDiff {
  private final Map<String, UUID> unitIds;
  private final Map<String, UUID> billableIds;
  private final Supplier<UUID> ids;
  private final List<Change> changes;
  private final Edits<PlanPrice> prices = Edits.none();
  private final Edits<PlanAllocation> allocations = Edits.none();

  PlanPartsDiff(
      Map<String, UUID> unitIds,
      Map<String, UUID> billableIds,
      Supplier<UUID> ids,
      List<Change> changes) {
    this.unitIds = unitIds;
    this.billableIds = billableIds;
    this.ids = ids;
    this.changes = changes;
  }

  Edits<PlanPrice> prices() {
    return prices;
  }

  Edits<PlanAllocation> allocations() {
    return allocations;
  }

  /**
   * @param before null for a new plan
   */
  PlanRef compare(UUID planId, Plan plan, StoredPlan before) {
    List<Placed<Price>> wantedPrices = wantedPrices(plan);
    Siblings<Price> priceSiblings =
        new Siblings<>("price", plan.externalId(), PlanPartsDiff::priceKey, Price::name);
    List<UUID> priceIds =
        replace(
            priceSiblings,
            wantedPrices,
            before == null ? List.of() : before.prices(),
            prices,
            wanted -> planPrice(planId, wanted));
    Siblings<Allocation> allocationSiblings =
        new Siblings<>(
            "allocation",
            plan.externalId(),
            Allocation::customPricingUnit,
            Allocation::customPricingUnit);
    replace(
        allocationSiblings,
        placed(plan.allocations()),
        before == null ? List.of() : before.allocations(),
        allocations,
        wanted -> planAllocation(planId, wanted));
    return new PlanRef(
        plan.externalId(), new Id(IdKind.PLAN, planId), priceRefs(wantedPrices, priceIds));
  }

  /** Base prices stand at their cadence's place, so that one more moves no other. */
  private static List<Placed<Price>> wantedPrices(Plan plan) {
    List<Placed<Price>> wanted = new ArrayList<>();
    for (Price base : CatalogDefaults.basePrices(plan.basePrices())) {
      wanted.add(new Placed<>(null, base.billingCadence().ordinal(), base));
    }
    wanted.addAll(placed(plan.prices()));
    return wanted;
  }

  private static <T> List<Placed<T>> placed(List<T> values) {
    return IntStream.range(0, values.size())
        .mapToObj(i -> new Placed<>(null, i, values.get(i)))
        .toList();
  }

  private PlanPrice planPrice(UUID planId, Placed<Price> wanted) {
    Price price = wanted.value();
    return new PlanPrice(
        planId,
        billableIds.get(price.billable()),
        unitIds.get(price.customPricingUnit()),
        wanted.position(),
        price);
  }

  private PlanAllocation planAllocation(UUID planId, Placed<Allocation> wanted) {
    UUID unitId = unitIds.get(wanted.value().customPricingUnit());
    return new PlanAllocation(planId, unitId, wanted.position(), wanted.value());
  }

  private static String priceKey(Price price) {
    String cadence = price.billingCadence() == null ? "any" : price.billingCadence().wire();
    return price.billable() == null ? cadence : cadence + "/" + price.billable();
  }

  private static List<PriceRef> priceRefs(List<Placed<Price>> wanted, List<UUID> priceIds) {
    return IntStream.range(0, wanted.size())
        .mapToObj(
            i -> {
              Price price = wanted.get(i).value();
              Id id = new Id(IdKind.PRICE, priceIds.get(i));
              return new PriceRef(id, price.name(), price.billingCadence(), price.billable());
            })
        .toList();
  }

  /** How the parts of one kind of one plan are told apart, and how changes name them. */
  private record Siblings<T>(
      String kind, String plan, Function<T, String> key, Function<T, String> name) {
    Change change(String action, T value, List<String> fields) {
      return new Change(action, kind, plan + "/" + name.apply(value), fields);
    }
  }

  /** Answers the ids of the wanted parts in order. */
  private <T extends Record, P> List<UUID> replace(
      Siblings<T> siblings,
      List<Placed<T>> wantedParts,
      List<Placed<T>> storedParts,
      Edits<P> edits,
      Function<Placed<T>, P> written) {
    Map<String, Placed<T>> left = new LinkedHashMap<>();
    storedParts.forEach(part -> left.put(siblings.key().apply(part.value()), part));
    List<UUID> matched = new ArrayList<>();
    for (Placed<T> wanted : wantedParts) {
      T value = wanted.value();
      Placed<T> before = left.remove(siblings.key().apply(value));
      boolean same = before != null && before.value().equals(value);
      Entry<P> entry = new Entry<>(same ? before.id() : ids.get(), written.apply(wanted));
      matched.add(entry.id());
      if (same && before.position() != wanted.position()) {
        edits.changed().add(entry);
        changes.add(siblings.change("updated", value, List.of("position")));
      } else if (!same && before == null) {
        edits.added().add(entry);
        changes.add(siblings.change("created", value, List.of()));
      } else if (!same) {
        edits.removed().add(before.id());
        edits.added().add(entry);
        List<String> fields = CatalogDiff.differing(before.value(), value);
        changes.add(siblings.change("replaced", value, fields));
      }
    }
    for (Placed<T> gone : left.values()) {
      edits.removed().add(gone.id());
      changes.add(siblings.change("archived", gone.value(), List.of()));
    }
    return matched;
  }
}
