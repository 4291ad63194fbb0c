package io.steelyard.db;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Map;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.output.MigrateResult;

/** Brings the database to the schema this version needs. Blocking; for start-up only. */
public final class Migrations {
  private static final int CONNECT_RETRIES = 0;

  private Migrations() {}

  /**
   * Applies what is missing, one migrator at a time across all nodes (Flyway takes a lock), each
   * migration whole or not at all.
   *
   * @return the schema's version afterwards
   * @throws FlywayException when the database cannot be reached or refuses
   */
  public static String migrate(Endpoint endpoint) {
    return migrate(endpoint, Map.of());
  }

  /**
   * As {@link #migrate(Endpoint)}.
   *
   * @param session settings that its session begins with, so that a migrator that is gone holds
   *     nothing for long
   */
  static String migrate(Endpoint endpoint, Map<String, String> session) {
    try (Connection connection =
        DriverManager.getConnection(endpoint.jdbcUrl(), endpoint.user(), endpoint.password())) {
      Liveness.set(connection, session);
      return migrate(connection);
    } catch (SQLException e) {
      throw new FlywayException("the database cannot be reached: " + e.getMessage(), e);
    }
  }

  /**
   * In one session: with one for the migrations and one for the table that says which are done, as
   * Flyway has it, there is a moment in which a migration is committed and not noted, after which
   * no start would succeed any more.
   */
  private static String migrate(Connection connection) {
    MigrateResult result =
        Flyway.configure()
            .dataSource(new OneSession(connection))
            .connectRetries(CONNECT_RETRIES)
            .locations("classpath:db/migration")
            .failOnMissingLocations(true)
            .load()
            .migrate();
    return result.targetSchemaVersion == null
        ? result.initialSchemaVersion
        : result.targetSchemaVersion;
  }
}
