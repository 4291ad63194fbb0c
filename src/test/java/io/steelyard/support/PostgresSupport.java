package io.steelyard.support;

import io.steelyard.db.Endpoint;
import io.steelyard.db.Migrations;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.postgresql.PostgreSQLContainer;

/**
 * One PostgreSQL per test JVM: the one named by {@code -Dtest.pg.uri} or {@code TEST_PG_URI}, else
 * a container where a Docker engine answers, else the embedded one. Every caller gets a database of
 * its own, copied from one that was migrated once. With {@code -Dtest.distribution=citus} migrated
 * databases are distributed ones of {@link CitusSupport}.
 */
public final class PostgresSupport {
  private static final String TEMPLATE = "steelyard_template_" + ProcessHandle.current().pid();
  private static final boolean ON_CITUS = CitusSupport.isWanted();
  private static final AtomicInteger COUNTER = new AtomicInteger();
  private static Endpoint server;
  private static boolean templateMade;

  private PostgresSupport() {}

  /** A fresh, migrated database. */
  public static synchronized Endpoint migratedDatabase() {
    if (ON_CITUS) {
      return CitusSupport.distributedDatabase(nextName());
    }
    Endpoint admin = server();
    if (!templateMade) {
      execute(admin, "DROP DATABASE IF EXISTS " + TEMPLATE, "CREATE DATABASE " + TEMPLATE);
      Migrations.migrate(named(admin, TEMPLATE));
      templateMade = true;
    }
    return create(admin, " TEMPLATE " + TEMPLATE);
  }

  /** A fresh database without any table. */
  public static synchronized Endpoint emptyDatabase() {
    return create(server(), "");
  }

  /** A copy of a database that nobody is connected to. */
  public static synchronized Endpoint copyOf(Endpoint database) {
    if (CitusSupport.made(database)) {
      return CitusSupport.copyOf(database, nextName());
    }
    return create(server(), " TEMPLATE " + database.database());
  }

  /** As {@link #copyOf(Endpoint)}, of a database on another server than that of the tests. */
  public static synchronized Endpoint copyElsewhere(Endpoint database) {
    return create(named(database, "template1"), " TEMPLATE " + database.database());
  }

  private static Endpoint create(Endpoint admin, String options) {
    String name = nextName();
    execute(admin, "DROP DATABASE IF EXISTS " + name, "CREATE DATABASE " + name + options);
    return named(admin, name);
  }

  private static String nextName() {
    return "steelyard_test_" + ProcessHandle.current().pid() + "_" + COUNTER.incrementAndGet();
  }

  private static Endpoint named(Endpoint admin, String database) {
    return new Endpoint(admin.host(), admin.port(), database, admin.user(), admin.password());
  }

  /** Runs statements over JDBC, for what a test must see or break behind the service's back. */
  public static void execute(Endpoint endpoint, String... statements) {
    try (Connection connection = endpoint.connect();
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The first column of what {@code sql} finds, each value as PostgreSQL writes it. */
  public static List<String> column(Endpoint endpoint, String sql) {
    try (Connection connection = endpoint.connect();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      List<String> values = new ArrayList<>();
      while (rows.next()) {
        values.add(rows.getString(1));
      }
      return values;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Endpoint server() {
    if (server == null) {
      server = start();
    }
    return server;
  }

  private static Endpoint start() {
    String uri = System.getProperty("test.pg.uri", System.getenv("TEST_PG_URI"));
    if (uri != null && !uri.isBlank()) {
      return parsed(URI.create(uri));
    }
    return dockerAnswers() ? container() : embedded();
  }

  static Endpoint parsed(URI uri) {
    String[] user = uri.getUserInfo().split(":", 2);
    return new Endpoint(
        uri.getHost(),
        uri.getPort() < 0 ? 5432 : uri.getPort(),
        uri.getPath().substring(1),
        user[0],
        user.length > 1 ? user[1] : "");
  }

  private static boolean dockerAnswers() {
    try {
      return DockerClientFactory.instance().isDockerAvailable();
    } catch (RuntimeException e) {
      return false;
    }
  }

  @SuppressWarnings("resource") // lives as long as the JVM; Testcontainers removes it
  private static Endpoint container() {
    PostgreSQLContainer container =
        new PostgreSQLContainer("postgres:18")
            .withCommand("postgres", "-c", "fsync=off", "-c", "max_connections=300");
    container.start();
    return new Endpoint(
        container.getHost(),
        container.getMappedPort(PostgreSQLContainer.POSTGRESQL_PORT),
        container.getDatabaseName(),
        container.getUsername(),
        container.getPassword());
  }

  private static Endpoint embedded() {
    try {
      EmbeddedPostgres postgres =
          EmbeddedPostgres.builder()
              .setServerConfig("max_connections", "300")
              .setPGStartupWait(Duration.ofSeconds(60))
              .start();
      return new Endpoint("127.0.0.1", postgres.getPort(), "postgres", "postgres", "");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
