package io.steelyard.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.bus.Address;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.catalog.CatalogMessages.ApplyCatalog;
import io.steelyard.catalog.CatalogMessages.CatalogApplied;
import io.steelyard.catalog.CatalogMessages.Change;
import io.steelyard.catalog.CatalogMessages.ExportCatalog;
import io.steelyard.catalog.CatalogMessages.PlanView;
import io.steelyard.domain.BillableTerms;
import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.Calculation;
import io.steelyard.domain.Environment;
import io.steelyard.domain.Id;
import io.steelyard.domain.PlanTerms;
import io.steelyard.domain.PriceTerms;
import io.steelyard.merchant.MerchantMessages.SetClock;
import io.steelyard.support.MerchantServices;
import io.vertx.core.Future;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CatalogVerticleIT {
  private static final Instant LATER = Instant.parse("2090-01-01T00:00:00Z");
  private static final CatalogDocument EMPTY = new CatalogDocument(null, null, null, null);

  private static MerchantServices services;

  private final CatalogStore store = new CatalogStore();
  private Call.Merchant merchant;

  @BeforeAll
  static void start() {
    services = new MerchantServices();
  }

  @AfterAll
  static void stop() {
    services.close();
  }

  @BeforeEach
  void aMerchant() {
    merchant = services.merchant(Environment.TEST);
  }

  @Test
  void applyingTwiceChangesNothingTheSecondTime() {
    CatalogApplied first = apply(Given.demo());
    CatalogApplied second = apply(Given.demo());

    assertThat(first.changes()).extracting(Change::action).containsOnly("created");
    assertThat(second.changes()).isEmpty();
    assertThat(second.plans()).isEqualTo(first.plans());
    assertThat(second.billables()).isEqualTo(first.billables());
    assertThat(second.customPricingUnits()).isEqualTo(first.customPricingUnits());
  }

  @Test
  void whatIsExportedChangesNothingAndSaysTheSame() {
    apply(Given.demo());

    CatalogDocument exported = export();

    assertThat(apply(exported).changes()).isEmpty();
    assertThat(export()).isEqualTo(exported);
    assertThat(Given.document(CatalogYaml.write(exported))).isEqualTo(exported);
    Call.Merchant other = services.merchant(Environment.LIVE);
    services.ask(new ApplyCatalog(exported), other);
    assertThat(services.ask(new ExportCatalog(), other).document()).isEqualTo(exported);
  }

  @Test
  void aChangedPriceIsANewRowAndTheOldOneStaysForWhatItBilled() {
    Id plan = planId(apply(Given.pro()));
    PriceTerms before = apiPrices(plan).getFirst();
    services.ask(new SetClock(LATER), merchant);

    CatalogApplied applied = apply(Given.proWith("price: 0.002", "price: 0.003"));

    assertThat(applied.changes())
        .containsExactly(new Change("replaced", "price", "pro/API requests", List.of("rules")));
    List<PriceTerms> versions = apiPrices(plan);
    Instant changed = versions.get(1).activeFrom();
    assertThat(versions).extracting(PriceTerms::activeUntil).containsExactly(changed, null);
    assertThat(changed).as("the system's time, not the merchant's").isNotEqualTo(LATER);
    assertThat(versions.get(0).id()).isEqualTo(before.id());
    assertThat(versions.get(0).rules().price()).isEqualByComparingTo("0.002");
    assertThat(versions.get(1).rules().price()).isEqualByComparingTo("0.003");
    PlanTerms terms = terms(plan);
    assertThat(terms.pricesFor(BillingCadence.MONTHLY, changed.minusMillis(1)))
        .contains(versions.get(0))
        .doesNotContain(versions.get(1));
    assertThat(terms.pricesFor(BillingCadence.MONTHLY, changed))
        .contains(versions.get(1))
        .doesNotContain(versions.get(0));
  }

  @Test
  void changedRulesAreANewVersionAndTheOldOneStaysForThePeriodsThatOpenedWithIt() {
    Id plan = planId(apply(Given.pro()));
    services.ask(new SetClock(LATER), merchant);

    CatalogApplied applied = apply(Given.proWith("calculation: sum", "calculation: max"));
    apply(Given.proWith("calculation: sum", "calculation: max"));

    assertThat(applied.changes())
        .containsExactly(
            new Change("updated", "billable", "api-requests", List.of("eventQueryRules")));
    BillableTerms terms = apiBillable(plan);
    assertThat(terms.versions()).hasSize(2);
    Instant changed = terms.versions().get(1).activeFrom();
    assertThat(changed).as("the system's time, not the merchant's").isNotEqualTo(LATER);
    assertThat(terms.versions())
        .extracting(BillableTerms.RulesVersion::activeUntil)
        .containsExactly(changed, null);
    assertThat(terms.rulesAt(changed.minusMillis(1)).orElseThrow().calculation())
        .isEqualTo(Calculation.SUM);
    assertThat(terms.rulesAt(changed).orElseThrow().calculation()).isEqualTo(Calculation.MAX);
    assertThat(export().billables().getFirst().eventQueryRules().calculation()).isEqualTo("max");
    PlanView view =
        store
            .planViews(services.pool, merchant.id().uuid(), List.of(plan.uuid()), Detail.EXPANDED)
            .await()
            .get(plan);
    assertThat(view.prices()).hasSize(2);
    assertThat(view.prices().getFirst().price().billable().eventQueryRules())
        .containsEntry("calculation", "max");
  }

  @Test
  void rulesMayEndAndBeginAgain() {
    Id plan = planId(apply(Given.pro()));
    String rules = Given.PRO.substring(Given.PRO.indexOf("    eventQueryRules"));
    rules = rules.substring(0, rules.indexOf("  - {slug: seats"));

    apply(Given.proWith(rules, ""));
    BillableTerms without = apiBillable(plan);
    apply(Given.pro());

    assertThat(without.rulesAt(LATER)).isEmpty();
    BillableTerms again = apiBillable(plan);
    assertThat(again.rulesAt(LATER).orElseThrow().calculation()).isEqualTo(Calculation.SUM);
    assertThat(again.versions()).filteredOn(one -> one.activeUntil() == null).hasSize(1);
  }

  @Test
  void anArchivedBillableThatComesBackKeepsItsVersion() {
    Id plan = planId(apply(Given.pro()));
    BillableTerms before = apiBillable(plan);

    apply(EMPTY);
    apply(Given.pro());

    assertThat(apiBillable(plan)).isEqualTo(before);
  }

  @Test
  void aRemovedPriceAndAllocationEnd() {
    Id plan = planId(apply(Given.pro()));
    services.ask(new SetClock(LATER), merchant);

    apply(
        Given.document(
            """
            billables: [{slug: seats, name: Seats}]
            plans:
              - {externalId: pro, name: Pro, prices: [
                  {billable: seats, billingMode: advance, rules: {quantity: 5, price: 20}}]}
            """));

    PlanTerms terms = terms(plan);
    Instant changed = terms.allocations().getFirst().activeUntil();
    assertThat(terms.pricesFor(BillingCadence.MONTHLY, changed))
        .extracting(PriceTerms::name)
        .containsExactly("Seats");
    assertThat(terms.allocationsAt(changed)).isEmpty();
    assertThat(terms.allocationsAt(changed.minusMillis(1))).hasSize(1);
    assertThat(defaultPlan()).isNull();
  }

  @Test
  void aPlanThatIsGoneIsArchivedAndRevivedUnderItsId() {
    Id plan = planId(apply(Given.pro()));

    CatalogApplied gone = apply(EMPTY);
    PlanTerms archived = terms(plan);
    CatalogApplied back = apply(Given.pro());

    assertThat(gone.changes()).extracting(Change::action).containsOnly("archived");
    assertThat(archived.available()).isFalse();
    assertThat(archived.prices()).extracting(PriceTerms::activeUntil).containsOnlyNulls();
    assertThat(planId(back)).isEqualTo(plan);
    assertThat(terms(plan).available()).isTrue();
    assertThat(terms(plan).prices()).isEqualTo(archived.prices());
    assertThat(back.changes())
        .contains(new Change("updated", "plan", "pro", List.of("status")))
        .noneMatch(change -> change.kind().equals("price"));
    assertThat(defaultPlan()).isEqualTo(plan);
  }

  @Test
  void anInvalidDocumentIsRefusedWithAllItsFaultsAndChangesNothing() {
    apply(Given.pro());
    CatalogDocument before = export();

    Failure failure =
        services.refusal(
            new ApplyCatalog(
                Given.proWith("billable: seats", "billable: chairs, limit: 2, maxUsage: 1")),
            merchant);

    assertThat(((Failure.Invalid) failure).faults())
        .extracting(Failure.Fault::pointer)
        .containsExactly("/plans/0/prices/1/billable", "/plans/0/prices/1/limit");
    assertThat(export()).isEqualTo(before);
  }

  @Test
  void merchantsDoNotSeeEachOther() {
    Call.Merchant other = services.merchant(Environment.TEST);
    Id plan = planId(apply(Given.pro()));
    CatalogApplied theirs = services.ask(new ApplyCatalog(Given.pro()), other);
    CatalogDocument theirDocument = services.ask(new ExportCatalog(), other).document();

    apply(EMPTY);

    assertThat(theirs.changes()).extracting(Change::action).containsOnly("created");
    assertThat(planId(theirs)).isNotEqualTo(plan);
    assertThat(services.ask(new ExportCatalog(), other).document()).isEqualTo(theirDocument);
    var foreign = List.of(plan.uuid());
    var them = other.id().uuid();
    assertThat(store.planTerms(services.pool, them, foreign).await()).isEmpty();
    assertThat(store.planViews(services.pool, them, foreign, Detail.EXPANDED).await()).isEmpty();
    assertThat(store.planId(services.pool, them, plan.toString()).await()).isEmpty();
  }

  @Test
  void concurrentDocumentsAreAppliedOneAfterTheOther() {
    Id plan = planId(apply(Given.pro()));
    List<Future<CatalogApplied>> applying =
        IntStream.range(0, 12)
            .mapToObj(i -> Given.proWith("price: 0.002", "price: 0.00" + (3 + i % 2)))
            .map(document -> services.asking(new ApplyCatalog(document), merchant))
            .toList();

    Future.all(applying).await();

    long replaced = applying.stream().filter(one -> !one.result().changes().isEmpty()).count();
    List<PriceTerms> versions = apiPrices(plan);
    assertThat(versions).hasSize((int) replaced + 1);
    assertThat(versions).filteredOn(version -> version.activeUntil() == null).hasSize(1);
    assertThat(versions)
        .allMatch(
            one -> one.activeUntil() == null || !one.activeUntil().isBefore(one.activeFrom()));
  }

  @Test
  void everyNodeIsToldOfAChangeAndOnlyOfAChange() throws InterruptedException {
    BlockingQueue<String> told = new LinkedBlockingQueue<>();
    String self = merchant.id().toString();
    services
        .vertx
        .eventBus()
        .<String>consumer(
            Address.CATALOG_CHANGED,
            message -> {
              if (message.body().equals(self)) {
                told.add(message.body());
              }
            })
        .completion()
        .await();

    apply(Given.pro());
    apply(Given.pro());
    apply(EMPTY);

    assertThat(told.poll(20, TimeUnit.SECONDS)).isEqualTo(self);
    assertThat(told.poll(20, TimeUnit.SECONDS)).isEqualTo(self);
    assertThat(told.poll(200, TimeUnit.MILLISECONDS)).isNull();
  }

  @Test
  void aCatalogueOfNobodyIsNotFound() {
    Call.Merchant nobody =
        new Call.Merchant(
            Id.parse(io.steelyard.domain.IdKind.MERCHANT, "mer_00000000000000000000000000")
                .orElseThrow(),
            Environment.LIVE,
            merchant.zone());

    assertThat(services.refusal(new ApplyCatalog(Given.pro()), nobody))
        .isEqualTo(Failure.notFound("merchant"));
    assertThat(services.refusal(new ExportCatalog(), nobody))
        .isEqualTo(Failure.notFound("merchant"));
  }

  @Test
  void termsCarryExactNumbersAndParsedRules() {
    PlanTerms terms = terms(planId(apply(Given.demo())));

    PriceTerms api =
        terms.prices().stream()
            .filter(p -> p.name().equals("API requests"))
            .findFirst()
            .orElseThrow();
    assertThat(api.rules().price()).isEqualTo(new BigDecimal("0.002"));
    assertThat(api.limit()).isEqualByComparingTo("10000");
    assertThat(terms.billables().get(api.billableId()).rulesAt(LATER).orElseThrow().overProperty())
        .isEqualTo("data.count");
    assertThat(terms.defaultCadence(LATER)).contains(BillingCadence.MONTHLY);
    assertThat(terms.trialDays()).isZero();
  }

  private CatalogApplied apply(CatalogDocument document) {
    return services.ask(new ApplyCatalog(document), merchant);
  }

  private CatalogDocument export() {
    return services.ask(new ExportCatalog(), merchant).document();
  }

  private static Id planId(CatalogApplied applied) {
    return applied.plans().getFirst().id();
  }

  private PlanTerms terms(Id plan) {
    return store
        .planTerms(services.pool, merchant.id().uuid(), List.of(plan.uuid()))
        .await()
        .get(plan);
  }

  private BillableTerms apiBillable(Id plan) {
    return terms(plan).billables().values().stream()
        .filter(billable -> billable.slug().equals("api-requests"))
        .findFirst()
        .orElseThrow();
  }

  private List<PriceTerms> apiPrices(Id plan) {
    return terms(plan).prices().stream()
        .filter(price -> price.name().equals("API requests"))
        .toList();
  }

  private Id defaultPlan() {
    return store.defaultPlan(services.pool, merchant.id().uuid()).await().planId();
  }
}
