package io.steelyard.usage;

import io.steelyard.db.Columns;
import io.steelyard.db.Ids;
import io.steelyard.db.Sql;
import io.steelyard.domain.UsageTotal;
import io.steelyard.usage.Fold.Reading;
import io.steelyard.usage.Fold.Unique;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlConnection;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Counters, the values they have seen, and the access that follows from them. */
final class CounterStore {
  private static final String COUNTERS =
      """
      SELECT c.merchant_id, c.subscription_id, c.period_index, c.billable_id, c.events, c.sum,
             c.min, c.max, c.latest, c.latest_at, c.latest_key, c.uniques
      FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::uuid[])
           AS w (merchant_id, subscription_id, period_index, billable_id)
      JOIN usage_counter c
        ON c.subscription_id = w.subscription_id AND c.period_index = w.period_index
       AND c.billable_id = w.billable_id AND c.merchant_id = w.merchant_id
      """;

  // The customer's lock is held: nobody else writes these rows. Nearly all of them are there, and
  // an insert that finds a conflict would be the dearer way to change them.
  private static final String SAVE_COUNTERS =
      """
      WITH saved AS MATERIALIZED (
        SELECT c.*
        FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::uuid[], $5::bigint[],
                    $6::text[]::numeric[], $7::text[]::numeric[], $8::text[]::numeric[],
                    $9::text[]::numeric[], $10::timestamptz[], $11::uuid[], $12::bigint[],
                    $13::timestamptz[])
             AS c (merchant_id, subscription_id, period_index, billable_id, events, sum, min, max,
                   latest, latest_at, latest_key, uniques, updated_at)
      ), changed AS (
        UPDATE usage_counter u
        SET events = c.events, sum = c.sum, min = c.min, max = c.max, latest = c.latest,
            latest_at = c.latest_at, latest_key = c.latest_key, uniques = c.uniques,
            updated_at = c.updated_at
        FROM saved c
        WHERE u.subscription_id = c.subscription_id AND u.period_index = c.period_index
          AND u.billable_id = c.billable_id AND u.merchant_id = c.merchant_id
      )
      INSERT INTO usage_counter (merchant_id, subscription_id, period_index, billable_id, events,
                                 sum, min, max, latest, latest_at, latest_key, uniques, updated_at)
      SELECT c.* FROM saved c
      WHERE NOT EXISTS (
        SELECT FROM usage_counter u
        WHERE u.subscription_id = c.subscription_id AND u.period_index = c.period_index
          AND u.billable_id = c.billable_id AND u.merchant_id = c.merchant_id)
      """;

  private static final String ADD_UNIQUES =
      """
      INSERT INTO usage_unique (merchant_id, subscription_id, period_index, billable_id, value_hash)
      SELECT u.*
      FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::uuid[], $5::uuid[]) AS u
      ON CONFLICT DO NOTHING
      RETURNING merchant_id, subscription_id, period_index, billable_id, value_hash
      """;

  private static final String FORGET_UNIQUES =
      """
      DELETE FROM usage_unique u
      USING unnest($1::uuid[], $2::uuid[], $3::integer[])
            AS w (merchant_id, subscription_id, period_index)
      WHERE u.subscription_id = w.subscription_id AND u.period_index = w.period_index
        AND u.merchant_id = w.merchant_id
      """;

  // Only what changes: the rows of a new period without events show already what is to be shown.
  // Nobody but the holder of the customer's lock changes that.
  private static final String SAVE_ACCESS =
      """
      WITH shown AS MATERIALIZED (
        SELECT a.id, a.merchant_id, a.customer_id, a.subscription_id, a.billable_id, a.access,
               a.start_date, a.end_date, a.now
        FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::boolean[],
                    $7::timestamptz[], $8::timestamptz[], $9::timestamptz[])
             AS a (id, merchant_id, customer_id, subscription_id, billable_id, access,
                   start_date, end_date, now)
      ), changed AS (
        UPDATE billable_access b
        SET access = a.access, updated_at = a.now
        FROM shown a
        WHERE b.merchant_id = a.merchant_id AND b.subscription_id = a.subscription_id
          AND b.billable_id = a.billable_id
          AND b.access <> a.access
      )
      INSERT INTO billable_access (id, merchant_id, customer_id, subscription_id, billable_id,
                                   access, invalidated, start_date, end_date, created_at,
                                   updated_at)
      SELECT a.id, a.merchant_id, a.customer_id, a.subscription_id, a.billable_id, a.access, false,
             a.start_date, a.end_date, a.now, a.now
      FROM shown a
      WHERE NOT EXISTS (
        SELECT FROM billable_access b
        WHERE b.merchant_id = a.merchant_id AND b.subscription_id = a.subscription_id
          AND b.billable_id = a.billable_id)
      """;

  Future<Map<Meter.Ref, UsageTotal>> counters(
      SqlConnection transaction, Collection<Meter.Ref> meters) {
    if (meters.isEmpty()) {
      return Future.succeededFuture(Map.of());
    }
    return transaction
        .preparedQuery(COUNTERS)
        .execute(
            new Columns<>(meters)
                .also(PeriodColumns.of(Meter.Ref::period))
                .uuids(Meter.Ref::billableId)
                .and())
        .map(
            rows -> {
              Map<Meter.Ref, UsageTotal> totals = new HashMap<>();
              rows.forEach(row -> totals.put(meter(row), total(row)));
              return totals;
            });
  }

  Future<Void> save(SqlConnection transaction, List<Reading> readings) {
    if (readings.isEmpty()) {
      return Future.succeededFuture();
    }
    return transaction
        .preparedQuery(SAVE_COUNTERS)
        .execute(
            new Columns<>(readings)
                .also(PeriodColumns.of(reading -> reading.meter().period().ref()))
                .uuids(reading -> reading.meter().billable().id().uuid())
                .longs(reading -> reading.total().events())
                .numbers(reading -> reading.total().sum())
                .numbers(reading -> reading.total().min())
                .numbers(reading -> reading.total().max())
                .numbers(reading -> reading.total().latest())
                .times(reading -> reading.total().latestAt())
                .uuids(reading -> reading.total().latestKey())
                .longs(reading -> reading.total().uniques())
                .times(reading -> reading.meter().period().now())
                .and())
        .mapEmpty();
  }

  /** Remembers these values; those that were new. */
  Future<Set<Unique>> addUniques(SqlConnection transaction, Set<Unique> uniques) {
    if (uniques.isEmpty()) {
      return Future.succeededFuture(Set.of());
    }
    return transaction
        .preparedQuery(ADD_UNIQUES)
        .execute(
            new Columns<>(uniques)
                .also(PeriodColumns.of(unique -> unique.meter().period()))
                .uuids(unique -> unique.meter().billableId())
                .uuids(Unique::valueHash)
                .and())
        .map(
            rows -> {
              Set<Unique> added = new HashSet<>();
              rows.forEach(row -> added.add(new Unique(meter(row), row.getUUID("value_hash"))));
              return added;
            });
  }

  /** Takes all values of these periods for new. */
  Future<Void> forgetUniques(SqlConnection transaction, Collection<UsagePeriod> periods) {
    return transaction
        .preparedQuery(FORGET_UNIQUES)
        .execute(new Columns<>(periods).also(PeriodColumns.of(UsagePeriod::ref)).and())
        .mapEmpty();
  }

  /** Shows whether what is used leaves access. */
  Future<Void> saveAccess(SqlConnection transaction, List<Reading> readings) {
    if (readings.isEmpty()) {
      return Future.succeededFuture();
    }
    return transaction
        .preparedQuery(SAVE_ACCESS)
        .execute(
            new Columns<>(readings)
                .uuids(reading -> Ids.nextUuid())
                .uuids(reading -> reading.meter().period().merchantId())
                .uuids(reading -> reading.meter().period().customerId())
                .uuids(reading -> reading.meter().period().subscriptionId())
                .uuids(reading -> reading.meter().billable().id().uuid())
                .booleans(Reading::leavesAccess)
                .times(reading -> reading.meter().period().subscriptionStart())
                .times(reading -> reading.meter().period().subscriptionEnd())
                .times(reading -> reading.meter().period().now())
                .and())
        .mapEmpty();
  }

  private static Meter.Ref meter(Row row) {
    return new Meter.Ref(
        new UsagePeriod.Ref(
            row.getUUID("merchant_id"),
            row.getUUID("subscription_id"),
            row.getInteger("period_index")),
        row.getUUID("billable_id"));
  }

  static UsageTotal total(Row row) {
    return new UsageTotal(
        row.getLong("events"),
        row.getBigDecimal("sum"),
        row.getBigDecimal("min"),
        row.getBigDecimal("max"),
        row.getBigDecimal("latest"),
        Sql.instant(row, "latest_at"),
        row.getUUID("latest_key"),
        row.getLong("uniques"));
  }
}
