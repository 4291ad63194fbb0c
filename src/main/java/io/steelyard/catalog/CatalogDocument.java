package io.steelyard.catalog;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.BillingMode;
import io.steelyard.domain.Currency;
import io.steelyard.domain.NetTerms;
import io.steelyard.domain.PriceType;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;

/**
 * A merchant's whole catalogue as the operator writes it. References are by key, slug and
 * externalId. Components that a writer may leave out are null here; the defaults are the
 * catalogue's ({@code CatalogVerticle} fills them in).
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record CatalogDocument(
    List<Unit> customPricingUnits, List<Billable> billables, List<Plan> plans, String defaultPlan) {

  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Unit(
      String key, String displayName, String displayNameSingular, String shortName) {}

  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Billable(
      String slug,
      String name,
      String description,
      String externalFlagId,
      String includedLabel,
      String singleUnitLabel,
      String multipleUnitLabel,
      Boolean isPrivate,
      Boolean showOnInvoice,
      Boolean hidden,
      Integer displayOrder,
      Rules eventQueryRules) {}

  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Rules(List<List<Condition>> conditions, String calculation, String overProperty) {}

  /** {@code value} is text, but for {@code in} a list of texts, and for {@code exists} absent. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Condition(String key, String rule, Object value) {}

  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Plan(
      String externalId,
      String name,
      String description,
      Currency currency,
      NetTerms netTerms,
      Boolean isPrivate,
      Boolean purchasable,
      String requestPricingText,
      String requestPricingUrl,
      String crossEnvironmentId,
      Integer trialDays,
      Boolean chargeForUsageBasedPricesDuringTrial,
      BasePrices basePrices,
      List<Price> prices,
      List<Allocation> allocations) {}

  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record BasePrices(
      BigDecimal monthly, BigDecimal quarterly, BigDecimal annually, BigDecimal oneTime) {}

  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Price(
      String name,
      String billable,
      BillingCadence billingCadence,
      BillingMode billingMode,
      PriceType priceType,
      Map<String, Object> rules,
      BigDecimal limit,
      BigDecimal maxUsage,
      Boolean blockOverage,
      Boolean usesCustomPricingUnit,
      String customPricingUnit) {}

  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Allocation(
      String customPricingUnit,
      BigDecimal amount,
      BillingCadence billingCadence,
      BigDecimal rolloverMax) {}
}
