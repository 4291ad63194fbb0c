package io.steelyard.bench;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;

/** What the service has said that it took, to be compared with what its tables hold. */
final class Acknowledged {
  private static final long FOLD_LIMIT_NANOS = TimeUnit.MINUTES.toNanos(30);
  private static final long POLL_MS = 100;

  private static final String UNCOUNTED = "SELECT count(*) FROM event_batch";

  private static final String HAS_KEYS =
      "SELECT CASE WHEN to_regclass('event_key') IS NULL THEN 0 ELSE 1 END";

  private static final String COUNTED =
      """
      SELECT coalesce(sum(c.events), 0)
        FROM usage_counter c JOIN billable b ON b.id = c.billable_id
       WHERE b.slug = ?
      """;

  private static final String SUMMED =
      """
      SELECT coalesce(trunc(sum(c.sum)), 0)
        FROM usage_counter c JOIN billable b ON b.id = c.billable_id
       WHERE b.slug = ?
      """;

  private long events;
  private long sum;
  private long unknown;

  /**
   * @param eventsEach in one request
   */
  Acknowledged add(Measured measured, int eventsEach) {
    if (measured.duplicates() > 0) {
      throw new IllegalStateException(measured.duplicates() + " new events were called duplicates");
    }
    add(measured.accepted(), measured.accepted() / eventsEach * EventRequests.sum(eventsEach));
    unknown += measured.brokenRequests() * eventsEach;
    return this;
  }

  Acknowledged add(long events, long sum) {
    this.events += events;
    this.sum += sum;
    return this;
  }

  long events() {
    return events;
  }

  /** Waits until all events are counted; the seconds that it took. */
  static double awaitCounted(ServiceProcess service)
      throws IOException, SQLException, InterruptedException {
    long startedAt = System.nanoTime();
    try (Connection database = service.database().connect()) {
      while (Sql.number(database, UNCOUNTED) > 0) {
        if (System.nanoTime() - startedAt > FOLD_LIMIT_NANOS) {
          throw new IllegalStateException("the events are not counted after half an hour");
        }
        Thread.sleep(POLL_MS);
      }
    }
    return (System.nanoTime() - startedAt) / 1e9;
  }

  /** Every acknowledged event is stored and counted once, and nothing else is; says so. */
  String check(ServiceProcess service) throws IOException, SQLException, InterruptedException {
    double seconds = awaitCounted(service);
    try (Connection database = service.database().connect()) {
      String table = Sql.number(database, HAS_KEYS) == 1 ? "event_key" : "event";
      require("stored events", Sql.number(database, "SELECT count(*) FROM " + table), events);
      require("events counted", Sql.number(database, COUNTED, "requests"), events);
      require("events summed", Sql.number(database, COUNTED, "tokens"), events);
      if (unknown == 0) {
        require("sum of the events", Sql.number(database, SUMMED, "tokens"), sum);
      }
    }
    return "%d events stored, counted and summed as acknowledged; the last were %.1f s after the load"
        .formatted(events, seconds);
  }

  private void require(String what, long found, long expected) {
    if (found < expected || found > expected + unknown) {
      throw new IllegalStateException(
          "%s: %d, but %d were acknowledged and %d not answered"
              .formatted(what, found, expected, unknown));
    }
  }
}
