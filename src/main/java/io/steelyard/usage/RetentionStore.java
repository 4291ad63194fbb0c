package io.steelyard.usage;

import io.steelyard.db.Sql;
import io.steelyard.domain.BillingPeriod;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.WireName;
import io.steelyard.usage.DroppedMonths.Dropped;
import io.steelyard.usage.RetentionMessages.EventMonth;
import io.steelyard.usage.RetentionMessages.Need;
import io.steelyard.usage.RetentionMessages.Reason;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The months that have events, of all merchants together, what still needs them, and their end. */
final class RetentionStore {
  private static final String MONTHS =
      """
      WITH stored (since, bytes) AS (
        SELECT to_timestamp(right(t.relname, 7), 'YYYY_MM'),
               coalesce(event_month_bytes(t.oid), 0) -- null when it has just been dropped
          FROM pg_inherits i
          JOIN pg_class t ON t.oid = i.inhrelid
         WHERE i.inhparent = 'event_chunk'::regclass
           AND t.relname ~ '^event_chunk_[0-9]{4}_[0-9]{2}$'
        UNION ALL
        SELECT o.since, o.bytes FROM event_months_of_others() o
      )
      SELECT to_char(s.since, 'YYYY-MM') AS month, sum(s.bytes)::bigint AS bytes, d.dropped_at
        FROM stored s
        LEFT JOIN event_month_dropped d ON d.month = s.since::date
       GROUP BY s.since, d.dropped_at
       ORDER BY s.since
      """;

  private static final String HAS_EVENTS =
      """
      SELECT to_regclass($1) IS NOT NULL
             OR EXISTS (SELECT 1 FROM event_chunk_other
                         WHERE first_at >= $2 AND first_at < $3 LIMIT 1) AS found
      """;

  private static final String DELETE_OTHER =
      "DELETE FROM event_chunk_other WHERE first_at >= $1 AND first_at < $2";

  // Whoever reads or writes counted events has this lock in a weaker mode until its transaction
  // ends. Longer than PostgreSQL waits before it sends a vacuum away that is in the way. Who lists
  // the months holds the others' table and asks for those of months: so here too it comes first.
  private static final String LOCK =
      """
      SET LOCAL lock_timeout = '1200ms';
      LOCK TABLE ONLY event_chunk, event_chunk_other IN ACCESS EXCLUSIVE MODE
      """;

  // Two drops would wait for each other: both write to the others' table before they lock all.
  private static final String ONE_DROP = "SELECT pg_advisory_xact_lock(1836019316, 1)";

  private static final String NOTE =
      """
      INSERT INTO event_month_dropped (month, dropped_at) VALUES ($1, $2)
      ON CONFLICT (month) DO UPDATE SET dropped_at = excluded.dropped_at
      """;

  private static final String DROPPED =
      """
      SELECT month::timestamp AT TIME ZONE 'UTC' AS since,
             (month + interval '1 month') AT TIME ZONE 'UTC' AS until, dropped_at
        FROM event_month_dropped
      """;

  private static final int NEEDS_OF_A_REASON_MAX = 5;
  private static final int WAITING_EVENTS_MAX = 500_000;
  private static final String[] REASONS =
      Arrays.stream(Reason.values()).map(Reason::wire).toArray(String[]::new);

  /** All months that have events, with what still needs them. */
  Future<List<EventMonth>> months(SqlClient client, Instant now) {
    return client
        .preparedQuery(MONTHS)
        .execute()
        .compose(
            rows -> {
              List<YearMonth> months = new ArrayList<>(rows.size());
              rows.forEach(row -> months.add(YearMonth.parse(row.getString("month"))));
              return needs(client, months, now)
                  .map(
                      needs -> {
                        List<EventMonth> found = new ArrayList<>(rows.size());
                        rows.forEach(row -> found.add(month(row, needs)));
                        return found;
                      });
            });
  }

  private static EventMonth month(Row row, Map<String, List<Need>> needs) {
    String month = row.getString("month");
    List<Need> heldBy = needs.getOrDefault(month, List.of());
    return new EventMonth(
        month, row.getLong("bytes"), heldBy.isEmpty(), Sql.instant(row, "dropped_at"), heldBy);
  }

  Future<Boolean> hasEvents(SqlClient client, YearMonth month) {
    return client
        .preparedQuery(HAS_EVENTS)
        .execute(Tuple.of(table(month), first(month), first(month.plusMonths(1))))
        .map(rows -> rows.iterator().next().getBoolean("found"));
  }

  /** What still needs the events of each month, by the month's name. */
  Future<Map<String, List<Need>>> needs(SqlClient client, List<YearMonth> months, Instant now) {
    return needs(
        client,
        RetentionNeeds.ALL,
        ofMonths(months)
            .addValue(Sql.time(now))
            .addValue(Sql.time(BillingPeriod.END_OF_TIME))
            .addValue(WAITING_EVENTS_MAX));
  }

  private static Tuple ofMonths(List<YearMonth> months) {
    return Tuple.tuple()
        .addValue(months.stream().map(RetentionStore::first).toArray(OffsetDateTime[]::new))
        .addValue(NEEDS_OF_A_REASON_MAX)
        .addValue(REASONS);
  }

  private static Future<Map<String, List<Need>>> needs(
      SqlClient client, String sql, Tuple parameters) {
    return client
        .preparedQuery(sql)
        .execute(parameters)
        .map(
            rows -> {
              Map<String, List<Need>> needs = new HashMap<>();
              rows.forEach(
                  row ->
                      needs
                          .computeIfAbsent(row.getString("month"), month -> new ArrayList<>())
                          .add(need(row)));
              return needs;
            });
  }

  private static Need need(Row row) {
    return new Need(
        WireName.parse(Reason.class, row.getString("reason")),
        Sql.id(row, "merchant_id", IdKind.MERCHANT),
        Sql.id(row, "subscription_id", IdKind.SUBSCRIPTION));
  }

  /**
   * Drops a month that nothing needed a moment ago. Nobody counts or reads events from the lock to
   * the end of the transaction, so that comes last, and what may take long before it.
   *
   * @return what needs the month now; then the transaction must be rolled back
   */
  Future<List<Need>> drop(SqlConnection transaction, YearMonth month, Supplier<Instant> systemNow) {
    return transaction
        .query(ONE_DROP)
        .execute()
        .compose(alone -> deleteOther(transaction, month))
        .compose(done -> transaction.query(LOCK).execute())
        .compose(locked -> needs(transaction, RetentionNeeds.LATELY, ofMonths(List.of(month))))
        .compose(
            needs ->
                needs.isEmpty()
                    ? dropLocked(transaction, month, systemNow).map(List.<Need>of())
                    : Future.succeededFuture(needs.get(month.toString())));
  }

  /** The time is taken behind the lock: what goes was counted in periods opened before it. */
  private Future<Void> dropLocked(
      SqlConnection transaction, YearMonth month, Supplier<Instant> systemNow) {
    return deleteOther(transaction, month)
        .compose(done -> transaction.query("DROP TABLE IF EXISTS " + table(month)).execute())
        .compose(
            done ->
                transaction
                    .preparedQuery(NOTE)
                    .execute(Tuple.of(month.atDay(1), Sql.time(systemNow.get()))))
        .mapEmpty();
  }

  private static Future<Void> deleteOther(SqlConnection transaction, YearMonth month) {
    return transaction
        .preparedQuery(DELETE_OTHER)
        .execute(Tuple.of(first(month), first(month.plusMonths(1))))
        .mapEmpty();
  }

  Future<DroppedMonths> dropped(SqlClient client) {
    return client
        .preparedQuery(DROPPED)
        .execute()
        .map(
            rows -> {
              List<Dropped> months = new ArrayList<>(rows.size());
              rows.forEach(
                  row ->
                      months.add(
                          new Dropped(
                              Sql.instant(row, "since"),
                              Sql.instant(row, "until"),
                              Sql.instant(row, "dropped_at"))));
              return new DroppedMonths(months);
            });
  }

  private static String table(YearMonth month) {
    return "event_chunk_%04d_%02d".formatted(month.getYear(), month.getMonthValue());
  }

  private static OffsetDateTime first(YearMonth month) {
    return month.atDay(1).atStartOfDay().atOffset(ZoneOffset.UTC);
  }
}
