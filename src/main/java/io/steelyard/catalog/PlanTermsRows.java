package io.steelyard.catalog;

import io.steelyard.db.Sql;
import io.steelyard.domain.AllocationTerms;
import io.steelyard.domain.BillableTerms;
import io.steelyard.domain.BillableTerms.RulesVersion;
import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.BillingMode;
import io.steelyard.domain.CatalogStatus;
import io.steelyard.domain.Currency;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.NetTerms;
import io.steelyard.domain.PlanTerms;
import io.steelyard.domain.PriceTerms;
import io.steelyard.domain.PriceType;
import io.steelyard.domain.WireName;
import io.vertx.sqlclient.Row;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Rows of plans, prices, billables and allocations as the domain's terms. */
final class PlanTermsRows {
  private PlanTermsRows() {}

  static Map<Id, PlanTerms> read(Map<Id, List<Row>> plans, Map<Id, List<Row>> allocations) {
    Map<Id, PlanTerms> terms = new LinkedHashMap<>();
    plans.forEach(
        (id, rows) -> terms.put(id, plan(id, rows, allocations.getOrDefault(id, List.of()))));
    return terms;
  }

  private static PlanTerms plan(Id id, List<Row> rows, List<Row> allocations) {
    List<PriceTerms> prices = new ArrayList<>();
    Map<Id, BillableTerms> billables = new LinkedHashMap<>();
    for (Row row : rows) {
      if (row.getUUID("price_id") != null) {
        prices.add(price(row));
      }
      Id billable = Sql.id(row, "billable_id", IdKind.BILLABLE);
      if (billable != null && !billables.containsKey(billable)) {
        billables.put(billable, billable(billable, row));
      }
    }
    Row plan = rows.getFirst();
    return new PlanTerms(
        id,
        plan.getString("external_id"),
        plan.getString("plan_name"),
        WireName.parse(Currency.class, plan.getString("currency")),
        WireName.parse(NetTerms.class, plan.getString("net_terms")),
        plan.getBoolean("is_private"),
        WireName.parse(CatalogStatus.class, plan.getString("status")) == CatalogStatus.AVAILABLE,
        plan.getInteger("trial_days"),
        plan.getBoolean("charge_usage_during_trial"),
        prices,
        allocations.stream().map(PlanTermsRows::allocation).toList(),
        billables);
  }

  private static PriceTerms price(Row row) {
    return new PriceTerms(
        Sql.id(row, "price_id", IdKind.PRICE),
        row.getBoolean("is_base"),
        row.getString("price_name"),
        WireName.parseNullable(BillingCadence.class, row.getString("billing_cadence")),
        WireName.parse(BillingMode.class, row.getString("billing_mode")),
        WireName.parse(PriceType.class, row.getString("price_type")),
        StoredRules.priceRules(row.getString("rules")),
        row.getBoolean("block_overage"),
        row.getBigDecimal("limit_quantity"),
        row.getBigDecimal("max_usage"),
        Sql.id(row, "billable_id", IdKind.BILLABLE),
        Sql.id(row, "custom_pricing_unit_id", IdKind.CUSTOM_PRICING_UNIT),
        row.getInteger("position"),
        Sql.instant(row, "active_from"),
        Sql.instant(row, "active_until"));
  }

  private static BillableTerms billable(Id id, Row row) {
    return new BillableTerms(
        id,
        row.getString("slug"),
        row.getString("billable_name"),
        row.getString("single_unit_label"),
        row.getString("multiple_unit_label"),
        versions(row));
  }

  private static List<RulesVersion> versions(Row row) {
    String[] rules = row.getArrayOfStrings("rules_versions");
    OffsetDateTime[] from = row.getArrayOfOffsetDateTimes("rules_from");
    OffsetDateTime[] until = row.getArrayOfOffsetDateTimes("rules_until");
    return IntStream.range(0, rules.length)
        .mapToObj(
            i ->
                new RulesVersion(
                    StoredRules.eventRules(rules[i]),
                    from[i].toInstant(),
                    until[i] == null ? null : until[i].toInstant()))
        .toList();
  }

  private static AllocationTerms allocation(Row row) {
    return new AllocationTerms(
        Sql.id(row, "id", IdKind.PLAN_ALLOCATION),
        Sql.id(row, "custom_pricing_unit_id", IdKind.CUSTOM_PRICING_UNIT),
        row.getBigDecimal("amount"),
        WireName.parse(BillingCadence.class, row.getString("billing_cadence")),
        row.getBigDecimal("rollover_max"),
        Sql.instant(row, "active_from"),
        Sql.instant(row, "active_until"));
  }
}
