package io.steelyard.catalog;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.steelyard.bus.Address;
import io.steelyard.bus.Reply;
import io.steelyard.bus.Request;
import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.BillingMode;
import io.steelyard.domain.CatalogStatus;
import io.steelyard.domain.Currency;
import io.steelyard.domain.Id;
import io.steelyard.domain.NetTerms;
import io.steelyard.domain.PriceType;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** What the catalog verticle may be asked: apply and export a merchant's whole catalogue. */
public sealed interface CatalogMessages<R extends Reply> extends Request<R> {
  @Override
  default Address address() {
    return Address.CATALOG;
  }

  /** Makes the catalogue of the call's merchant equal to {@code document}. Idempotent. */
  record ApplyCatalog(CatalogDocument document) implements CatalogMessages<CatalogApplied> {}

  /** The catalogue as a document that, applied, changes nothing. */
  record ExportCatalog() implements CatalogMessages<CatalogExported> {}

  record CatalogExported(CatalogDocument document) implements Reply {}

  /** The ids of everything the document names, and what the call changed. */
  record CatalogApplied(
      List<UnitRef> customPricingUnits,
      List<BillableRef> billables,
      List<PlanRef> plans,
      List<Change> changes)
      implements Reply {}

  record UnitRef(String key, Id id) {}

  record BillableRef(String slug, Id id) {}

  record PlanRef(String externalId, Id id, List<PriceRef> prices) {}

  record PriceRef(Id id, String name, BillingCadence billingCadence, String billable) {}

  /**
   * One difference between the stored catalogue and the document.
   *
   * @param action {@code created}, {@code updated}, {@code replaced} or {@code archived}
   * @param kind {@code customPricingUnit}, {@code billable}, {@code plan}, {@code price}, {@code
   *     allocation} or {@code defaultPlan}
   * @param key the key, slug or externalId; for a price or allocation that of the plan, a slash and
   *     its name
   */
  record Change(String action, String kind, String key, List<String> fields) {}

  /** A plan as the external API shows it; parts that are null are left out where documented. */
  record PlanView(
      Id id,
      String externalId,
      String crossEnvironmentId,
      Id merchantId,
      String name,
      String description,
      Currency currency,
      NetTerms netTerms,
      boolean isPrivate,
      boolean purchasable,
      String requestPricingText,
      String requestPricingUrl,
      CatalogStatus status,
      Id basePlanPriceId,
      Id basePlanPriceQuarterlyId,
      Id basePlanPriceAnnuallyId,
      String basePlanPriceMonthlyStatus,
      String basePlanPriceQuarterlyStatus,
      String basePlanPriceAnnuallyStatus,
      PriceView basePlanPrice,
      @JsonInclude(JsonInclude.Include.NON_NULL) PriceView basePlanPriceQuarterly,
      @JsonInclude(JsonInclude.Include.NON_NULL) PriceView basePlanPriceAnnually,
      @JsonInclude(JsonInclude.Include.NON_NULL) List<PlanPrice> prices,
      Instant createdAt,
      Instant updatedAt) {}

  record PlanPrice(PriceView price) {}

  record PriceView(
      Id id,
      String name,
      BillingCadence billingCadence,
      BillingMode billingMode,
      boolean blockOverage,
      String entityType,
      PriceType priceType,
      Map<String, Object> rules,
      String status,
      boolean usesCustomPricingUnit,
      Id billableId,
      Id merchantId,
      BigDecimal limit,
      BigDecimal maxUsage,
      Id customPricingUnitId,
      Instant createdAt,
      @JsonInclude(JsonInclude.Include.NON_NULL) BillableView billable) {}

  record BillableView(
      Id id,
      String name,
      String description,
      CatalogStatus status,
      String externalFlagId,
      String includedLabel,
      String singleUnitLabel,
      String multipleUnitLabel,
      boolean isPrivate,
      boolean showOnInvoice,
      boolean hidden,
      String slug,
      int displayOrder,
      Instant createdAt,
      Instant updatedAt,
      Map<String, Object> eventQueryRules) {}
}
