package io.steelyard.db;

import java.sql.Connection;
import java.sql.SQLException;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.output.MigrateResult;

/** Brings the database to the schema this version needs. Blocking; for start-up only. */
public final class Migrations {
  private static final int CONNECT_RETRIES = 0;

  // A second apart. As long as another migrator may take; with Flyway's 50 the second node of an
  // upgrade would give up before the first is done.
  private static final int LOCK_RETRIES = 24 * 3600;

  private Migrations() {}

  /**
   * Applies what is missing, one migrator at a time across all nodes (Flyway takes a lock), each
   * migration whole or not at all.
   *
   * @return the schema's version afterwards
   * @throws FlywayException when the database cannot be reached or refuses
   */
  public static String migrate(Endpoint endpoint) {
    try (Connection connection = endpoint.connect()) {
      return migrate(connection, () -> {});
    } catch (SQLException e) {
      throw new FlywayException("the database cannot be reached: " + e.getMessage(), e);
    }
  }

  /**
   * As {@link #migrate(Endpoint)}. In one session: with one for the migrations and one for the
   * table that says which are done, as Flyway has it, there is a moment in which a migration is
   * committed and not noted, after which no start would succeed any more.
   *
   * @param beforeMigrating called where something is missing
   */
  static String migrate(Connection connection, Runnable beforeMigrating) {
    Flyway flyway =
        Flyway.configure()
            .dataSource(new OneSession(connection))
            .connectRetries(CONNECT_RETRIES)
            .lockRetryCount(LOCK_RETRIES)
            .locations("classpath:db/migration")
            .failOnMissingLocations(true)
            .load();
    if (flyway.info().pending().length > 0) {
      beforeMigrating.run();
    }
    MigrateResult result = flyway.migrate();
    return result.targetSchemaVersion == null
        ? result.initialSchemaVersion
        : result.targetSchemaVersion;
  }
}
