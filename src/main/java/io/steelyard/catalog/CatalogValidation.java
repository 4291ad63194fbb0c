package io.steelyard.catalog;

import static io.steelyard.catalog.CatalogDefaults.orEmpty;

import io.steelyard.bus.Failure.Fault;
import io.steelyard.catalog.CatalogDocument.Allocation;
import io.steelyard.catalog.CatalogDocument.BasePrices;
import io.steelyard.catalog.CatalogDocument.Billable;
import io.steelyard.catalog.CatalogDocument.Plan;
import io.steelyard.catalog.CatalogDocument.Unit;
import java.math.BigDecimal;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What a document's form cannot tell: that names are unique, references lead somewhere, and prices
 * mean something. Finds every fault, by JSON pointer into the document.
 */
final class CatalogValidation {
  private static final int UNITS_MAX = 1000;
  private static final int BILLABLES_MAX = 1000;
  private static final int PLANS_MAX = 1000;
  private static final int ALLOCATIONS_MAX = 50;
  private static final int TRIAL_DAYS_MAX = 3650;

  private final CatalogDocument document;
  private final Faults faults = new Faults();
  private final Set<String> units = new HashSet<>();
  private final Set<String> billables = new HashSet<>();

  private CatalogValidation(CatalogDocument document) {
    this.document = document;
  }

  static List<Fault> faults(CatalogDocument document) {
    return new CatalogValidation(document).check();
  }

  private List<Fault> check() {
    units();
    billables();
    plans();
    return faults.found();
  }

  private void units() {
    List<Unit> all = orEmpty(document.customPricingUnits());
    if (faults.list("/customPricingUnits", all, UNITS_MAX)) {
      for (int i = 0; i < all.size(); i++) {
        String at = "/customPricingUnits/" + i;
        faults.name(at + "/key", all.get(i).key(), units);
        faults.text(at + "/displayName", all.get(i).displayName());
      }
    }
  }

  private void billables() {
    List<Billable> all = orEmpty(document.billables());
    if (faults.list("/billables", all, BILLABLES_MAX)) {
      for (int i = 0; i < all.size(); i++) {
        String at = "/billables/" + i;
        faults.name(at + "/slug", all.get(i).slug(), billables);
        faults.text(at + "/name", all.get(i).name());
        EventRulesValidation.check(at + "/eventQueryRules", all.get(i).eventQueryRules(), faults);
      }
    }
  }

  private void plans() {
    List<Plan> all = orEmpty(document.plans());
    Set<String> known = new HashSet<>();
    if (faults.list("/plans", all, PLANS_MAX)) {
      for (int i = 0; i < all.size(); i++) {
        String at = "/plans/" + i;
        faults.name(at + "/externalId", all.get(i).externalId(), known);
        plan(at, all.get(i));
      }
      defaultPlan(all);
    }
  }

  private void plan(String at, Plan plan) {
    faults.text(at + "/name", plan.name());
    if (plan.crossEnvironmentId() != null) {
      faults.text(at + "/crossEnvironmentId", plan.crossEnvironmentId());
    }
    requestPricingUrl(at + "/requestPricingUrl", plan.requestPricingUrl());
    Integer trialDays = plan.trialDays();
    if (trialDays != null && (trialDays < 0 || trialDays > TRIAL_DAYS_MAX)) {
      faults.add(at + "/trialDays", "out_of_range", "must be from 0 to " + TRIAL_DAYS_MAX);
    }
    if (plan.basePrices() != null) {
      basePrices(at + "/basePrices", plan.basePrices());
    }
    new PriceValidation(faults, units, billables).check(at + "/prices", orEmpty(plan.prices()));
    allocations(at + "/allocations", orEmpty(plan.allocations()));
  }

  private void requestPricingUrl(String at, String url) {
    if (url != null && !url.isEmpty() && !isWebAddress(url)) {
      faults.add(at, "format", "must be an absolute http or https URL");
    }
  }

  private static boolean isWebAddress(String url) {
    try {
      URI uri = new URI(url);
      return uri.getHost() != null
          && ("http".equalsIgnoreCase(uri.getScheme())
              || "https".equalsIgnoreCase(uri.getScheme()));
    } catch (URISyntaxException e) {
      return false;
    }
  }

  private void basePrices(String at, BasePrices base) {
    faults.notNegative(at + "/monthly", base.monthly());
    faults.notNegative(at + "/quarterly", base.quarterly());
    faults.notNegative(at + "/annually", base.annually());
    faults.notNegative(at + "/oneTime", base.oneTime());
  }

  private void allocations(String at, List<Allocation> all) {
    Set<String> seen = new HashSet<>();
    if (!faults.list(at, all, ALLOCATIONS_MAX)) {
      return;
    }
    for (int i = 0; i < all.size(); i++) {
      Allocation allocation = all.get(i);
      String unitAt = at + "/" + i + "/customPricingUnit";
      String unit = allocation.customPricingUnit();
      if (faults.required(unitAt, unit)) {
        if (!units.contains(unit)) {
          faults.add(unitAt, "unknown_custom_pricing_unit", "no unit has the key " + unit);
        } else if (!seen.add(unit)) {
          // a period has one block of each unit
          faults.add(unitAt, "duplicate", "the plan allocates " + unit + " twice");
        }
      }
      String amountAt = at + "/" + i + "/amount";
      if (faults.required(amountAt, allocation.amount())) {
        faults.positive(amountAt, allocation.amount());
      }
      BigDecimal rolloverMax = allocation.rolloverMax();
      faults.notNegative(at + "/" + i + "/rolloverMax", rolloverMax);
    }
  }

  private void defaultPlan(List<Plan> plans) {
    String wanted = document.defaultPlan();
    if (wanted == null) {
      return;
    }
    Plan plan =
        plans.stream().filter(one -> wanted.equals(one.externalId())).findFirst().orElse(null);
    if (plan == null) {
      faults.add("/defaultPlan", "unknown_plan", "no plan has the externalId " + wanted);
    } else if (Boolean.TRUE.equals(plan.isPrivate())) {
      faults.add("/defaultPlan", "private_plan", "a private plan cannot be the default");
    }
  }
}
