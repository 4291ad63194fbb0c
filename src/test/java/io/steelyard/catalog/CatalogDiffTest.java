package io.steelyard.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.catalog.CatalogDocument.Allocation;
import io.steelyard.catalog.CatalogDocument.Plan;
import io.steelyard.catalog.CatalogDocument.Price;
import io.steelyard.catalog.CatalogEdits.Edits;
import io.steelyard.catalog.CatalogEdits.Entry;
import io.steelyard.catalog.CatalogMessages.Change;
import io.steelyard.catalog.StoredCatalog.Placed;
import io.steelyard.catalog.StoredCatalog.Stored;
import io.steelyard.catalog.StoredCatalog.StoredPlan;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class CatalogDiffTest {
  private static final StoredCatalog NOTHING =
      new StoredCatalog(null, List.of(), List.of(), List.of(), null);

  private long made;

  @Test
  void intoAnEmptyCatalogueEverythingIsCreated() {
    CatalogEdits edits = diff(NOTHING, Given.pro());

    assertThat(edits.applied().changes())
        .containsExactly(
            new Change("created", "customPricingUnit", "credits", List.of()),
            new Change("created", "billable", "api-requests", List.of()),
            new Change("created", "billable", "seats", List.of()),
            new Change("created", "plan", "pro", List.of()),
            new Change("created", "price", "pro/Monthly base price", List.of()),
            new Change("created", "price", "pro/Annual base price", List.of()),
            new Change("created", "price", "pro/API requests", List.of()),
            new Change("created", "price", "pro/Seats", List.of()),
            new Change("created", "allocation", "pro/credits", List.of()),
            new Change("created", "defaultPlan", "pro", List.of()));
  }

  @Test
  void theSameDocumentAgainChangesNothing() {
    StoredCatalog stored = stored(diff(NOTHING, Given.pro()));

    CatalogEdits again = diff(stored, Given.pro());

    assertThat(again.applied().changes()).isEmpty();
    assertThat(List.of(again.units(), again.billables(), again.plans())).containsOnly(Edits.none());
    assertThat(List.of(again.prices(), again.allocations())).containsOnly(Edits.none());
    assertThat(again.rules()).isEqualTo(Edits.none());
    assertThat(again.defaultPlanChanged()).isFalse();
  }

  @Test
  void numbersThatAreEqualInValueAreNoChange() {
    StoredCatalog stored = stored(diff(NOTHING, Given.pro()));

    assertThat(diff(stored, Given.proWith("price: 0.002", "price: 0.0020")).applied().changes())
        .isEmpty();
    assertThat(diff(stored, Given.proWith("limit: 10,", "limit: 10.0,")).applied().changes())
        .isEmpty();
  }

  @Test
  void aPriceThatDiffersEndsAndANewOneTakesItsPlace() {
    StoredCatalog stored = stored(diff(NOTHING, Given.pro()));

    CatalogEdits edits = diff(stored, Given.proWith("price: 0.002", "price: 0.003"));

    assertThat(edits.applied().changes())
        .containsExactly(new Change("replaced", "price", "pro/API requests", List.of("rules")));
    assertThat(edits.prices().removed()).hasSize(1);
    assertThat(edits.prices().added()).hasSize(1);
    assertThat(edits.prices().added().getFirst().id())
        .isNotEqualTo(edits.prices().removed().getFirst());
    assertThat(edits.plans()).isEqualTo(Edits.none());
  }

  @Test
  void rulesThatDifferAreANewVersionForTheirBillableAlone() {
    StoredCatalog stored = stored(diff(NOTHING, Given.pro()));

    CatalogEdits edits = diff(stored, Given.proWith("calculation: sum", "calculation: max"));

    assertThat(edits.applied().changes())
        .containsExactly(
            new Change("updated", "billable", "api-requests", List.of("eventQueryRules")));
    assertThat(edits.rules().removed()).containsExactly(stored.billables().getFirst().id());
    assertThat(edits.rules().added())
        .extracting(Entry::id)
        .containsExactly(stored.billables().getFirst().id());
    assertThat(edits.rules().added().getFirst().value().calculation()).isEqualTo("max");
  }

  @Test
  void anotherNameOfABillableIsNoNewVersionOfItsRules() {
    StoredCatalog stored = stored(diff(NOTHING, Given.pro()));

    CatalogEdits edits = diff(stored, Given.proWith("name: API requests", "name: Requests"));

    assertThat(edits.billables().changed()).hasSize(1);
    assertThat(edits.rules()).isEqualTo(Edits.none());
  }

  @Test
  void aBasePriceIsKnownByItsCadence() {
    StoredCatalog stored = stored(diff(NOTHING, Given.pro()));

    CatalogEdits edits =
        diff(
            stored,
            Given.proWith("{monthly: 49, annually: 490}", "{quarterly: 140, annually: 480}"));

    assertThat(edits.applied().changes())
        .containsExactlyInAnyOrder(
            new Change("created", "price", "pro/Quarterly base price", List.of()),
            new Change("replaced", "price", "pro/Annual base price", List.of("rules")),
            new Change("archived", "price", "pro/Monthly base price", List.of()));
  }

  @Test
  void pricesInAnotherOrderOnlyMove() {
    CatalogDocument pro = CatalogDefaults.complete(Given.pro());
    StoredCatalog stored = stored(diff(NOTHING, Given.pro()));
    Plan plan = pro.plans().getFirst();
    Plan turned =
        new Plan(
            plan.externalId(),
            plan.name(),
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            plan.basePrices(),
            plan.prices().reversed(),
            plan.allocations());

    CatalogEdits edits =
        diff(
            stored,
            new CatalogDocument(pro.customPricingUnits(), pro.billables(), List.of(turned), "pro"));

    assertThat(edits.prices().added()).isEmpty();
    assertThat(edits.prices().removed()).isEmpty();
    assertThat(edits.prices().changed()).hasSize(2);
    assertThat(edits.applied().changes())
        .extracting(Change::fields)
        .containsOnly(List.of("position"));
  }

  @Test
  void whatIsGoneIsArchivedAndItsPlansPricesStay() {
    StoredCatalog stored = stored(diff(NOTHING, Given.pro()));

    CatalogEdits edits = diff(stored, new CatalogDocument(null, null, null, null));

    assertThat(edits.applied().changes())
        .containsExactly(
            new Change("archived", "customPricingUnit", "credits", List.of()),
            new Change("archived", "billable", "api-requests", List.of()),
            new Change("archived", "billable", "seats", List.of()),
            new Change("archived", "plan", "pro", List.of()),
            new Change("archived", "defaultPlan", "pro", List.of()));
    assertThat(edits.prices()).isEqualTo(Edits.none());
  }

  @Test
  void whatComesBackIsRevivedUnderItsId() {
    StoredCatalog stored = stored(diff(NOTHING, Given.pro()));
    StoredCatalog archived =
        new StoredCatalog(
            null,
            stored.units(),
            stored.billables(),
            stored.plans().stream()
                .map(
                    plan ->
                        new StoredPlan(
                            new Stored<>(plan.plan().id(), true, plan.plan().value()),
                            plan.prices(),
                            plan.allocations()))
                .toList(),
            null);

    CatalogEdits edits = diff(archived, Given.proWith("name: Pro", "name: Pro 2"));

    assertThat(edits.applied().changes())
        .containsExactly(
            new Change("updated", "plan", "pro", List.of("status", "name")),
            new Change("created", "defaultPlan", "pro", List.of()));
    assertThat(edits.plans().changed().getFirst().id())
        .isEqualTo(stored.plans().getFirst().plan().id());
    assertThat(edits.prices()).isEqualTo(Edits.none());
  }

  @Test
  void theCrossEnvironmentIdIsMadeOnceAndKeptUntilOneIsGiven() {
    StoredCatalog stored = stored(diff(NOTHING, Given.pro()));
    String made = stored.plans().getFirst().plan().value().crossEnvironmentId();

    CatalogEdits renamed = diff(stored, Given.proWith("name: Pro", "name: Pro 2"));
    CatalogEdits given =
        diff(
            stored,
            Given.proWith("name: Pro", "name: Pro\n    crossEnvironmentId: pro-everywhere"));

    assertThat(made).isNotEmpty();
    assertThat(renamed.plans().changed().getFirst().value().crossEnvironmentId()).isEqualTo(made);
    assertThat(given.plans().changed().getFirst().value().crossEnvironmentId())
        .isEqualTo("pro-everywhere");
  }

  @Test
  void theExportedDocumentChangesNothing() {
    StoredCatalog stored = stored(diff(NOTHING, Given.demo()));

    assertThat(diff(stored, stored.document()).applied().changes()).isEmpty();
  }

  private CatalogEdits diff(StoredCatalog stored, CatalogDocument document) {
    return CatalogDiff.between(
        stored, CatalogDefaults.complete(document), () -> new UUID(0, ++made));
  }

  /** What the database would hold after these edits of an empty catalogue. */
  private static StoredCatalog stored(CatalogEdits edits) {
    return new StoredCatalog(
        edits.defaultPlanId(),
        available(edits.units()),
        available(edits.billables()),
        edits.plans().added().stream().map(plan -> storedPlan(plan, edits)).toList(),
        null);
  }

  private static <T> List<Stored<T>> available(Edits<T> edits) {
    return edits.added().stream()
        .map(entry -> new Stored<>(entry.id(), false, entry.value()))
        .toList();
  }

  private static StoredPlan storedPlan(Entry<Plan> plan, CatalogEdits edits) {
    List<Placed<Price>> prices =
        edits.prices().added().stream()
            .filter(price -> price.value().planId().equals(plan.id()))
            .map(price -> new Placed<>(price.id(), price.value().position(), price.value().price()))
            .toList();
    List<Placed<Allocation>> allocations =
        edits.allocations().added().stream()
            .filter(one -> one.value().planId().equals(plan.id()))
            .map(one -> new Placed<>(one.id(), one.value().position(), one.value().allocation()))
            .toList();
    return new StoredPlan(new Stored<>(plan.id(), false, plan.value()), prices, allocations);
  }
}
