package io.steelyard.catalog;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;

import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.catalog.CatalogDocument.Allocation;
import io.steelyard.catalog.CatalogDocument.Billable;
import io.steelyard.catalog.CatalogDocument.Plan;
import io.steelyard.catalog.CatalogDocument.Price;
import io.steelyard.catalog.CatalogDocument.Unit;
import io.steelyard.catalog.StoredCatalog.Placed;
import io.steelyard.catalog.StoredCatalog.Stored;
import io.steelyard.catalog.StoredCatalog.StoredPlan;
import io.steelyard.db.Sql;
import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.BillingMode;
import io.steelyard.domain.CatalogStatus;
import io.steelyard.domain.Currency;
import io.steelyard.domain.NetTerms;
import io.steelyard.domain.PriceType;
import io.steelyard.domain.WireName;
import io.steelyard.json.Json;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Reads a merchant's whole catalogue, archived parts included, in the terms of a document. */
final class StoredCatalogStore {
  private static final String MERCHANT = "SELECT default_plan_id FROM merchant WHERE id = $1";

  private static final String UNITS =
      """
      SELECT id, key, display_name, display_name_singular, short_name, status
      FROM custom_pricing_unit
      WHERE merchant_id = $1
      ORDER BY id
      """;

  private static final String BILLABLES =
      """
      SELECT b.id, b.slug, b.name, b.description, b.status, b.external_flag_id, b.included_label,
             b.single_unit_label, b.multiple_unit_label, b.is_private, b.show_on_invoice, b.hidden,
             b.display_order, e.rules::text AS event_query_rules
      FROM billable b
      JOIN billable_rules e
        ON e.merchant_id = b.merchant_id AND e.billable_id = b.id AND e.active_until IS NULL
      WHERE b.merchant_id = $1
      ORDER BY b.id
      """;

  private static final String PLANS =
      """
      SELECT id, external_id, cross_environment_id, name, description, currency, net_terms,
             is_private, purchasable, request_pricing_text, request_pricing_url, status,
             trial_days, charge_usage_during_trial
      FROM plan
      WHERE merchant_id = $1
      ORDER BY id
      """;

  private static final String ACTIVE_PRICES =
      """
      SELECT r.id, r.plan_id, r.name, r.billing_cadence, r.billing_mode, r.block_overage,
             r.price_type, r.rules::text AS rules, r.uses_custom_pricing_unit, r.limit_quantity,
             r.max_usage, r.position, b.slug, u.key
      FROM price r
      LEFT JOIN billable b ON b.merchant_id = r.merchant_id AND b.id = r.billable_id
      LEFT JOIN custom_pricing_unit u
        ON u.merchant_id = r.merchant_id AND u.id = r.custom_pricing_unit_id
      WHERE r.merchant_id = $1 AND r.active_until IS NULL
      ORDER BY r.plan_id, r.is_base DESC, r.position, r.id
      """;

  private static final String ACTIVE_ALLOCATIONS =
      """
      SELECT a.id, a.plan_id, a.amount, a.billing_cadence, a.rollover_max, a.position, u.key
      FROM plan_allocation a
      JOIN custom_pricing_unit u
        ON u.merchant_id = a.merchant_id AND u.id = a.custom_pricing_unit_id
      WHERE a.merchant_id = $1 AND a.active_until IS NULL
      ORDER BY a.plan_id, a.position, a.id
      """;

  private static final String LATEST_CHANGE =
      """
      SELECT GREATEST(
        (SELECT max(GREATEST(active_from, active_until)) FROM price WHERE merchant_id = $1),
        (SELECT max(GREATEST(active_from, active_until)) FROM plan_allocation
         WHERE merchant_id = $1),
        (SELECT max(GREATEST(e.active_from, e.active_until))
         FROM billable b JOIN billable_rules e ON e.billable_id = b.id
         WHERE b.merchant_id = $1 AND e.merchant_id = $1)) AS latest_change
      """;

  /** Several statements: the caller's transaction must keep others from writing in between. */
  Future<StoredCatalog> read(SqlConnection connection, UUID merchantId) {
    Tuple merchant = Tuple.of(merchantId);
    Future<List<UUID>> defaultPlan =
        list(connection, MERCHANT, merchant, row -> row.getUUID("default_plan_id"));
    Future<List<Stored<Unit>>> units = list(connection, UNITS, merchant, StoredCatalogStore::unit);
    Future<List<Stored<Billable>>> billables =
        list(connection, BILLABLES, merchant, StoredCatalogStore::billable);
    Future<List<Stored<Plan>>> plans = list(connection, PLANS, merchant, StoredCatalogStore::plan);
    Future<List<Owned<Price>>> prices =
        list(connection, ACTIVE_PRICES, merchant, row -> owned(row, price(row)));
    Future<List<Owned<Allocation>>> allocations =
        list(connection, ACTIVE_ALLOCATIONS, merchant, row -> owned(row, allocation(row)));
    Future<List<Instant>> latest =
        list(connection, LATEST_CHANGE, merchant, row -> Sql.instant(row, "latest_change"));
    return Future.all(List.of(defaultPlan, units, billables, plans, prices, allocations, latest))
        .compose(
            done ->
                defaultPlan.result().isEmpty()
                    ? FailureException.failed(Failure.notFound("merchant"))
                    : Future.succeededFuture(
                        new StoredCatalog(
                            defaultPlan.result().getFirst(),
                            units.result(),
                            billables.result(),
                            assembled(plans.result(), prices.result(), allocations.result()),
                            latest.result().getFirst())));
  }

  private static <T> Future<List<T>> list(
      SqlConnection connection, String sql, Tuple merchant, Function<Row, T> read) {
    return connection
        .preparedQuery(sql)
        .execute(merchant)
        .map(
            rows -> {
              List<T> list = new ArrayList<>(rows.size());
              rows.forEach(row -> list.add(read.apply(row)));
              return list;
            });
  }

  /** A part together with its plan. */
  private record Owned<T>(UUID planId, Placed<T> part) {}

  private static <T> Owned<T> owned(Row row, T value) {
    return new Owned<>(
        row.getUUID("plan_id"), new Placed<>(row.getUUID("id"), row.getInteger("position"), value));
  }

  private static List<StoredPlan> assembled(
      List<Stored<Plan>> plans, List<Owned<Price>> prices, List<Owned<Allocation>> allocations) {
    Map<UUID, List<Placed<Price>>> pricesByPlan = byPlan(prices);
    Map<UUID, List<Placed<Allocation>>> allocationsByPlan = byPlan(allocations);
    return plans.stream()
        .map(
            plan ->
                new StoredPlan(
                    plan,
                    pricesByPlan.getOrDefault(plan.id(), List.of()),
                    allocationsByPlan.getOrDefault(plan.id(), List.of())))
        .toList();
  }

  private static <T> Map<UUID, List<Placed<T>>> byPlan(List<Owned<T>> parts) {
    return parts.stream()
        .collect(groupingBy(Owned::planId, mapping(Owned::part, Collectors.toList())));
  }

  private static Stored<Unit> unit(Row row) {
    return stored(
        row,
        new Unit(
            row.getString("key"),
            row.getString("display_name"),
            row.getString("display_name_singular"),
            row.getString("short_name")));
  }

  private static Stored<Billable> billable(Row row) {
    String rules = row.getString("event_query_rules");
    return stored(
        row,
        new Billable(
            row.getString("slug"),
            row.getString("name"),
            row.getString("description"),
            row.getString("external_flag_id"),
            row.getString("included_label"),
            row.getString("single_unit_label"),
            row.getString("multiple_unit_label"),
            row.getBoolean("is_private"),
            row.getBoolean("show_on_invoice"),
            row.getBoolean("hidden"),
            row.getInteger("display_order"),
            rules == null ? null : StoredRules.documentRules(rules)));
  }

  private static Stored<Plan> plan(Row row) {
    return stored(
        row,
        new Plan(
            row.getString("external_id"),
            row.getString("name"),
            row.getString("description"),
            WireName.parse(Currency.class, row.getString("currency")),
            WireName.parse(NetTerms.class, row.getString("net_terms")),
            row.getBoolean("is_private"),
            row.getBoolean("purchasable"),
            row.getString("request_pricing_text"),
            row.getString("request_pricing_url"),
            row.getString("cross_environment_id"),
            row.getInteger("trial_days"),
            row.getBoolean("charge_usage_during_trial"),
            null,
            null,
            null));
  }

  private static <T> Stored<T> stored(Row row, T value) {
    CatalogStatus status = WireName.parse(CatalogStatus.class, row.getString("status"));
    return new Stored<>(row.getUUID("id"), status == CatalogStatus.ARCHIVED, value);
  }

  private static Price price(Row row) {
    return new Price(
        row.getString("name"),
        row.getString("slug"),
        WireName.parseNullable(BillingCadence.class, row.getString("billing_cadence")),
        WireName.parse(BillingMode.class, row.getString("billing_mode")),
        WireName.parse(PriceType.class, row.getString("price_type")),
        StoredRules.priceRulesView(row.getString("rules")),
        plain(row.getBigDecimal("limit_quantity")),
        plain(row.getBigDecimal("max_usage")),
        row.getBoolean("block_overage"),
        row.getBoolean("uses_custom_pricing_unit"),
        row.getString("key"));
  }

  private static Allocation allocation(Row row) {
    return new Allocation(
        row.getString("key"),
        plain(row.getBigDecimal("amount")),
        WireName.parse(BillingCadence.class, row.getString("billing_cadence")),
        plain(row.getBigDecimal("rollover_max")));
  }

  private static BigDecimal plain(BigDecimal number) {
    return number == null ? null : Json.plain(number);
  }
}
