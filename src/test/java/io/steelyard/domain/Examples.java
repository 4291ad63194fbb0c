package io.steelyard.domain;

import io.steelyard.domain.BillableTerms.RulesVersion;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Terms to test with: prices that hold for ever unless a test says otherwise. */
final class Examples {
  static final Instant LONG_AGO = Instant.parse("2000-01-01T00:00:00Z");

  private Examples() {}

  static BigDecimal decimal(String number) {
    return number == null ? null : new BigDecimal(number);
  }

  static Quotient quotient(String number) {
    return Quotient.of(decimal(number));
  }

  static Id id(IdKind kind, int number) {
    return new Id(kind, new UUID(0, number));
  }

  static PriceRules rules(String quantity, String price, PriceRules.Tier... tiers) {
    return new PriceRules(decimal(quantity), decimal(price), List.of(tiers));
  }

  static PriceRules.Tier tier(String upTo, String price, String flatFee) {
    return new PriceRules.Tier(decimal(upTo), decimal(price), decimal(flatFee));
  }

  static PriceTerms base(int number, BillingCadence cadence, String price) {
    return new PriceTerms(
        id(IdKind.PRICE, number),
        true,
        "base " + cadence.wire(),
        cadence,
        BillingMode.ADVANCE,
        PriceType.UNIT,
        rules("1", price),
        false,
        null,
        null,
        null,
        null,
        0,
        LONG_AGO,
        null);
  }

  static PriceTerms usage(int number, BillingMode mode, PriceType type, PriceRules rules) {
    return new PriceTerms(
        id(IdKind.PRICE, number),
        false,
        "usage " + number,
        null,
        mode,
        type,
        rules,
        false,
        null,
        null,
        id(IdKind.BILLABLE, number),
        null,
        number,
        LONG_AGO,
        null);
  }

  static PriceTerms limited(PriceTerms price, String limit, String maxUsage, boolean blockOverage) {
    return new PriceTerms(
        price.id(),
        price.base(),
        price.name(),
        price.cadence(),
        price.mode(),
        price.type(),
        price.rules(),
        blockOverage,
        decimal(limit),
        decimal(maxUsage),
        price.billableId(),
        price.customPricingUnitId(),
        price.position(),
        price.activeFrom(),
        price.activeUntil());
  }

  static PriceTerms inUnits(PriceTerms price) {
    return new PriceTerms(
        price.id(),
        price.base(),
        price.name(),
        price.cadence(),
        price.mode(),
        price.type(),
        price.rules(),
        price.blockOverage(),
        price.limit(),
        price.maxUsage(),
        price.billableId(),
        id(IdKind.CUSTOM_PRICING_UNIT, 1),
        price.position(),
        price.activeFrom(),
        price.activeUntil());
  }

  static PriceTerms active(PriceTerms price, Instant from, Instant until) {
    return new PriceTerms(
        price.id(),
        price.base(),
        price.name(),
        price.cadence(),
        price.mode(),
        price.type(),
        price.rules(),
        price.blockOverage(),
        price.limit(),
        price.maxUsage(),
        price.billableId(),
        price.customPricingUnitId(),
        price.position(),
        from,
        until);
  }

  /** A billable whose usage is the sum of what its events bring. */
  private static BillableTerms summed(Id id) {
    EventRules rules = new EventRules(List.of(), Calculation.SUM, "data.n");
    return new BillableTerms(
        id, "b", "B", "", "", List.of(new RulesVersion(rules, LONG_AGO, null)));
  }

  static PlanTerms plan(boolean chargeUsageDuringTrial, PriceTerms... prices) {
    return new PlanTerms(
        id(IdKind.PLAN, 1),
        "pro",
        "Pro",
        Currency.USD,
        NetTerms.NET30,
        false,
        true,
        14,
        chargeUsageDuringTrial,
        Stream.of(prices).toList(),
        List.of(),
        Stream.of(prices)
            .map(PriceTerms::billableId)
            .filter(Objects::nonNull)
            .collect(Collectors.toMap(each -> each, Examples::summed, (a, b) -> a)));
  }
}
