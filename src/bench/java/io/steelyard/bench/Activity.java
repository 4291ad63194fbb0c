package io.steelyard.bench;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What PostgreSQL is busy with, by looking at it many times a second. */
final class Activity implements AutoCloseable {
  private static final int EVERY_MS = 5;
  private static final int SHOWN = 12;
  private static final int CHARS = 100;

  private static final String RUNNING =
      """
      SELECT left(regexp_replace(query, '\\s+', ' ', 'g'), %d) AS query,
             coalesce(wait_event, 'running') AS waits
        FROM pg_stat_activity
       WHERE state = 'active' AND application_name LIKE 'steelyard-%%'
      """
          .formatted(CHARS);

  private final Connection connection;
  private final Thread thread = new Thread(this::sample, "activity");
  private final Map<String, Integer> seen = new HashMap<>();
  private volatile boolean stopped;
  private int samples;

  Activity(Connection connection) {
    this.connection = connection;
    thread.start();
  }

  private void sample() {
    try (Statement statement = connection.createStatement()) {
      while (!stopped) {
        samples++;
        try (ResultSet rows = statement.executeQuery(RUNNING)) {
          while (rows.next()) {
            seen.merge(rows.getString(1) + "  [" + rows.getString(2) + "]", 1, Integer::sum);
          }
        }
        Thread.sleep(EVERY_MS);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The statements seen most often, with the share of samples that saw them. */
  List<String> top() {
    return seen.entrySet().stream()
        .sorted(Map.Entry.<String, Integer>comparingByValue(Comparator.reverseOrder()))
        .limit(SHOWN)
        .map(each -> "%5.1f %%  %s".formatted(100.0 * each.getValue() / samples, each.getKey()))
        .toList();
  }

  @Override
  public void close() throws SQLException {
    stopped = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    connection.close();
  }
}
