package io.steelyard.db;

import io.steelyard.config.Encryption;
import io.steelyard.config.StartFailure;
import java.net.UnknownHostException;
import java.security.cert.CertificateException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the database for a first connection and says in one line why there is none. Blocking. */
public final class FirstConnection {
  private static final Logger LOG = LoggerFactory.getLogger(FirstConnection.class);
  private static final long PAUSE_MS = 250;

  private FirstConnection() {}

  /**
   * Waits until the database lets us in. One that is not there yet is tried again until the time is
   * over; one that refuses is not.
   *
   * @return settings that every session should begin with, and may
   */
  static Map<String, String> await(Endpoint endpoint, int limitMs) {
    long deadline = System.nanoTime() + limitMs * 1_000_000L;
    while (true) {
      long leftMs = (deadline - System.nanoTime()) / 1_000_000;
      try (Connection connection =
          DriverManager.getConnection(endpoint.jdbcUrl(), properties(endpoint, leftMs))) {
        return Liveness.takenBy(connection);
      } catch (SQLException e) {
        String state = String.valueOf(e.getSQLState());
        // 08 no connection, 57P03 starting up or shutting down, 53300 too many clients
        boolean passing =
            (state.startsWith("08") && !isOfEncryption(endpoint, e))
                || state.equals("57P03")
                || state.equals("53300");
        if (!passing || leftMs <= PAUSE_MS) {
          throw failure(endpoint, state, limitMs, e);
        }
        LOG.debug("no connection to {} yet: {}", endpoint, e.getMessage());
        pause();
      }
    }
  }

  /**
   * Whether somebody answered who does not encrypt, or whose certificate is not as it must be: the
   * JDBC driver has the same codes for this as for a database that is away.
   */
  private static boolean isOfEncryption(Endpoint endpoint, SQLException e) {
    if (endpoint.encryption().mode() == Encryption.Mode.DISABLE) {
      return false;
    }
    for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
      if (cause instanceof CertificateException) {
        return true;
      }
    }
    return e.getCause() == null && Set.of("08004", "08006").contains(e.getSQLState());
  }

  private static Properties properties(Endpoint endpoint, long leftMs) {
    String seconds = Long.toString(Math.max(1, (leftMs + 999) / 1000));
    Properties properties = new Properties();
    properties.setProperty("user", endpoint.user());
    properties.setProperty("password", endpoint.password());
    properties.setProperty("connectTimeout", seconds);
    properties.setProperty("loginTimeout", seconds);
    properties.setProperty("socketTimeout", seconds);
    return properties;
  }

  private static StartFailure failure(
      Endpoint endpoint, String state, int limitMs, SQLException cause) {
    String where = endpoint.host() + ":" + endpoint.port();
    String line =
        switch (state) {
          case "28P01" ->
              "the database at %s refuses user \"%s\" with this password (database.url)"
                  .formatted(where, endpoint.user());
          case "3D000" ->
              "the database \"%s\" does not exist at %s (database.url)"
                  .formatted(endpoint.database(), where);
          case "42501" ->
              "user \"%s\" may not connect to database \"%s\" at %s (database.url)"
                  .formatted(endpoint.user(), endpoint.database(), where);
          default -> otherwise(endpoint, state, limitMs, cause);
        };
    return new StartFailure(line, cause);
  }

  private static String otherwise(
      Endpoint endpoint, String state, int limitMs, SQLException cause) {
    String where = endpoint.host() + ":" + endpoint.port();
    if (isOfEncryption(endpoint, cause)) {
      return "the connection to the database at %s cannot be encrypted as sslmode %s demands (database.url): %s"
          .formatted(where, endpoint.encryption().mode().text(), firstLine(cause));
    }
    return state.startsWith("08") || state.equals("57P03")
        ? "the database at %s cannot be reached, tried for %d ms (database.url): %s"
            .formatted(where, limitMs, firstLine(cause))
        : "the database at %s refuses the connection (database.url): %s"
            .formatted(where, firstLine(cause));
  }

  private static String firstLine(SQLException cause) {
    if (cause.getCause() instanceof UnknownHostException) {
      return "the host name is not known";
    }
    return String.valueOf(cause.getMessage()).lines().findFirst().orElse("no reason given");
  }

  private static void pause() {
    try {
      Thread.sleep(PAUSE_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for the database", e);
    }
  }
}
