package io.steelyard.catalog;

import io.steelyard.catalog.CatalogDocument.Billable;
import io.steelyard.catalog.CatalogDocument.Plan;
import io.steelyard.catalog.CatalogDocument.Price;
import io.steelyard.catalog.CatalogDocument.Unit;
import io.steelyard.catalog.CatalogEdits.Edits;
import io.steelyard.catalog.CatalogEdits.Entry;
import io.steelyard.catalog.CatalogEdits.PlanAllocation;
import io.steelyard.catalog.CatalogEdits.PlanPrice;
import io.steelyard.db.Sql;
import io.steelyard.json.Json;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;

/** Locks and writes a merchant's catalogue. */
final class CatalogEditStore {
  /** Not FOR UPDATE, which would make every insert of a row of this merchant wait. */
  private static final String LOCK = "SELECT id FROM merchant WHERE id = $1 FOR NO KEY UPDATE";

  private static final String ADD_UNIT =
      """
      INSERT INTO custom_pricing_unit (merchant_id, id, key, display_name, display_name_singular,
        short_name, status, created_at, updated_at)
      VALUES ($1, $3, $4, $5, $6, $7, 'available', $2, $2)
      """;

  private static final String CHANGE_UNIT =
      """
      UPDATE custom_pricing_unit
      SET key = $4, display_name = $5, display_name_singular = $6, short_name = $7,
          status = 'available', updated_at = $2
      WHERE merchant_id = $1 AND id = $3
      """;

  private static final String ARCHIVE_UNITS =
      """
      UPDATE custom_pricing_unit SET status = 'archived', updated_at = $2
      WHERE merchant_id = $1 AND id = ANY($3)
      """;

  private static final String ADD_BILLABLE =
      """
      INSERT INTO billable (merchant_id, id, slug, name, description, external_flag_id,
        included_label, single_unit_label, multiple_unit_label, is_private, show_on_invoice,
        hidden, display_order, status, created_at, updated_at)
      VALUES ($1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 'available',
        $2, $2)
      """;

  private static final String CHANGE_BILLABLE =
      """
      UPDATE billable
      SET slug = $4, name = $5, description = $6, external_flag_id = $7, included_label = $8,
          single_unit_label = $9, multiple_unit_label = $10, is_private = $11,
          show_on_invoice = $12, hidden = $13, display_order = $14, status = 'available',
          updated_at = $2
      WHERE merchant_id = $1 AND id = $3
      """;

  private static final String ARCHIVE_BILLABLES =
      """
      UPDATE billable SET status = 'archived', updated_at = $2
      WHERE merchant_id = $1 AND id = ANY($3)
      """;

  private static final String ADD_PLAN =
      """
      INSERT INTO plan (merchant_id, id, external_id, cross_environment_id, name, description,
        currency, net_terms, is_private, purchasable, request_pricing_text, request_pricing_url,
        trial_days, charge_usage_during_trial, status, created_at, updated_at)
      VALUES ($1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 'available', $2, $2)
      """;

  private static final String CHANGE_PLAN =
      """
      UPDATE plan
      SET external_id = $4, cross_environment_id = $5, name = $6, description = $7,
          currency = $8, net_terms = $9, is_private = $10, purchasable = $11,
          request_pricing_text = $12, request_pricing_url = $13, trial_days = $14,
          charge_usage_during_trial = $15, status = 'available', updated_at = $2
      WHERE merchant_id = $1 AND id = $3
      """;

  private static final String ARCHIVE_PLANS =
      """
      UPDATE plan SET status = 'archived', updated_at = $2
      WHERE merchant_id = $1 AND id = ANY($3)
      """;

  private static final String ADD_PRICE =
      """
      INSERT INTO price (merchant_id, id, plan_id, is_base, name, billing_cadence, billing_mode,
        block_overage, entity_type, price_type, rules, uses_custom_pricing_unit, billable_id,
        limit_quantity, max_usage, custom_pricing_unit_id, position, active_from, created_at)
      VALUES ($1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::text::json, $13, $14, $15, $16, $17,
        $18, $2, $2)
      """;

  private static final String MOVE_PRICE =
      "UPDATE price SET position = $3 WHERE merchant_id = $1 AND id = $2";

  private static final String END_PRICES =
      "UPDATE price SET active_until = $2 WHERE merchant_id = $1 AND id = ANY($3)";

  private static final String ADD_ALLOCATION =
      """
      INSERT INTO plan_allocation (merchant_id, id, plan_id, custom_pricing_unit_id, amount,
        billing_cadence, rollover_max, position, active_from, created_at)
      VALUES ($1, $3, $4, $5, $6, $7, $8, $9, $2, $2)
      """;

  private static final String MOVE_ALLOCATION =
      "UPDATE plan_allocation SET position = $3 WHERE merchant_id = $1 AND id = $2";

  private static final String END_ALLOCATIONS =
      "UPDATE plan_allocation SET active_until = $2 WHERE merchant_id = $1 AND id = ANY($3)";

  private static final String SET_DEFAULT_PLAN =
      """
      UPDATE merchant SET default_plan_id = $3, updated_at = $2,
             catalog_version = catalog_version + 1
       WHERE id = $1
      """;

  private static final String NEXT_VERSION =
      "UPDATE merchant SET catalog_version = catalog_version + 1 WHERE id = $1";

  private final BillableRulesStore rules = new BillableRulesStore();

  /** One writer of a merchant's catalogue at a time. */
  Future<Void> lock(SqlConnection connection, UUID merchantId) {
    return connection.preparedQuery(LOCK).execute(Tuple.of(merchantId)).mapEmpty();
  }

  /** What is referred to is written before what refers to it. */
  Future<Void> write(SqlConnection connection, UUID merchantId, CatalogEdits edits, Instant now) {
    Writing to = new Writing(connection, merchantId, now);
    return to.edits(edits.units(), ADD_UNIT, CHANGE_UNIT, ARCHIVE_UNITS, to::unit)
        .compose(
            done ->
                to.edits(
                    edits.billables(),
                    ADD_BILLABLE,
                    CHANGE_BILLABLE,
                    ARCHIVE_BILLABLES,
                    to::billable))
        .compose(done -> rules.write(connection, merchantId, edits.rules(), now))
        .compose(done -> to.edits(edits.plans(), ADD_PLAN, CHANGE_PLAN, ARCHIVE_PLANS, to::plan))
        .compose(done -> to.each(ADD_PRICE, edits.prices().added(), to::price))
        .compose(
            done ->
                to.each(
                    MOVE_PRICE,
                    edits.prices().changed(),
                    moved -> to.moved(moved.id(), moved.value().position())))
        .compose(done -> to.all(END_PRICES, edits.prices().removed()))
        .compose(done -> to.each(ADD_ALLOCATION, edits.allocations().added(), to::allocation))
        .compose(
            done ->
                to.each(
                    MOVE_ALLOCATION,
                    edits.allocations().changed(),
                    moved -> to.moved(moved.id(), moved.value().position())))
        .compose(done -> to.all(END_ALLOCATIONS, edits.allocations().removed()))
        .compose(done -> to.defaultPlan(edits));
  }

  private record Writing(SqlConnection connection, UUID merchantId, Instant now) {

    <T> Future<Void> edits(
        Edits<T> edits,
        String add,
        String change,
        String archive,
        Function<Entry<T>, Tuple> parameters) {
      return each(add, edits.added(), parameters)
          .compose(done -> each(change, edits.changed(), parameters))
          .compose(done -> all(archive, edits.removed()));
    }

    <T> Future<Void> each(
        String sql, List<Entry<T>> entries, Function<Entry<T>, Tuple> parameters) {
      return entries.isEmpty()
          ? Future.succeededFuture()
          : connection
              .preparedQuery(sql)
              .executeBatch(entries.stream().map(parameters).toList())
              .mapEmpty();
    }

    Future<Void> all(String sql, List<UUID> ids) {
      return ids.isEmpty()
          ? Future.succeededFuture()
          : connection
              .preparedQuery(sql)
              .execute(tuple((Object) ids.toArray(UUID[]::new)))
              .mapEmpty();
    }

    Future<Void> defaultPlan(CatalogEdits edits) {
      boolean changed = edits.defaultPlanChanged();
      return connection
          .preparedQuery(changed ? SET_DEFAULT_PLAN : NEXT_VERSION)
          .execute(changed ? tuple(edits.defaultPlanId()) : Tuple.of(merchantId))
          .mapEmpty();
    }

    Tuple unit(Entry<Unit> entry) {
      Unit unit = entry.value();
      return tuple(
          entry.id(), unit.key(), unit.displayName(), unit.displayNameSingular(), unit.shortName());
    }

    Tuple billable(Entry<Billable> entry) {
      Billable billable = entry.value();
      return tuple(
          entry.id(),
          billable.slug(),
          billable.name(),
          billable.description(),
          billable.externalFlagId(),
          billable.includedLabel(),
          billable.singleUnitLabel(),
          billable.multipleUnitLabel(),
          billable.isPrivate(),
          billable.showOnInvoice(),
          billable.hidden(),
          billable.displayOrder());
    }

    Tuple plan(Entry<Plan> entry) {
      Plan plan = entry.value();
      return tuple(
          entry.id(),
          plan.externalId(),
          plan.crossEnvironmentId(),
          plan.name(),
          plan.description(),
          plan.currency().wire(),
          plan.netTerms().wire(),
          plan.isPrivate(),
          plan.purchasable(),
          plan.requestPricingText(),
          plan.requestPricingUrl(),
          plan.trialDays(),
          plan.chargeForUsageBasedPricesDuringTrial());
    }

    Tuple price(Entry<PlanPrice> entry) {
      PlanPrice placed = entry.value();
      Price price = placed.price();
      boolean base = placed.billableId() == null;
      return tuple(
          entry.id(),
          placed.planId(),
          base,
          price.name(),
          price.billingCadence() == null ? null : price.billingCadence().wire(),
          price.billingMode().wire(),
          price.blockOverage(),
          base ? "basePlan" : "entitlement",
          price.priceType().wire(),
          Json.encodeText(price.rules()),
          price.usesCustomPricingUnit(),
          placed.billableId(),
          price.limit(),
          price.maxUsage(),
          placed.unitId(),
          placed.position());
    }

    Tuple allocation(Entry<PlanAllocation> entry) {
      PlanAllocation placed = entry.value();
      return tuple(
          entry.id(),
          placed.planId(),
          placed.unitId(),
          placed.allocation().amount(),
          placed.allocation().billingCadence().wire(),
          placed.allocation().rolloverMax(),
          placed.position());
    }

    Tuple moved(UUID id, int position) {
      return Tuple.of(merchantId, id, position);
    }

    /** The merchant and the time, then {@code values}. */
    private Tuple tuple(Object... values) {
      Tuple tuple = Tuple.of(merchantId, Sql.time(now));
      for (Object value : values) {
        tuple.addValue(value);
      }
      return tuple;
    }
  }
}
