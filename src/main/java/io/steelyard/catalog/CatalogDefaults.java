package io.steelyard.catalog;

import io.steelyard.catalog.CatalogDocument.Allocation;
import io.steelyard.catalog.CatalogDocument.BasePrices;
import io.steelyard.catalog.CatalogDocument.Billable;
import io.steelyard.catalog.CatalogDocument.Condition;
import io.steelyard.catalog.CatalogDocument.Plan;
import io.steelyard.catalog.CatalogDocument.Price;
import io.steelyard.catalog.CatalogDocument.Rules;
import io.steelyard.catalog.CatalogDocument.Unit;
import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.BillingMode;
import io.steelyard.domain.Currency;
import io.steelyard.domain.NetTerms;
import io.steelyard.domain.PriceType;
import io.steelyard.json.Json;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Fills in what a valid document leaves out and writes every number and value in one form, so that
 * two documents that mean the same are equal. Only a plan's {@code crossEnvironmentId} stays null:
 * it is made once and then kept.
 */
final class CatalogDefaults {
  private CatalogDefaults() {}

  static CatalogDocument complete(CatalogDocument document) {
    List<Billable> billables = orEmpty(document.billables());
    Map<String, Billable> bySlug =
        billables.stream().collect(Collectors.toMap(Billable::slug, Function.identity()));
    return new CatalogDocument(
        orEmpty(document.customPricingUnits()).stream().map(CatalogDefaults::unit).toList(),
        IntStream.range(0, billables.size()).mapToObj(i -> billable(billables.get(i), i)).toList(),
        orEmpty(document.plans()).stream().map(plan -> plan(plan, bySlug)).toList(),
        document.defaultPlan());
  }

  private static Unit unit(Unit unit) {
    return new Unit(
        unit.key(),
        unit.displayName(),
        or(unit.displayNameSingular(), unit.displayName()),
        or(unit.shortName(), unit.key()));
  }

  private static Billable billable(Billable billable, int position) {
    return new Billable(
        billable.slug(),
        billable.name(),
        or(billable.description(), ""),
        or(billable.externalFlagId(), ""),
        or(billable.includedLabel(), billable.name()),
        or(billable.singleUnitLabel(), billable.name()),
        or(billable.multipleUnitLabel(), billable.name()),
        or(billable.isPrivate(), false),
        or(billable.showOnInvoice(), true),
        or(billable.hidden(), false),
        or(billable.displayOrder(), position),
        billable.eventQueryRules() == null ? null : rules(billable.eventQueryRules()));
  }

  private static Rules rules(Rules rules) {
    return new Rules(
        rules.conditions().stream()
            .map(all -> all.stream().map(CatalogDefaults::condition).toList())
            .toList(),
        rules.calculation(),
        rules.overProperty());
  }

  private static Condition condition(Condition condition) {
    Object value =
        switch (condition.value()) {
          case null -> null;
          case List<?> list -> list.stream().map(CatalogDefaults::text).toList();
          case Object single -> text(single);
        };
    return new Condition(condition.key(), condition.rule(), value);
  }

  /** As an event's property is turned into text, so that the two can be equal. */
  static String text(Object value) {
    return value instanceof Number number ? exact(number).toPlainString() : value.toString();
  }

  private static Plan plan(Plan plan, Map<String, Billable> billables) {
    return new Plan(
        plan.externalId(),
        plan.name(),
        or(plan.description(), ""),
        or(plan.currency(), Currency.USD),
        or(plan.netTerms(), NetTerms.UPON_RECEIPT),
        or(plan.isPrivate(), false),
        or(plan.purchasable(), true),
        or(plan.requestPricingText(), ""),
        or(plan.requestPricingUrl(), ""),
        plan.crossEnvironmentId(),
        or(plan.trialDays(), 0),
        or(plan.chargeForUsageBasedPricesDuringTrial(), false),
        plan.basePrices(),
        orEmpty(plan.prices()).stream()
            .map(price -> price(price, billables.get(price.billable())))
            .toList(),
        orEmpty(plan.allocations()).stream().map(CatalogDefaults::allocation).toList());
  }

  private static Price price(Price price, Billable billable) {
    return new Price(
        or(price.name(), billable.name()),
        price.billable(),
        price.billingCadence(),
        or(price.billingMode(), BillingMode.ARREARS),
        or(price.priceType(), PriceType.UNIT),
        priceRules(price.rules()),
        exact(price.limit()),
        exact(price.maxUsage()),
        or(price.blockOverage(), false),
        or(price.usesCustomPricingUnit(), false),
        price.customPricingUnit());
  }

  private static Map<String, Object> priceRules(Map<String, Object> rules) {
    Map<String, Object> complete = new LinkedHashMap<>();
    complete.put("quantity", or(exact(rules.get("quantity")), BigDecimal.ONE));
    if (rules.get("price") != null) {
      complete.put("price", exact(rules.get("price")));
    }
    if (rules.get("tiers") instanceof List<?> tiers) {
      complete.put("tiers", tiers.stream().map(tier -> tier((Map<?, ?>) tier)).toList());
    }
    return complete;
  }

  private static Map<String, Object> tier(Map<?, ?> tier) {
    Map<String, Object> complete = new LinkedHashMap<>();
    if (tier.get("upTo") != null) {
      complete.put("upTo", exact(tier.get("upTo")));
    }
    complete.put("price", exact(tier.get("price")));
    complete.put("flatFee", or(exact(tier.get("flatFee")), BigDecimal.ZERO));
    return complete;
  }

  private static Allocation allocation(Allocation allocation) {
    return new Allocation(
        allocation.customPricingUnit(),
        exact(allocation.amount()),
        or(allocation.billingCadence(), BillingCadence.MONTHLY),
        exact(allocation.rolloverMax()));
  }

  /** A plan's base prices, in the order of preference, as prices without a billable. */
  static List<Price> basePrices(BasePrices base) {
    List<Price> prices = new ArrayList<>();
    if (base != null) {
      addBase(prices, "Monthly base price", BillingCadence.MONTHLY, base.monthly());
      addBase(prices, "Quarterly base price", BillingCadence.QUARTERLY, base.quarterly());
      addBase(prices, "Annual base price", BillingCadence.ANNUALLY, base.annually());
      addBase(prices, "One-time base price", BillingCadence.ONE_TIME, base.oneTime());
    }
    return prices;
  }

  private static void addBase(
      List<Price> prices, String name, BillingCadence cadence, BigDecimal amount) {
    if (amount != null) {
      Map<String, Object> rules = new LinkedHashMap<>();
      rules.put("quantity", BigDecimal.ONE);
      rules.put("price", exact(amount));
      prices.add(
          new Price(
              name,
              null,
              cadence,
              BillingMode.ADVANCE,
              PriceType.UNIT,
              rules,
              null,
              null,
              false,
              false,
              null));
    }
  }

  private static BigDecimal exact(Object number) {
    return number == null ? null : Json.plain(new BigDecimal(number.toString()));
  }

  private static <T> T or(T value, T otherwise) {
    return value == null ? otherwise : value;
  }

  static <T> List<T> orEmpty(List<T> list) {
    return list == null ? List.of() : list;
  }
}
