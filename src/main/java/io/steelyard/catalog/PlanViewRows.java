package io.steelyard.catalog;

import io.steelyard.catalog.CatalogMessages.BillableView;
import io.steelyard.catalog.CatalogMessages.PlanPrice;
import io.steelyard.catalog.CatalogMessages.PlanView;
import io.steelyard.catalog.CatalogMessages.PriceView;
import io.steelyard.db.Sql;
import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.BillingMode;
import io.steelyard.domain.CatalogStatus;
import io.steelyard.domain.Currency;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.NetTerms;
import io.steelyard.domain.PriceType;
import io.steelyard.domain.WireName;
import io.vertx.sqlclient.Row;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Rows of plans with their active prices as the external API shows them. */
final class PlanViewRows {
  private static final String ACTIVE = "active";

  private PlanViewRows() {}

  static Map<Id, PlanView> read(Map<Id, List<Row>> plans, Detail detail) {
    Map<Id, PlanView> views = new LinkedHashMap<>();
    plans.forEach((id, rows) -> views.put(id, plan(id, rows, detail)));
    return views;
  }

  private static PlanView plan(Id id, List<Row> rows, Detail detail) {
    Map<BillingCadence, PriceView> base = basePrices(rows);
    PriceView monthly = base.get(BillingCadence.MONTHLY);
    PriceView quarterly = base.get(BillingCadence.QUARTERLY);
    PriceView annually = base.get(BillingCadence.ANNUALLY);
    PriceView first = base.isEmpty() ? null : base.values().iterator().next();
    boolean expanded = detail == Detail.EXPANDED;
    Row plan = rows.getFirst();
    return new PlanView(
        id,
        plan.getString("external_id"),
        plan.getString("cross_environment_id"),
        Sql.id(plan, "merchant_id", IdKind.MERCHANT),
        plan.getString("plan_name"),
        plan.getString("plan_description"),
        WireName.parse(Currency.class, plan.getString("currency")),
        WireName.parse(NetTerms.class, plan.getString("net_terms")),
        plan.getBoolean("plan_is_private"),
        plan.getBoolean("purchasable"),
        plan.getString("request_pricing_text"),
        plan.getString("request_pricing_url"),
        WireName.parse(CatalogStatus.class, plan.getString("plan_status")),
        idOf(first),
        idOf(quarterly),
        idOf(annually),
        statusOf(monthly),
        statusOf(quarterly),
        statusOf(annually),
        first,
        expanded ? quarterly : null,
        expanded ? annually : null,
        expanded ? usagePrices(rows, base) : null,
        Sql.instant(plan, "plan_created_at"),
        Sql.instant(plan, "plan_updated_at"));
  }

  /** In the order of preference: monthly, quarterly, annually, oneTime. */
  private static Map<BillingCadence, PriceView> basePrices(List<Row> rows) {
    Map<BillingCadence, PriceView> base = new EnumMap<>(BillingCadence.class);
    for (Row row : rows) {
      if (row.getUUID("price_id") != null && row.getBoolean("is_base")) {
        BillingCadence cadence = cadence(row);
        base.put(cadence, price(row, cadence, null));
      }
    }
    return base;
  }

  /**
   * A price of no cadence of its own follows the subscription's; it is shown with the plan's first,
   * since the field is documented as never missing.
   */
  private static List<PlanPrice> usagePrices(List<Row> rows, Map<BillingCadence, PriceView> base) {
    BillingCadence first =
        base.isEmpty() ? BillingCadence.MONTHLY : base.keySet().iterator().next();
    return rows.stream()
        .filter(row -> row.getUUID("price_id") != null && !row.getBoolean("is_base"))
        .map(row -> price(row, cadence(row) == null ? first : cadence(row), billable(row)))
        .map(PlanPrice::new)
        .toList();
  }

  private static BillingCadence cadence(Row row) {
    return WireName.parseNullable(BillingCadence.class, row.getString("billing_cadence"));
  }

  private static PriceView price(Row row, BillingCadence cadence, BillableView billable) {
    return new PriceView(
        Sql.id(row, "price_id", IdKind.PRICE),
        row.getString("price_name"),
        cadence,
        WireName.parse(BillingMode.class, row.getString("billing_mode")),
        row.getBoolean("block_overage"),
        row.getString("entity_type"),
        WireName.parse(PriceType.class, row.getString("price_type")),
        StoredRules.priceRulesView(row.getString("rules")),
        ACTIVE,
        row.getBoolean("uses_custom_pricing_unit"),
        Sql.id(row, "billable_id", IdKind.BILLABLE),
        Sql.id(row, "merchant_id", IdKind.MERCHANT),
        row.getBigDecimal("limit_quantity"),
        row.getBigDecimal("max_usage"),
        Sql.id(row, "custom_pricing_unit_id", IdKind.CUSTOM_PRICING_UNIT),
        Sql.instant(row, "price_created_at"),
        billable);
  }

  private static BillableView billable(Row row) {
    return new BillableView(
        Sql.id(row, "billable_id", IdKind.BILLABLE),
        row.getString("billable_name"),
        row.getString("billable_description"),
        WireName.parse(CatalogStatus.class, row.getString("billable_status")),
        row.getString("external_flag_id"),
        row.getString("included_label"),
        row.getString("single_unit_label"),
        row.getString("multiple_unit_label"),
        row.getBoolean("billable_is_private"),
        row.getBoolean("show_on_invoice"),
        row.getBoolean("hidden"),
        row.getString("slug"),
        row.getInteger("display_order"),
        Sql.instant(row, "billable_created_at"),
        Sql.instant(row, "billable_updated_at"),
        StoredRules.eventRulesView(row.getString("event_query_rules")));
  }

  private static Id idOf(PriceView price) {
    return price == null ? null : price.id();
  }

  private static String statusOf(PriceView price) {
    return price == null ? null : ACTIVE;
  }
}
