package io.steelyard.usage;

import io.steelyard.db.Sql;
import io.steelyard.domain.LineKind;
import io.steelyard.domain.WireName;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** Reads lines of invoices and the events that may be behind them. */
final class ExplainStore {
  private static final UUID FIRST_KEY = new UUID(0, 0);
  private static final UUID LAST_KEY = new UUID(-1, -1);

  private static final String LINE =
      """
      SELECT l.id AS line_id, l.kind, l.price_id, l.period_index, i.subscription_id,
             i.boundary_index
      FROM invoice i
      LEFT JOIN invoice_line_item l
        ON l.merchant_id = i.merchant_id AND l.invoice_id = i.id AND l.id = $3
      WHERE i.merchant_id = $1 AND i.id = $2
      """;

  // Left out: events that wait for the fold, and those that it counted after this invoice's lines
  // had been written. $3 and $4 repeat the page's edge for the index, which holds no key.
  private static final String EVENTS =
      """
      SELECT e.merchant_id, e.key, e.customer_id, e.generated_at, e.name, e.user_id, e.data
      FROM event e
      WHERE e.customer_id = $2 AND e.merchant_id = $1
        AND e.generated_at >= $3 AND e.generated_at < $4
        AND ($5::text[] IS NULL OR e.name = ANY ($5))
        AND NOT EXISTS (
          SELECT FROM event_batch b
          WHERE b.batch = e.batch AND b.merchant_id = e.merchant_id)
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

  /**
   * The next events in the scan's order, fewer than its {@code pageMax} at the end.
   *
   * @param after the last event of the page before, or null
   */
  Future<List<StoredEvent>> events(SqlClient client, Scan scan, StoredEvent after) {
    UsagePeriod period = scan.period();
    Instant edge = after == null ? null : after.generatedAt();
    boolean ascending = scan.ascending();
    Tuple parameters = Tuple.of(period.merchantId(), period.customerId());
    // A key that is no event's, before or behind all of them, stands for none.
    Instant from = ascending && edge != null ? edge : period.start();
    Instant until = ascending || edge == null ? period.end() : edge.plusMillis(1);
    parameters.addValue(Sql.time(from)).addValue(Sql.time(until));
    parameters.addValue(scan.names().map(names -> names.toArray(String[]::new)).orElse(null));
    parameters.addValue(period.subscriptionId()).addValue(period.index());
    parameters.addValue(scan.line().boundaryIndex());
    if (after == null) {
      parameters.addValue(Sql.time(ascending ? Instant.EPOCH : period.end()));
      parameters.addValue(ascending ? FIRST_KEY : LAST_KEY);
    } else {
      parameters.addValue(Sql.time(edge)).addValue(after.key());
    }
    parameters.addValue(scan.pageMax());
    return client
        .preparedQuery(ascending ? FORWARDS : BACKWARDS)
        .execute(parameters)
        .map(
            rows -> {
              List<StoredEvent> events = new ArrayList<>(rows.size());
              rows.forEach(row -> events.add(StoredEvent.of(row)));
              return events;
            });
  }
}
