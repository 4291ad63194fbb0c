package io.steelyard.bench;

import io.steelyard.config.DatabaseUrl;
import io.steelyard.db.Endpoint;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The PostgreSQL that the measured service works on: its embedded one, or the one that {@code
 * -Ddatabase.url} names, on this machine, with its user a superuser and its database empty. With
 * {@code -Ddatabase.distribution=citus} it is a coordinator, and what is done to it is done to its
 * workers too.
 */
final class ServiceDatabase {
  // 4 of the 8 GB of max_wal_size, at which a checkpoint is made so that it ends in time.
  private static final int LOG_FILES = 256;

  private static final String POSTMASTER =
      "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)";

  private static final String TABLES =
      """
      SELECT count(*) FROM pg_class
       WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
      """;

  /** Null where the embedded one is used. */
  private final String url;

  private final String distribution;
  private final Path embedded;
  private final int embeddedPort;
  private List<Long> postmasters;

  ServiceDatabase(Bench.Options options) throws IOException {
    String given = options.databaseUrl();
    url = given.isEmpty() ? null : given;
    distribution = options.distribution();
    embedded = options.directory().resolve("data");
    embeddedPort = url == null ? JavaProcess.freePort() : 0;
  }

  /** What was stored by another run would be taken for what this one lost or doubled. */
  ServiceDatabase requireEmpty() throws IOException, SQLException {
    if (url != null) {
      try (Connection connection = superuser()) {
        if (Sql.number(connection, TABLES) > 0) {
          throw new IllegalStateException("the database of database.url is not empty");
        }
      }
    }
    return this;
  }

  /** Of the service itself. */
  Map<String, String> settings() {
    return url == null
        ? Map.of("database.port", Integer.toString(embeddedPort))
        : Map.of("database.url", url, "database.distribution", distribution);
  }

  /** Of other processes that are to work on it too. */
  Map<String, String> settingsOfOthers() throws IOException {
    if (url != null) {
      return settings();
    }
    String password = URLEncoder.encode(password(), StandardCharsets.UTF_8);
    return Map.of(
        "database.url",
        "postgresql://steelyard:%s@127.0.0.1:%d/steelyard".formatted(password, embeddedPort));
  }

  /** As the service's own role. */
  Connection connect() throws IOException, SQLException {
    return connect("steelyard");
  }

  /** As a role that may do everything. */
  Connection superuser() throws IOException, SQLException {
    return connect("postgres");
  }

  /**
   * @param role of the embedded one; elsewhere there is only that of the URL
   */
  private Connection connect(String role) throws IOException, SQLException {
    Endpoint endpoint =
        url == null
            ? new Endpoint("127.0.0.1", embeddedPort, "steelyard", role, password())
            : Endpoint.of(DatabaseUrl.parse(url));
    return endpoint.connect();
  }

  private String password() throws IOException {
    return Files.readString(embedded.resolve("postgres.password")).strip();
  }

  /** What was prepared shall not be tidied up and written at the cost of what is measured. */
  void settle() throws IOException, SQLException {
    everywhere("VACUUM ANALYZE");
    checkpoint();
  }

  /**
   * As many as PostgreSQL fills before the first checkpoint that it makes by itself, from which on
   * it uses them again. Until then it makes each in the middle of the load: writes and flushes 16
   * MB, while nothing is committed.
   */
  void makeLogFiles() throws IOException, SQLException {
    everywhere(
        """
        DO $$ BEGIN
          FOR i IN 1 .. %d LOOP
            PERFORM pg_logical_emit_message(false, 'bench', '');
            PERFORM pg_switch_wal();
          END LOOP;
        END $$
        """
            .formatted(LOG_FILES));
    checkpoint();
  }

  /** What is in the log alone is written to its place. */
  void checkpoint() throws IOException, SQLException {
    everywhere("CHECKPOINT");
  }

  private void everywhere(String sql) throws IOException, SQLException {
    try (Connection connection = superuser()) {
      Sql.execute(connection, sql);
      if (isDistributed()) {
        onWorkers(connection, sql);
      }
    }
  }

  private boolean isDistributed() {
    return distribution.equals("citus");
  }

  /** The first value of what each worker answers. */
  private static List<String> onWorkers(Connection connection, String sql) throws SQLException {
    String told =
        Sql.text(
            connection,
            """
            WITH answer AS MATERIALIZED (SELECT success, result FROM run_command_on_workers(?))
            SELECT concat_ws(E'\\n', bool_and(success), string_agg(result, E'\\n')) FROM answer
            """,
            sql);
    List<String> answers = told.lines().toList();
    if (answers.isEmpty() || !answers.getFirst().equals("t")) {
      throw new IllegalStateException(sql + " on the workers: " + told);
    }
    return answers.subList(1, answers.size());
  }

  Memory.Sampler sampleMemory() throws IOException, SQLException {
    return Memory.sampler(postmasters());
  }

  /** Microseconds of a processor so far, of all its processes and of those of its workers. */
  long micros() throws IOException, SQLException {
    long sum = 0;
    for (long postmaster : postmasters()) {
      sum += Processors.microsOfFamily(postmaster);
    }
    return sum;
  }

  private List<Long> postmasters() throws IOException, SQLException {
    if (postmasters == null) {
      try (Connection connection = superuser()) {
        List<String> pids = new ArrayList<>(List.of(Sql.text(connection, POSTMASTER)));
        if (isDistributed()) {
          pids.addAll(onWorkers(connection, POSTMASTER));
        }
        postmasters = pids.stream().map(Long::valueOf).toList();
      }
    }
    return postmasters;
  }
}
