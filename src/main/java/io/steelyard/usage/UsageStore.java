package io.steelyard.usage;

import io.steelyard.db.Columns;
import io.steelyard.db.Sql;
import io.steelyard.db.Transactions;
import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.WireName;
import io.steelyard.merchant.MerchantClock;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** What the fold claims and reads: batches, events, periods. */
final class UsageStore {
  private static final String PERIOD_COLUMNS_OF =
      """
      SELECT p.merchant_id, p.subscription_id, p.period_index, p.customer_id, p.plan_id,
             p.period_start, p.period_end, p.ready_until, p.opened_at, p.recounts, s.billing_cadence,
             m.clock_now, s.start_date, s.end_date,
             least(p.period_end, CASE WHEN s.period_index = p.period_index THEN s.due_at END)
               AS allocated_until,
             coalesce(p.period_index < s.period_index, false)
               OR s.status IN ('ended', 'deleted') AS closed
      FROM {periods} p
      JOIN subscription s ON s.merchant_id = p.merchant_id AND s.id = p.subscription_id
      JOIN merchant m ON m.id = p.merchant_id
      """;
  private static final String PERIOD_COLUMNS =
      PERIOD_COLUMNS_OF.replace("{periods}", "subscription_period");

  private static final String PERIODS_OF =
      PERIOD_COLUMNS
          + """
          WHERE p.customer_id = ANY ($1::uuid[]) AND p.merchant_id = ANY ($2::uuid[])
            AND p.period_start <= $4 AND p.ready_until > $3
          """;

  private static final String PERIOD =
      PERIOD_COLUMNS
          + "WHERE p.merchant_id = $1 AND p.subscription_id = $2 AND p.period_index = $3";

  // What is read here of the subscription stays true until the customer's lock is held: no period
  // is closed before it is ready, and what units were allocated up to only moves on. Periods that
  // wait for their next units are passed by; asked for one by one, as they are few.
  // NO KEY UPDATE, as the counters' foreign keys lock the same rows for their key.
  // Taken off the top of the index first, and with the limit in the text: a plan for any limit
  // reckons with a tenth of all that wait, and would read all subscriptions to find theirs. The
  // period's columns are those of the locked row: read once more, they could be older than a cut.
  // Those of the subscription may be: its end is only for access rows, which are there by then.
  private static final String CLAIM_PERIODS =
      """
      WITH claimed AS MATERIALIZED (
        SELECT p.merchant_id, p.subscription_id, p.period_index, p.customer_id, p.plan_id,
               p.period_start, p.period_end, p.ready_until, p.opened_at, p.recounts
        FROM subscription_period p
        WHERE p.ready_until < p.period_end AND p.subscription_id <> ALL ($1::uuid[])
          AND coalesce(p.ready_until < (SELECT s.due_at FROM subscription s
                                         WHERE s.merchant_id = p.merchant_id
                                           AND s.id = p.subscription_id
                                           AND s.period_index = p.period_index), true)
        ORDER BY p.opened_at
        LIMIT %d
        FOR NO KEY UPDATE SKIP LOCKED
      )
      """
          + PERIOD_COLUMNS_OF.replace("{periods}", "claimed");

  // The merchant ends the order, since two merchants may use the same key at the same time. Events
  // that still wait in a batch are left to the fold of that batch, which waits for this customer's
  // lock and then finds the period ready.
  private static final String EVENTS_OF_PERIODS =
      """
      SELECT e.merchant_id, e.key, e.customer_id, e.generated_at, e.name, e.user_id, e.data
      FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::timestamptz[])
           AS p (merchant_id, customer_id, period_start, period_end)
      JOIN counted_event e ON e.customer_id = p.customer_id AND e.merchant_id = p.merchant_id
       AND e.chunk_first_at > greatest(p.period_start, $5::timestamptz) - interval '1 day'
       AND e.chunk_first_at < least(p.period_end, $8::timestamptz)
       AND e.chunk_last_at >= greatest(p.period_start, $5)
       AND e.generated_at >= p.period_start AND e.generated_at < least(p.period_end, $8::timestamptz)
      WHERE (e.generated_at, e.key, e.merchant_id) > ($5::timestamptz, $6::uuid, $7::uuid)
      ORDER BY e.generated_at, e.key, e.merchant_id
      LIMIT $9
      """;

  // Where to stop, so that no more chunks are read than a page can take. The next of each period:
  // the next of all would be found among all that are left.
  private static final String EDGE_OF_PERIODS =
      """
      SELECT next.first_at
      FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::timestamptz[])
           AS p (merchant_id, customer_id, period_start, period_end)
      CROSS JOIN LATERAL (
        SELECT c.first_at
        FROM event_chunk c
        WHERE c.customer_id = p.customer_id AND c.merchant_id = p.merchant_id
          AND c.first_at >= p.period_start AND c.first_at < p.period_end AND c.first_at > $5
        ORDER BY c.first_at
        LIMIT $6 + 1) next
      ORDER BY next.first_at
      OFFSET $6 LIMIT 1
      """;

  // The same of one merchant, since Citus does not ask several nodes with a limit for each period.
  private static final String NEXT_CHUNKS =
      """
      SELECT next.first_at
      FROM unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[])
           AS p (customer_id, period_start, period_end)
      CROSS JOIN LATERAL (
        SELECT c.first_at
        FROM event_chunk c
        WHERE c.customer_id = p.customer_id AND c.merchant_id = $4
          AND c.first_at >= p.period_start AND c.first_at < p.period_end AND c.first_at > $5
        ORDER BY c.first_at
        LIMIT $6) next
      ORDER BY next.first_at
      LIMIT $6
      """;

  private static final String MARK_READY =
      """
      UPDATE subscription_period p SET ready_until = done.ready_until
      FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::timestamptz[])
           AS done (merchant_id, subscription_id, period_index, ready_until)
      WHERE p.subscription_id = done.subscription_id AND p.period_index = done.period_index
        AND p.merchant_id = done.merchant_id
      """;

  private final MerchantClock clock;
  private final boolean distributed;
  private final EarlyUsageStore early = new EarlyUsageStore();

  /** For the periods of one merchant at a time, on whatever nodes its events are. */
  UsageStore(MerchantClock clock) {
    this(clock, true);
  }

  /**
   * @param distributed whether the events are on several nodes
   */
  UsageStore(MerchantClock clock, boolean distributed) {
    this.clock = clock;
    this.distributed = distributed;
  }

  /** The customers' periods that are ready for usage and touch this span. */
  Future<List<UsagePeriod>> readyPeriods(
      SqlConnection transaction,
      Collection<UUID> customerIds,
      Collection<UUID> merchantIds,
      Instant first,
      Instant last) {
    Tuple parameters = Tuple.tuple();
    parameters.addValue(customerIds.toArray(UUID[]::new));
    parameters.addValue(merchantIds.toArray(UUID[]::new));
    parameters.addValue(Sql.time(first)).addValue(Sql.time(last));
    return list(transaction.preparedQuery(PERIODS_OF).execute(parameters), this::readyPart);
  }

  /** A period that must be there, with all the events in it. */
  Future<UsagePeriod> period(SqlClient client, UsagePeriod.Ref ref) {
    return client
        .preparedQuery(PERIOD)
        .execute(Tuple.of(ref.merchantId(), ref.subscriptionId(), ref.index()))
        .map(rows -> wholePeriod(rows.iterator().next()));
  }

  /**
   * Periods that earlier events may not be counted in yet; locked. Subscriptions are passed by with
   * all their periods.
   */
  Future<List<UsagePeriod>> claimPeriods(
      SqlConnection transaction, int periodsMax, Collection<UsagePeriod.Ref> passBy) {
    UUID[] passed = passBy.stream().map(UsagePeriod.Ref::subscriptionId).toArray(UUID[]::new);
    return list(
        transaction
            .preparedQuery(CLAIM_PERIODS.formatted(periodsMax))
            .execute(Tuple.of((Object) passed)),
        this::missingPart);
  }

  /**
   * A page of the counted events that fall in these periods, in their order. An event that falls in
   * two of the periods comes twice, side by side.
   */
  Future<EventPage> events(
      SqlConnection transaction, List<UsagePeriod> periods, EventPage.Place after, int eventsMax) {
    return edge(transaction, periods, after, EventPage.chunksMax(eventsMax))
        .compose(
            edge ->
                transaction
                    .preparedQuery(EVENTS_OF_PERIODS)
                    .execute(
                        new Columns<>(periods)
                            .uuids(UsagePeriod::merchantId)
                            .also(UsageStore::spans)
                            .and(
                                Sql.time(after.at()),
                                after.key(),
                                after.merchantId(),
                                Sql.time(edge),
                                eventsMax))
                    .map(StoredEvent::of)
                    .map(events -> EventPage.forwards(events, edge, eventsMax)));
  }

  /** Where the chunk begins that would be one too many; null when all that are left may be read. */
  private Future<Instant> edge(
      SqlConnection transaction, List<UsagePeriod> periods, EventPage.Place after, int chunksMax) {
    if (!distributed) {
      Columns<UsagePeriod> all = new Columns<>(periods).uuids(UsagePeriod::merchantId);
      return transaction
          .preparedQuery(EDGE_OF_PERIODS)
          .execute(spans(all).and(Sql.time(after.laterEdge()), chunksMax))
          .map(rows -> rows.size() == 0 ? null : Sql.instant(rows.iterator().next(), "first_at"));
    }
    return edgeByMerchants(transaction, periods, after, chunksMax);
  }

  private static Future<Instant> edgeByMerchants(
      SqlConnection transaction, List<UsagePeriod> periods, EventPage.Place after, int chunksMax) {
    List<Instant> next = new ArrayList<>();
    List<Supplier<Future<?>>> ofMerchants = new ArrayList<>();
    periods.stream()
        .collect(Collectors.groupingBy(UsagePeriod::merchantId))
        .forEach(
            (merchantId, theirs) ->
                ofMerchants.add(
                    () ->
                        nextChunks(transaction, merchantId, theirs, after, chunksMax + 1)
                            .map(next::addAll)));
    return Transactions.pipelined(ofMerchants)
        .map(
            read -> {
              Collections.sort(next);
              return next.size() > chunksMax ? next.get(chunksMax) : null;
            });
  }

  private static Future<List<Instant>> nextChunks(
      SqlConnection transaction,
      UUID merchantId,
      List<UsagePeriod> periods,
      EventPage.Place after,
      int max) {
    return list(
        transaction
            .preparedQuery(NEXT_CHUNKS)
            .execute(
                spans(new Columns<>(periods)).and(merchantId, Sql.time(after.laterEdge()), max)),
        row -> Sql.instant(row, "first_at"));
  }

  private static Columns<UsagePeriod> spans(Columns<UsagePeriod> periods) {
    return periods
        .uuids(UsagePeriod::customerId)
        .times(UsagePeriod::countsFrom)
        .times(UsagePeriod::countsUntil);
  }

  /**
   * Lets these periods, which the caller has locked, be counted in by the normal fold: to their
   * end, or up to their next units where events are kept that wait for these.
   */
  Future<Void> markReady(SqlConnection transaction, List<UsagePeriod> periods) {
    return early
        .waiting(transaction, periods)
        .compose(
            waiting ->
                transaction
                    .preparedQuery(MARK_READY)
                    .execute(
                        new Columns<>(periods)
                            .also(PeriodColumns.of(UsagePeriod::ref))
                            .times(
                                each ->
                                    waiting.contains(each.ref())
                                        ? each.allocatedUntil()
                                        : each.end())
                            .and()))
        .mapEmpty();
  }

  private static <T> Future<List<T>> list(Future<RowSet<Row>> rows, Function<Row, T> map) {
    return rows.map(
        set -> {
          List<T> list = new ArrayList<>(set.size());
          set.forEach(row -> list.add(map.apply(row)));
          return list;
        });
  }

  private UsagePeriod wholePeriod(Row row) {
    return period(row, Sql.instant(row, "period_start"), Sql.instant(row, "period_end"), false);
  }

  private UsagePeriod readyPart(Row row) {
    return period(row, Sql.instant(row, "period_start"), Sql.instant(row, "ready_until"), false);
  }

  private UsagePeriod missingPart(Row row) {
    Instant from = Sql.instant(row, "ready_until");
    boolean anew = row.getInteger("recounts") > 0 && from.equals(Sql.instant(row, "period_start"));
    return period(row, from, Sql.instant(row, "allocated_until"), anew);
  }

  private UsagePeriod period(Row row, Instant countsFrom, Instant countsUntil, boolean recounting) {
    Instant clockNow = Sql.instant(row, "clock_now");
    return new UsagePeriod(
        row.getUUID("merchant_id"),
        row.getUUID("subscription_id"),
        row.getInteger("period_index"),
        row.getUUID("customer_id"),
        row.getUUID("plan_id"),
        Sql.instant(row, "period_start"),
        Sql.instant(row, "period_end"),
        countsFrom,
        countsUntil,
        Sql.instant(row, "allocated_until"),
        Sql.instant(row, "opened_at"),
        WireName.parse(BillingCadence.class, row.getString("billing_cadence")),
        clock.orSystem(clockNow),
        clockNow != null,
        Sql.instant(row, "start_date"),
        Sql.instant(row, "end_date"),
        row.getBoolean("closed"),
        row.getInteger("recounts"),
        recounting);
  }
}
