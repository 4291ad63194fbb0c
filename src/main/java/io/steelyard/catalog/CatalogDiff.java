package io.steelyard.catalog;

import io.steelyard.catalog.CatalogDocument.Billable;
import io.steelyard.catalog.CatalogDocument.Plan;
import io.steelyard.catalog.CatalogDocument.Rules;
import io.steelyard.catalog.CatalogDocument.Unit;
import io.steelyard.catalog.CatalogEdits.Edits;
import io.steelyard.catalog.CatalogEdits.Entry;
import io.steelyard.catalog.CatalogMessages.BillableRef;
import io.steelyard.catalog.CatalogMessages.CatalogApplied;
import io.steelyard.catalog.CatalogMessages.Change;
import io.steelyard.catalog.CatalogMessages.PlanRef;
import io.steelyard.catalog.CatalogMessages.UnitRef;
import io.steelyard.catalog.StoredCatalog.Stored;
import io.steelyard.catalog.StoredCatalog.StoredPlan;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Compares the stored catalogue with a valid, complete document. Units, billables and plans are
 * matched by key, slug and externalId, and changed in place, but for billables' rules, which get a
 * new version; {@link PlanPartsDiff} does the rest.
 */
final class CatalogDiff {
  private final StoredCatalog stored;
  private final CatalogDocument wanted;
  private final Supplier<UUID> ids;
  private final List<Change> changes = new ArrayList<>();

  private CatalogDiff(StoredCatalog stored, CatalogDocument wanted, Supplier<UUID> ids) {
    this.stored = stored;
    this.wanted = wanted;
    this.ids = ids;
  }

  static CatalogEdits between(StoredCatalog stored, CatalogDocument wanted, Supplier<UUID> newIds) {
    return new CatalogDiff(stored, wanted, newIds).edits();
  }

  private CatalogEdits edits() {
    Edits<Unit> units = Edits.none();
    Map<String, UUID> unitIds =
        match("customPricingUnit", Unit::key, wanted.customPricingUnits(), stored.units(), units);
    Edits<Billable> billables = Edits.none();
    Map<String, UUID> billableIds =
        match("billable", Billable::slug, wanted.billables(), stored.billables(), billables);
    Edits<Plan> plans = Edits.none();
    List<Stored<Plan>> storedPlans = stored.plans().stream().map(StoredPlan::plan).toList();
    Map<String, UUID> planIds = match("plan", Plan::externalId, planHeaders(), storedPlans, plans);
    PlanPartsDiff parts = new PlanPartsDiff(unitIds, billableIds, ids, changes);
    List<PlanRef> planRefs = planParts(parts, planIds);
    UUID defaultPlanId = wanted.defaultPlan() == null ? null : planIds.get(wanted.defaultPlan());
    boolean defaultPlanChanged = !Objects.equals(defaultPlanId, stored.defaultPlanId());
    if (defaultPlanChanged) {
      changes.add(defaultPlanChange());
    }
    return new CatalogEdits(
        units,
        billables,
        rules(billableIds),
        plans,
        parts.prices(),
        parts.allocations(),
        defaultPlanChanged,
        defaultPlanId,
        new CatalogApplied(
            unitRefs(unitIds), billableRefs(billableIds), planRefs, List.copyOf(changes)));
  }

  /** By the ids of their billables. */
  private Edits<Rules> rules(Map<String, UUID> billableIds) {
    Map<UUID, Billable> storedById = new HashMap<>();
    stored.billables().forEach(one -> storedById.put(one.id(), one.value()));
    Edits<Rules> rules = Edits.none();
    for (Billable billable : wanted.billables()) {
      UUID id = billableIds.get(billable.slug());
      Billable before = storedById.get(id);
      if (before == null) {
        rules.added().add(new Entry<>(id, billable.eventQueryRules()));
      } else if (!Objects.equals(before.eventQueryRules(), billable.eventQueryRules())) {
        rules.removed().add(id);
        rules.added().add(new Entry<>(id, billable.eventQueryRules()));
      }
    }
    return rules;
  }

  private List<PlanRef> planParts(PlanPartsDiff parts, Map<String, UUID> planIds) {
    Map<UUID, StoredPlan> storedById = new HashMap<>();
    stored.plans().forEach(plan -> storedById.put(plan.plan().id(), plan));
    return wanted.plans().stream()
        .map(
            plan -> {
              UUID id = planIds.get(plan.externalId());
              return parts.compare(id, plan, storedById.get(id));
            })
        .toList();
  }

  private Change defaultPlanChange() {
    String before = stored.defaultPlanExternalId();
    if (wanted.defaultPlan() == null) {
      return new Change("archived", "defaultPlan", before, List.of());
    }
    String action = before == null ? "created" : "updated";
    return new Change(action, "defaultPlan", wanted.defaultPlan(), List.of());
  }

  /** The wanted plans' own fields; a crossEnvironmentId that is not given is kept or made. */
  private List<Plan> planHeaders() {
    Map<String, String> known = new HashMap<>();
    for (StoredPlan one : stored.plans()) {
      Plan plan = one.plan().value();
      known.put(plan.externalId(), plan.crossEnvironmentId());
    }
    return wanted.plans().stream().map(plan -> header(plan, known.get(plan.externalId()))).toList();
  }

  private Plan header(Plan plan, String known) {
    if (plan.crossEnvironmentId() != null) {
      return StoredCatalog.header(plan, plan.crossEnvironmentId());
    }
    return StoredCatalog.header(plan, known == null ? ids.get().toString() : known);
  }

  /** Matches by name, in place; answers the id of everything wanted by its name. */
  private <T extends Record> Map<String, UUID> match(
      String kind,
      Function<T, String> name,
      List<T> wantedOnes,
      List<Stored<T>> storedOnes,
      Edits<T> edits) {
    Map<String, Stored<T>> left = new LinkedHashMap<>();
    storedOnes.forEach(one -> left.put(name.apply(one.value()), one));
    Map<String, UUID> matched = new HashMap<>();
    for (T value : wantedOnes) {
      String key = name.apply(value);
      Stored<T> before = left.remove(key);
      UUID id = before == null ? ids.get() : before.id();
      matched.put(key, id);
      if (before == null) {
        edits.added().add(new Entry<>(id, value));
        changes.add(new Change("created", kind, key, List.of()));
      } else if (before.archived() || !before.value().equals(value)) {
        edits.changed().add(new Entry<>(id, value));
        changes.add(new Change("updated", kind, key, changedFields(before, value)));
      }
    }
    left.forEach(
        (key, gone) -> {
          if (!gone.archived()) {
            edits.removed().add(gone.id());
            changes.add(new Change("archived", kind, key, List.of()));
          }
        });
    return matched;
  }

  private static <T extends Record> List<String> changedFields(Stored<T> before, T after) {
    Stream<String> revived = before.archived() ? Stream.of("status") : Stream.empty();
    return Stream.concat(revived, differing(before.value(), after).stream()).toList();
  }

  /** The names of the components in which two records of one type differ. */
  static <T extends Record> List<String> differing(T before, T after) {
    return Stream.of(before.getClass().getRecordComponents())
        .filter(part -> !Objects.equals(read(part, before), read(part, after)))
        .map(RecordComponent::getName)
        .toList();
  }

  private static Object read(RecordComponent part, Record record) {
    try {
      return part.getAccessor().invoke(record);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("a public record hides a component", e);
    }
  }

  private List<UnitRef> unitRefs(Map<String, UUID> ids) {
    return wanted.customPricingUnits().stream()
        .map(unit -> new UnitRef(unit.key(), id(IdKind.CUSTOM_PRICING_UNIT, ids, unit.key())))
        .toList();
  }

  private List<BillableRef> billableRefs(Map<String, UUID> ids) {
    return wanted.billables().stream()
        .map(one -> new BillableRef(one.slug(), id(IdKind.BILLABLE, ids, one.slug())))
        .toList();
  }

  private static Id id(IdKind kind, Map<String, UUID> byName, String name) {
    return new Id(kind, byName.get(name));
  }
}
