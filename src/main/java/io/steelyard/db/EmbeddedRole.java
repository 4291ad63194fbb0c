package io.steelyard.db;

import io.steelyard.config.StartFailure;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;

/** Inside the embedded server: what must be on, and the role and database the service uses. */
final class EmbeddedRole {
  static final String SUPERUSER = "postgres";

  /** Without any one of these, what was acknowledged could be lost with the power. */
  static final Map<String, String> DURABILITY =
      Map.of("fsync", "on", "synchronous_commit", "on", "full_page_writes", "on");

  private static final String NAME = "steelyard";

  private static final String PREPARED =
      """
      SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = 'steelyard'),
             EXISTS (SELECT FROM pg_database WHERE datname = 'steelyard')
      """;

  private EmbeddedRole() {}

  /** Checks the settings and makes what is missing; the service itself is no superuser. */
  static Endpoint prepare(Endpoint admin) throws SQLException {
    try (Connection connection = admin.connect();
        Statement statement = connection.createStatement()) {
      for (Map.Entry<String, String> setting : DURABILITY.entrySet()) {
        String actual = text(statement, "SHOW " + setting.getKey());
        if (!actual.equals(setting.getValue())) {
          throw new StartFailure(
              "the embedded database runs with " + setting.getKey() + "=" + actual);
        }
      }
      createMissing(statement, admin.password());
    }
    return new Endpoint(admin.host(), admin.port(), NAME, NAME, admin.password());
  }

  private static void createMissing(Statement statement, String password) throws SQLException {
    boolean role;
    boolean database;
    try (ResultSet row = statement.executeQuery(PREPARED)) {
      row.next();
      role = row.getBoolean(1);
      database = row.getBoolean(2);
    }
    if (!role) {
      // base64: nothing in it needs quoting
      statement.execute("CREATE ROLE steelyard LOGIN PASSWORD '" + password + "'");
    }
    if (!database) {
      statement.execute("CREATE DATABASE steelyard OWNER steelyard");
    }
  }

  private static String text(Statement statement, String sql) throws SQLException {
    try (ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getString(1);
    }
  }
}
