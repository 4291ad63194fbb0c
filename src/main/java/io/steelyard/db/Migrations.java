package io.steelyard.db;

import java.sql.SQLException;
import java.util.Map;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.callback.Callback;
import org.flywaydb.core.api.callback.Context;
import org.flywaydb.core.api.callback.Event;
import org.flywaydb.core.api.output.MigrateResult;

/** Brings the database to the schema this version needs. Blocking; for start-up only. */
public final class Migrations {
  private static final int CONNECT_RETRIES = 0;

  private Migrations() {}

  /**
   * Applies what is missing, one migrator at a time across all nodes (Flyway locks its table).
   *
   * @return the schema's version afterwards
   * @throws org.flywaydb.core.api.FlywayException when the database cannot be reached or refuses
   */
  public static String migrate(Endpoint endpoint) {
    return migrate(endpoint, Map.of());
  }

  /**
   * As {@link #migrate(Endpoint)}.
   *
   * @param session settings that its sessions begin with, so that a migrator that is gone holds
   *     nothing for long
   */
  static String migrate(Endpoint endpoint, Map<String, String> session) {
    MigrateResult result =
        Flyway.configure()
            .callbacks(new SessionStart(session))
            .dataSource(endpoint.jdbcUrl(), endpoint.user(), endpoint.password())
            .connectRetries(CONNECT_RETRIES)
            .locations("classpath:db/migration")
            .failOnMissingLocations(true)
            .load()
            .migrate();
    return result.targetSchemaVersion == null
        ? result.initialSchemaVersion
        : result.targetSchemaVersion;
  }

  /**
   * Before the session takes a lock or changes anything.
   *
   * @param settings of the session
   */
  private record SessionStart(Map<String, String> settings) implements Callback {
    @Override
    public boolean supports(Event event, Context context) {
      return event == Event.AFTER_CONNECT;
    }

    @Override
    public boolean canHandleInTransaction(Event event, Context context) {
      return true;
    }

    @Override
    public void handle(Event event, Context context) {
      try {
        Liveness.set(context.getConnection(), settings);
      } catch (SQLException e) {
        throw new FlywayException("the session's settings were not taken", e);
      }
    }

    @Override
    public String getCallbackName() {
      return "session start";
    }
  }
}
