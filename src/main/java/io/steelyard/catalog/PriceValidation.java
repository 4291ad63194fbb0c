package io.steelyard.catalog;

import io.steelyard.catalog.CatalogDocument.Price;
import io.steelyard.domain.BillingMode;
import io.steelyard.domain.PriceType;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Whether the usage prices of a plan can be billed by. */
final class PriceValidation {
  private static final int PRICES_MAX = 200;
  private static final int TIERS_MAX = 100;
  private static final Set<String> RULES = Set.of("quantity", "price", "tiers");
  private static final Set<String> TIER = Set.of("upTo", "price", "flatFee");

  private final Faults faults;
  private final Set<String> units;
  private final Set<String> billables;

  PriceValidation(Faults faults, Set<String> units, Set<String> billables) {
    this.faults = faults;
    this.units = units;
    this.billables = billables;
  }

  void check(String at, List<Price> prices) {
    if (!faults.list(at, prices, PRICES_MAX)) {
      return;
    }
    Map<String, Set<String>> cadences = new HashMap<>();
    for (int i = 0; i < prices.size(); i++) {
      price(at + "/" + i, prices.get(i), cadences);
    }
  }

  private void price(String at, Price price, Map<String, Set<String>> cadences) {
    if (price.name() != null) {
      faults.text(at + "/name", price.name());
    }
    if (faults.required(at + "/billable", price.billable())) {
      billable(at + "/billable", price, cadences);
    }
    unit(at, price);
    boolean numbers = faults.notNegative(at + "/limit", price.limit());
    numbers &= faults.notNegative(at + "/maxUsage", price.maxUsage());
    if (numbers && price.limit().compareTo(price.maxUsage()) > 0) {
      faults.add(at + "/limit", "above_max_usage", "must not be above maxUsage");
    }
    if (faults.required(at + "/rules", price.rules())) {
      rules(at + "/rules", price.rules(), price.priceType());
    }
  }

  /** A price without a cadence applies to all, so that no other can stand beside it. */
  private void billable(String at, Price price, Map<String, Set<String>> cadences) {
    if (!billables.contains(price.billable())) {
      faults.add(at, "unknown_billable", "no billable has the slug " + price.billable());
      return;
    }
    String cadence = price.billingCadence() == null ? "any" : price.billingCadence().wire();
    Set<String> taken = cadences.computeIfAbsent(price.billable(), slug -> new HashSet<>());
    boolean overlaps =
        taken.contains("any")
            || taken.contains(cadence)
            || cadence.equals("any") && !taken.isEmpty();
    if (overlaps) {
      faults.add(at, "duplicate", "the plan prices " + price.billable() + " twice");
    }
    taken.add(cadence);
  }

  private void unit(String at, Price price) {
    boolean uses = Boolean.TRUE.equals(price.usesCustomPricingUnit());
    String unit = price.customPricingUnit();
    if (uses && unit == null) {
      faults.add(at + "/customPricingUnit", "required", "is required with usesCustomPricingUnit");
    }
    if (!uses && unit != null) {
      faults.add(
          at + "/usesCustomPricingUnit", "inconsistent", "must be true with a customPricingUnit");
    }
    if (unit != null && !units.contains(unit)) {
      faults.add(
          at + "/customPricingUnit", "unknown_custom_pricing_unit", "no unit has the key " + unit);
    }
    if (uses && price.billingMode() == BillingMode.ADVANCE) {
      faults.add(
          at + "/billingMode", "inconsistent", "units are drawn as usage comes, not in advance");
    }
  }

  private void rules(String at, Map<String, Object> rules, PriceType priceType) {
    onlyMembers(at, rules, RULES);
    faults.positive(at + "/quantity", number(at + "/quantity", rules.get("quantity")));
    faults.notNegative(at + "/price", number(at + "/price", rules.get("price")));
    boolean tiered = priceType == PriceType.TIERED || priceType == PriceType.VOLUME;
    Object tiers = rules.get("tiers");
    if (!tiered) {
      faults.required(at + "/price", rules.get("price"));
      if (tiers != null) {
        faults.add(at + "/tiers", "inconsistent", "only tiered and volume prices have tiers");
      }
    } else if (faults.required(at + "/tiers", tiers)) {
      tiers(at + "/tiers", tiers);
    }
  }

  private void tiers(String at, Object value) {
    if (!(value instanceof List<?> tiers) || tiers.isEmpty()) {
      faults.add(at, "min_items", "must be a list of at least one tier");
      return;
    }
    if (!faults.list(at, tiers, TIERS_MAX)) {
      return;
    }
    BigDecimal last = BigDecimal.ZERO;
    for (int i = 0; i < tiers.size(); i++) {
      String tierAt = at + "/" + i;
      if (tiers.get(i) instanceof Map<?, ?> tier) {
        last = tier(tierAt, tier, last, i == tiers.size() - 1);
      } else {
        faults.add(tierAt, "wrong_type", "must be an object");
      }
    }
  }

  /** Answers the end of the tier, or that of the one before where it has none to speak of. */
  private BigDecimal tier(String at, Map<?, ?> tier, BigDecimal last, boolean isLast) {
    onlyMembers(at, tier, TIER);
    if (faults.required(at + "/price", tier.get("price"))) {
      faults.notNegative(at + "/price", number(at + "/price", tier.get("price")));
    }
    faults.notNegative(at + "/flatFee", number(at + "/flatFee", tier.get("flatFee")));
    if (isLast) {
      if (tier.get("upTo") != null) {
        faults.add(at + "/upTo", "not_allowed", "the last tier has no end");
      }
      return last;
    }
    if (!faults.required(at + "/upTo", tier.get("upTo"))) {
      return last;
    }
    BigDecimal upTo = number(at + "/upTo", tier.get("upTo"));
    if (!faults.positive(at + "/upTo", upTo)) {
      return last;
    }
    if (upTo.compareTo(last) <= 0) {
      faults.add(at + "/upTo", "not_ascending", "must be above the end of the tier before");
    }
    return upTo;
  }

  private void onlyMembers(String at, Map<?, ?> object, Set<String> known) {
    for (Object name : object.keySet()) {
      if (!known.contains(name.toString())) {
        faults.add(at + Faults.step(name.toString()), "unknown_property", "is not known");
      }
    }
  }

  /** Null when it is missing, or no number, which is noted. */
  private BigDecimal number(String at, Object value) {
    if (value == null) {
      return null;
    }
    if (!(value instanceof Number)) {
      faults.add(at, "wrong_type", "must be a number");
      return null;
    }
    return new BigDecimal(value.toString());
  }
}
