package io.steelyard.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.bus.Call;
import io.steelyard.catalog.CatalogMessages.ApplyCatalog;
import io.steelyard.catalog.CatalogMessages.CatalogApplied;
import io.steelyard.catalog.CatalogMessages.PlanView;
import io.steelyard.catalog.CatalogMessages.PriceView;
import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.CatalogStatus;
import io.steelyard.domain.Environment;
import io.steelyard.domain.Id;
import io.steelyard.json.Json;
import io.steelyard.support.MerchantServices;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class CatalogStoreIT {
  private static MerchantServices services;
  private static Call.Merchant merchant;
  private static CatalogApplied applied;

  private final CatalogStore store = new CatalogStore();

  @BeforeAll
  static void start() {
    services = new MerchantServices();
    merchant = services.merchant(Environment.LIVE);
    applied = services.ask(new ApplyCatalog(Given.demo()), merchant);
  }

  @AfterAll
  static void stop() {
    services.close();
  }

  @Test
  void aPlainPlanShowsItsFirstBasePriceOnly() {
    PlanView pro = view("pro", Detail.PLAIN);

    assertThat(pro.merchantId()).isEqualTo(merchant.id());
    assertThat(pro.status()).isEqualTo(CatalogStatus.AVAILABLE);
    assertThat(UUID.fromString(pro.crossEnvironmentId())).isNotNull();
    assertThat(pro.basePlanPrice().id()).isEqualTo(pro.basePlanPriceId());
    assertThat(pro.basePlanPrice().billingCadence()).isEqualTo(BillingCadence.MONTHLY);
    assertThat(pro.basePlanPrice().entityType()).isEqualTo("basePlan");
    assertThat(pro.basePlanPrice().rules())
        .isEqualTo(Map.of("quantity", BigDecimal.ONE, "price", new BigDecimal("49")));
    assertThat(pro.basePlanPriceQuarterlyId()).isNotNull();
    assertThat(pro.basePlanPriceAnnuallyStatus()).isEqualTo("active");
    assertThat(Json.encodeText(pro))
        .doesNotContain("\"basePlanPriceQuarterly\"", "\"prices\"", "\"billable\"");
  }

  @Test
  void anExpandedPlanShowsEveryPriceWithItsBillable() {
    PlanView pro = view("pro", Detail.EXPANDED);

    assertThat(pro.basePlanPriceQuarterly().id()).isEqualTo(pro.basePlanPriceQuarterlyId());
    assertThat(pro.basePlanPriceAnnually().id()).isEqualTo(pro.basePlanPriceAnnuallyId());
    assertThat(pro.prices())
        .extracting(price -> price.price().name())
        .containsExactly("API requests", "Model tokens");
    PriceView api = pro.prices().getFirst().price();
    assertThat(api.entityType()).isEqualTo("entitlement");
    assertThat(api.billingCadence()).isEqualTo(BillingCadence.MONTHLY);
    assertThat(api.rules().get("price")).isEqualTo(new BigDecimal("0.002"));
    assertThat(api.billable().id()).isEqualTo(api.billableId());
    assertThat(api.billable().eventQueryRules())
        .isEqualTo(
            Map.of(
                "conditions",
                List.of(
                    List.of(Map.of("key", "eventName", "rule", "matches", "value", "api.request"))),
                "calculation",
                "sum",
                "overProperty",
                "data.count"));
    assertThat(pro.prices().get(1).price().customPricingUnitId())
        .isEqualTo(applied.customPricingUnits().getFirst().id());
  }

  @Test
  void aPlanWithoutAMonthlyPriceShowsTheFirstThereIs() {
    PlanView enterprise = view("enterprise", Detail.EXPANDED);

    assertThat(enterprise.basePlanPriceId()).isEqualTo(enterprise.basePlanPriceAnnuallyId());
    assertThat(enterprise.basePlanPriceMonthlyStatus()).isNull();
    assertThat(enterprise.basePlanPriceQuarterlyId()).isNull();
    assertThat(enterprise.basePlanPriceQuarterly()).isNull();
    assertThat(enterprise.isPrivate()).isTrue();
    assertThat(enterprise.prices())
        .extracting(price -> price.price().billingCadence())
        .containsOnly(BillingCadence.ANNUALLY);
  }

  @Test
  void aViewShowsActivePricesOnly() {
    Call.Merchant other = services.merchant(Environment.LIVE);
    CatalogApplied first = services.ask(new ApplyCatalog(Given.pro()), other);
    services.ask(new ApplyCatalog(Given.proWith("price: 0.002", "price: 0.003")), other);
    Id plan = first.plans().getFirst().id();

    PlanView view =
        store
            .planViews(services.pool, other.id().uuid(), List.of(plan.uuid()), Detail.EXPANDED)
            .await()
            .get(plan);

    assertThat(view.prices()).hasSize(2);
    assertThat(view.prices().getFirst().price().rules().get("price"))
        .isEqualTo(new BigDecimal("0.003"));
  }

  @Test
  void manyPlansAreReadAtOnceAndUnknownOnesLeftOut() {
    List<UUID> ids = List.of(planId("pro").uuid(), planId("scale").uuid(), UUID.randomUUID());
    UUID us = merchant.id().uuid();

    assertThat(store.planTerms(services.pool, us, ids).await())
        .containsOnlyKeys(planId("pro"), planId("scale"));
    assertThat(store.planViews(services.pool, us, ids, Detail.PLAIN).await())
        .containsOnlyKeys(planId("pro"), planId("scale"));
    assertThat(store.planTerms(services.pool, us, List.of()).await()).isEmpty();
  }

  @Test
  void idsOfAnyTextAreResolved() {
    UUID us = merchant.id().uuid();
    Id credits = applied.customPricingUnits().getFirst().id();

    assertThat(store.planId(services.pool, us, planId("pro").toString()).await())
        .contains(planId("pro"));
    assertThat(store.planId(services.pool, us, "pro").await()).isEmpty();
    assertThat(store.planId(services.pool, us, credits.toString()).await()).isEmpty();
    assertThat(store.unit(services.pool, us, credits.toString()).await())
        .contains(new UnitTerms(credits, "Credits", "Credit", "cr"));
    assertThat(store.unit(services.pool, us, "credits").await()).isEmpty();
    assertThat(store.unit(services.pool, UUID.randomUUID(), credits.toString()).await()).isEmpty();
    assertThat(store.defaultPlan(services.pool, us).await().planId()).isEqualTo(planId("pro"));
  }

  private static Id planId(String externalId) {
    return applied.plans().stream()
        .filter(plan -> plan.externalId().equals(externalId))
        .findFirst()
        .orElseThrow()
        .id();
  }

  private PlanView view(String externalId, Detail detail) {
    Id plan = planId(externalId);
    return store
        .planViews(services.pool, merchant.id().uuid(), List.of(plan.uuid()), detail)
        .await()
        .get(plan);
  }
}
