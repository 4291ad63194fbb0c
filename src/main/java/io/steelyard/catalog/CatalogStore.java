package io.steelyard.catalog;

import io.steelyard.catalog.CatalogMessages.PlanView;
import io.steelyard.db.Sql;
import io.steelyard.db.Transactions;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.PlanTerms;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** Reads the catalogue, within the caller's transaction where there is one. */
public final class CatalogStore {
  private static final String TERMS =
      """
      SELECT p.id AS plan_id, p.external_id, p.name AS plan_name, p.currency, p.net_terms,
             p.is_private, p.status, p.trial_days, p.charge_usage_during_trial,
             r.id AS price_id, r.is_base, r.name AS price_name, r.billing_cadence, r.billing_mode,
             r.price_type, r.rules::text AS rules, r.block_overage, r.limit_quantity, r.max_usage,
             r.billable_id, r.custom_pricing_unit_id, r.position, r.active_from, r.active_until,
             b.slug, b.name AS billable_name, b.single_unit_label, b.multiple_unit_label,
             v.rules_versions, v.rules_from, v.rules_until
      FROM plan p
      LEFT JOIN price r ON r.merchant_id = p.merchant_id AND r.plan_id = p.id
      LEFT JOIN billable b ON b.merchant_id = p.merchant_id AND b.id = r.billable_id
      LEFT JOIN LATERAL (
        SELECT array_agg(e.rules::text ORDER BY e.active_from) AS rules_versions,
               array_agg(e.active_from ORDER BY e.active_from) AS rules_from,
               array_agg(e.active_until ORDER BY e.active_from) AS rules_until
        FROM billable_rules e
        WHERE e.merchant_id = b.merchant_id AND e.billable_id = b.id) v ON true
      WHERE p.merchant_id = $1 AND p.id = ANY($2)
      ORDER BY p.id, r.is_base DESC, r.position, r.active_from, r.id
      """;

  private static final String ALLOCATIONS =
      """
      SELECT id, plan_id, custom_pricing_unit_id, amount, billing_cadence, rollover_max,
             active_from, active_until
      FROM plan_allocation
      WHERE merchant_id = $1 AND plan_id = ANY($2)
      ORDER BY plan_id, position, active_from, id
      """;

  /** Versions only ever end at the present, never in the future, so the open ones are active. */
  private static final String VIEWS =
      """
      SELECT p.id AS plan_id, p.merchant_id, p.external_id, p.cross_environment_id,
             p.name AS plan_name, p.description AS plan_description, p.currency, p.net_terms,
             p.is_private AS plan_is_private, p.purchasable, p.request_pricing_text,
             p.request_pricing_url, p.status AS plan_status, p.created_at AS plan_created_at,
             p.updated_at AS plan_updated_at,
             r.id AS price_id, r.is_base, r.name AS price_name, r.billing_cadence, r.billing_mode,
             r.block_overage, r.entity_type, r.price_type, r.rules::text AS rules,
             r.uses_custom_pricing_unit, r.billable_id, r.limit_quantity, r.max_usage,
             r.custom_pricing_unit_id, r.created_at AS price_created_at,
             b.slug, b.name AS billable_name, b.description AS billable_description,
             b.status AS billable_status, b.external_flag_id, b.included_label,
             b.single_unit_label, b.multiple_unit_label, b.is_private AS billable_is_private,
             b.show_on_invoice, b.hidden, b.display_order, b.created_at AS billable_created_at,
             b.updated_at AS billable_updated_at, e.rules::text AS event_query_rules
      FROM plan p
      LEFT JOIN price r
        ON r.merchant_id = p.merchant_id AND r.plan_id = p.id AND r.active_until IS NULL
      LEFT JOIN billable b ON b.merchant_id = p.merchant_id AND b.id = r.billable_id
      LEFT JOIN billable_rules e
        ON e.merchant_id = b.merchant_id AND e.billable_id = b.id AND e.active_until IS NULL
      WHERE p.merchant_id = $1 AND p.id = ANY($2)
      ORDER BY p.id, r.is_base DESC, r.position, r.id
      """;

  private static final String DEFAULT_PLAN =
      "SELECT default_plan_id, catalog_version FROM merchant WHERE id = $1";

  private static final String PLAN_ID = "SELECT id FROM plan WHERE merchant_id = $1 AND id = $2";

  private static final String UNIT =
      """
      SELECT id, display_name, display_name_singular, short_name
      FROM custom_pricing_unit
      WHERE merchant_id = $1 AND id = $2
      """;

  /** What periods of these plans are rated with, by plan id; plans of others are left out. */
  public Future<Map<Id, PlanTerms>> planTerms(
      SqlClient client, UUID merchantId, Collection<UUID> planIds) {
    if (planIds.isEmpty()) {
      return Future.succeededFuture(Map.of());
    }
    Tuple which = which(merchantId, planIds);
    Future<RowSet<Row>> terms = client.preparedQuery(TERMS).execute(which);
    Future<RowSet<Row>> allocations = client.preparedQuery(ALLOCATIONS).execute(which);
    return Transactions.pipelined(() -> terms, () -> allocations)
        .map(done -> PlanTermsRows.read(byPlan(terms.result()), byPlan(allocations.result())));
  }

  /**
   * The plan new customers are subscribed to.
   *
   * @param planId null for none
   * @param catalogVersion as long as it stays the same, so does all of the merchant's catalogue
   */
  public record DefaultPlanRef(Id planId, long catalogVersion) {}

  /** The plan new customers of a merchant, which must be there, are subscribed to. */
  public Future<DefaultPlanRef> defaultPlan(SqlClient client, UUID merchantId) {
    return client
        .preparedQuery(DEFAULT_PLAN)
        .execute(Tuple.of(merchantId))
        .map(rows -> rows.iterator().next())
        .map(
            row ->
                new DefaultPlanRef(
                    Sql.id(row, "default_plan_id", IdKind.PLAN), row.getLong("catalog_version")));
  }

  /** The plans as the external API shows them, by plan id; plans of others are left out. */
  public Future<Map<Id, PlanView>> planViews(
      SqlClient client, UUID merchantId, Collection<UUID> planIds, Detail detail) {
    if (planIds.isEmpty()) {
      return Future.succeededFuture(Map.of());
    }
    return client
        .preparedQuery(VIEWS)
        .execute(which(merchantId, planIds))
        .map(rows -> PlanViewRows.read(byPlan(rows), detail));
  }

  /** The merchant's plan with this id, which may be any text; archived plans too. */
  public Future<Optional<Id>> planId(SqlClient client, UUID merchantId, String text) {
    UUID plan = Sql.uuid(IdKind.PLAN, text);
    if (plan == null) {
      return Future.succeededFuture(Optional.empty());
    }
    return client
        .preparedQuery(PLAN_ID)
        .execute(Tuple.of(merchantId, plan))
        .map(rows -> first(rows).map(row -> Sql.id(row, "id", IdKind.PLAN)));
  }

  /** The merchant's custom pricing unit with this id, which may be any text; archived too. */
  public Future<Optional<UnitTerms>> unit(SqlClient client, UUID merchantId, String text) {
    UUID unit = Sql.uuid(IdKind.CUSTOM_PRICING_UNIT, text);
    if (unit == null) {
      return Future.succeededFuture(Optional.empty());
    }
    return client
        .preparedQuery(UNIT)
        .execute(Tuple.of(merchantId, unit))
        .map(rows -> first(rows).map(CatalogStore::unitTerms));
  }

  private static UnitTerms unitTerms(Row row) {
    return new UnitTerms(
        Sql.id(row, "id", IdKind.CUSTOM_PRICING_UNIT),
        row.getString("display_name"),
        row.getString("display_name_singular"),
        row.getString("short_name"));
  }

  private static Tuple which(UUID merchantId, Collection<UUID> planIds) {
    return Tuple.of(merchantId, (Object) planIds.toArray(UUID[]::new));
  }

  private static Map<Id, List<Row>> byPlan(RowSet<Row> rows) {
    Map<Id, List<Row>> byPlan = new LinkedHashMap<>();
    for (Row row : rows) {
      byPlan
          .computeIfAbsent(Sql.id(row, "plan_id", IdKind.PLAN), plan -> new ArrayList<>())
          .add(row);
    }
    return byPlan;
  }

  private static Optional<Row> first(RowSet<Row> rows) {
    return rows.size() == 0 ? Optional.empty() : Optional.of(rows.iterator().next());
  }
}
