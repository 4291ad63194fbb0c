package io.steelyard.usage;

import io.steelyard.db.Sql;
import io.steelyard.domain.LineKind;
import io.steelyard.domain.WireName;
import io.steelyard.usage.EventPage.Place;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** Reads lines of invoices and the events that may be behind them. */
final class ExplainStore {
  private static final String LINE =
      """
      SELECT l.id AS line_id, l.kind, l.price_id, l.period_index, i.subscription_id,
             i.boundary_index
      FROM invoice i
      LEFT JOIN invoice_line_item l
        ON l.merchant_id = i.merchant_id AND l.invoice_id = i.id AND l.id = $3
      WHERE i.merchant_id = $1 AND i.id = $2
      """;

  // Left out: events that the fold counted after this invoice's lines had been written; those that
  // still wait for it are in no chunk.
  private static final String EVENTS =
      """
      SELECT e.merchant_id, e.key, e.customer_id, e.generated_at, e.name, e.user_id, e.data
      FROM counted_event e
      WHERE e.customer_id = $2 AND e.merchant_id = $1
        AND e.chunk_first_at > $3::timestamptz - interval '1 day' AND e.chunk_first_at < $4
        AND e.chunk_last_at >= $3
        AND e.generated_at >= $3 AND e.generated_at < $4
        AND ($5::text[] IS NULL OR e.name = ANY ($5))
        AND NOT EXISTS (
          SELECT FROM late_event l
          WHERE l.subscription_id = $6 AND l.period_index = $7 AND l.key = e.key
            AND l.merchant_id = e.merchant_id
            AND (l.boundary_index IS NULL OR l.boundary_index > $8))
      """;

  private static final String FORWARDS =
      EVENTS
          + """
            AND (e.generated_at, e.key) > ($9::timestamptz, $10::uuid)
          ORDER BY e.generated_at, e.key
          LIMIT $11
          """;

  private static final String BACKWARDS =
      EVENTS
          + """
            AND (e.generated_at, e.key) < ($9::timestamptz, $10::uuid)
          ORDER BY e.generated_at DESC, e.key DESC
          LIMIT $11
          """;

  // Where to stop, so that no more chunks are read than a page can take.
  private static final String EDGE_FORWARDS =
      """
      SELECT c.first_at
      FROM event_chunk c
      WHERE c.customer_id = $2 AND c.merchant_id = $1 AND c.first_at > $3 AND c.first_at < $4
      ORDER BY c.first_at
      OFFSET $5 LIMIT 1
      """;

  private static final String EDGE_BACKWARDS =
      """
      SELECT c.first_at
      FROM event_chunk c
      WHERE c.customer_id = $2 AND c.merchant_id = $1 AND c.first_at > $3 AND c.first_at < $4
      ORDER BY c.first_at DESC
      OFFSET $5 LIMIT 1
      """;

  /**
   * A line of an invoice.
   *
   * @param period the one that it charges
   * @param boundaryIndex of its invoice
   */
  record Line(LineKind kind, UUID priceId, UsagePeriod.Ref period, int boundaryIndex) {}

  /** An invoice of the merchant's with one of its lines, empty when it has no such line. */
  record Found(Optional<Line> line) {}

  /**
   * Which events to read.
   *
   * @param names the only ones that the events may have; empty for any
   */
  record Scan(
      Line line, UsagePeriod period, Optional<Set<String>> names, boolean ascending, int pageMax) {}

  /** A null id finds nothing. */
  Future<Optional<Found>> line(SqlClient client, UUID merchantId, UUID invoiceId, UUID lineId) {
    return client
        .preparedQuery(LINE)
        .execute(Tuple.of(merchantId, invoiceId, lineId))
        .map(
            rows ->
                rows.size() == 0
                    ? Optional.empty()
                    : Optional.of(found(rows.iterator().next(), merchantId)));
  }

  private static Found found(Row row, UUID merchantId) {
    if (row.getUUID("line_id") == null) {
      return new Found(Optional.empty());
    }
    UsagePeriod.Ref period =
        new UsagePeriod.Ref(
            merchantId, row.getUUID("subscription_id"), row.getInteger("period_index"));
    return new Found(
        Optional.of(
            new Line(
                WireName.parse(LineKind.class, row.getString("kind")),
                row.getUUID("price_id"),
                period,
                row.getInteger("boundary_index"))));
  }

  /** Where the scan begins. */
  static Place start(Scan scan) {
    return scan.ascending() ? Place.since(scan.period().start()) : Place.until(scan.period().end());
  }

  /** The next events in the scan's order, at most its {@code pageMax}. */
  Future<EventPage> events(SqlClient client, Scan scan, Place after) {
    return edge(client, scan, after)
        .compose(
            edge ->
                read(client, scan, after, edge)
                    .map(
                        events ->
                            scan.ascending()
                                ? EventPage.forwards(events, edge, scan.pageMax())
                                : EventPage.backwards(events, edge, scan.pageMax())));
  }

  /** Null when all that is left fits. */
  private static Future<Instant> edge(SqlClient client, Scan scan, Place after) {
    UsagePeriod period = scan.period();
    boolean ascending = scan.ascending();
    Instant from = ascending ? after.laterEdge() : period.start();
    Instant until = ascending ? period.end() : after.at();
    return client
        .preparedQuery(ascending ? EDGE_FORWARDS : EDGE_BACKWARDS)
        .execute(
            Tuple.of(
                period.merchantId(),
                period.customerId(),
                Sql.time(from),
                Sql.time(until),
                EventPage.chunksMax(scan.pageMax())))
        .map(rows -> rows.size() == 0 ? null : Sql.instant(rows.iterator().next(), "first_at"));
  }

  private static Future<List<StoredEvent>> read(
      SqlClient client, Scan scan, Place after, Instant edge) {
    UsagePeriod period = scan.period();
    boolean ascending = scan.ascending();
    Instant lowest = ascending || edge == null ? period.start() : edge;
    Instant highest = ascending && edge != null ? edge : period.end();
    Tuple parameters = Tuple.of(period.merchantId(), period.customerId());
    // The place's instant again, for the index, which holds no keys.
    parameters.addValue(Sql.time(ascending ? latest(after.at(), lowest) : lowest));
    parameters.addValue(Sql.time(ascending ? highest : after.at().plusMillis(1)));
    parameters.addValue(scan.names().map(names -> names.toArray(String[]::new)).orElse(null));
    parameters.addValue(period.subscriptionId()).addValue(period.index());
    parameters.addValue(scan.line().boundaryIndex());
    parameters.addValue(Sql.time(after.at())).addValue(after.key());
    parameters.addValue(scan.pageMax());
    return client
        .preparedQuery(ascending ? FORWARDS : BACKWARDS)
        .execute(parameters)
        .map(StoredEvent::of);
  }

  private static Instant latest(Instant one, Instant other) {
    return one.isAfter(other) ? one : other;
  }
}
