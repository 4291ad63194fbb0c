package io.steelyard.db;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a database is told of our sessions so that it notices soon when one of our processes or
 * machines is gone: what that held is free then, and its connections are not counted any more.
 */
final class Liveness {
  private static final Logger LOG = LoggerFactory.getLogger(Liveness.class);

  /** In seconds, but for the last two, in milliseconds. */
  private static final List<Map.Entry<String, String>> WANTED =
      List.of(
          Map.entry("tcp_keepalives_idle", "30"),
          Map.entry("tcp_keepalives_interval", "5"),
          Map.entry("tcp_keepalives_count", "3"),
          Map.entry("tcp_user_timeout", "15000"),
          Map.entry("client_connection_check_interval", "2000")); // while a statement goes on

  private Liveness() {}

  /**
   * Those that this database knows and takes: an older one does not know all, one on Windows
   * refuses some, and a session that began with one of these would not begin.
   */
  static Map<String, String> takenBy(Connection connection) throws SQLException {
    return takenBy(connection, WANTED);
  }

  /** In a session that has begun. */
  static void set(Connection connection, Map<String, String> taken) throws SQLException {
    for (Map.Entry<String, String> each : taken.entrySet()) {
      set(connection, each);
    }
  }

  private static void set(Connection connection, Map.Entry<String, String> setting)
      throws SQLException {
    try (PreparedStatement set = connection.prepareStatement("SELECT set_config(?, ?, false)")) {
      set.setString(1, setting.getKey());
      set.setString(2, setting.getValue());
      set.execute();
    }
  }

  /** Those of {@code wanted}. */
  static Map<String, String> takenBy(Connection connection, List<Map.Entry<String, String>> wanted)
      throws SQLException {
    Map<String, String> taken = new LinkedHashMap<>();
    for (Map.Entry<String, String> each : wanted) {
      try {
        set(connection, each);
        taken.put(each.getKey(), each.getValue());
      } catch (SQLException e) {
        String state = String.valueOf(e.getSQLState());
        // 22 not this value, 42 not known, 0A not here
        if (!state.startsWith("22") && !state.startsWith("42") && !state.startsWith("0A")) {
          throw e;
        }
        LOG.info("The database does not take {}: {}", each.getKey(), e.getMessage());
      }
    }
    return taken;
  }
}
