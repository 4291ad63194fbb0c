package io.steelyard.catalog;

import io.steelyard.catalog.CatalogDocument.Allocation;
import io.steelyard.catalog.CatalogDocument.Billable;
import io.steelyard.catalog.CatalogDocument.Plan;
import io.steelyard.catalog.CatalogDocument.Price;
import io.steelyard.catalog.CatalogDocument.Rules;
import io.steelyard.catalog.CatalogDocument.Unit;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * What must be written to make the stored catalogue equal to a document. Of prices and allocations,
 * removed ones end and changed ones only move to another position; of billables' rules, the
 * versions of the removed billables end.
 */
record CatalogEdits(
    Edits<Unit> units,
    Edits<Billable> billables,
    Edits<Rules> rules,
    Edits<Plan> plans,
    Edits<PlanPrice> prices,
    Edits<PlanAllocation> allocations,
    boolean defaultPlanChanged,
    UUID defaultPlanId,
    CatalogMessages.CatalogApplied applied) {

  record Edits<T>(List<Entry<T>> added, List<Entry<T>> changed, List<UUID> removed) {
    static <T> Edits<T> none() {
      return new Edits<>(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    }
  }

  record Entry<T>(UUID id, T value) {}

  /** A price with its references resolved; a base price has no billable. */
  record PlanPrice(UUID planId, UUID billableId, UUID unitId, int position, Price price) {}

  record PlanAllocation(UUID planId, UUID unitId, int position, Allocation allocation) {}
}
