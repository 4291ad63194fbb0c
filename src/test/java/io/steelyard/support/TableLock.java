package io.steelyard.support;

import io.steelyard.db.Endpoint;
import java.sql.Connection;
import java.sql.SQLException;

/** A table that nobody else can read or write, so that who asks for it is in flight until then. */
public final class TableLock implements AutoCloseable {
  private static final String WAITING =
      """
      SELECT count(*) FROM pg_stat_activity
      WHERE wait_event_type = 'Lock' AND datname = current_database()
      """;

  private final Connection connection;

  private TableLock(Connection connection) {
    this.connection = connection;
  }

  public static TableLock of(Endpoint database, String table) throws SQLException {
    Connection connection = Tables.connect(database);
    connection.setAutoCommit(false);
    connection.createStatement().execute("LOCK TABLE " + table + " IN ACCESS EXCLUSIVE MODE");
    return new TableLock(connection);
  }

  /** Returns once so many connections wait for locks of this database, whichever. */
  public static void awaitWaiting(Endpoint database, int count) throws Exception {
    String expected = Integer.toString(count);
    String seen =
        Merchant.eventually(() -> Tables.query(database, WAITING).getFirst(), expected::equals);
    if (!seen.equals(expected)) {
      throw new AssertionError("expected " + count + " to wait for locks, but " + seen + " do");
    }
  }

  /** Closes as well. */
  public void release() throws SQLException {
    connection.rollback();
    connection.close();
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
