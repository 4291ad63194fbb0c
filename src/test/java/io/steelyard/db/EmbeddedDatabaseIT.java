package io.steelyard.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.config.Config;
import io.steelyard.config.StartFailure;
import io.steelyard.support.TestConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedDatabaseIT {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  @TempDir Path temp;
  private Database open;

  private Database start() {
    return start(Map.of());
  }

  private Database start(Map<String, String> settings) {
    Config config = TestConfig.with(settings);
    if (!Files.exists(data())) {
      LentPrograms.to(data());
    }
    open = Database.open(config.database(), temp);
    return open;
  }

  private Path data() {
    return temp.resolve("data");
  }

  private void stop() {
    assertThat(open.close(LIMIT)).isTrue();
    open = null;
  }

  @AfterEach
  void stopWhatRuns() {
    if (open != null) {
      stop();
    }
  }

  private static String query(Endpoint endpoint, String sql) {
    try (Connection connection = endpoint.connect();
        Statement statement = connection.createStatement()) {
      if (!statement.execute(sql)) {
        return "";
      }
      try (ResultSet row = statement.getResultSet()) {
        row.next();
        return row.getString(1);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void itIsDurableAndOnlyForThisMachineAndThisService() throws IOException {
    Endpoint endpoint = start().endpoint();

    for (String setting : new String[] {"fsync", "synchronous_commit", "full_page_writes"}) {
      assertThat(query(endpoint, "SHOW " + setting)).as(setting).isEqualTo("on");
    }
    assertThat(query(endpoint, "SHOW data_checksums")).isEqualTo("on");
    assertThat(query(endpoint, "SHOW listen_addresses")).isEqualTo("127.0.0.1");
    Endpoint admin =
        new Endpoint(endpoint.host(), endpoint.port(), "postgres", "postgres", endpoint.password());
    assertThat(query(admin, "SHOW unix_socket_directories")).isEmpty();
    assertThat(query(endpoint, "SHOW log_parameter_max_length")).isEqualTo("0");
    assertThat(query(endpoint, "SHOW client_connection_check_interval")).isEqualTo("2s");
    assertThat(query(endpoint, "SHOW max_connections")).isEqualTo("45");
    assertThat(query(endpoint, "SHOW server_encoding")).isEqualTo("UTF8");
    assertThat(query(endpoint, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"))
        .isEqualTo("f");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(data())))
        .isEqualTo("rwx------");
  }

  @Test
  void nobodyGetsInWithoutThePassword() {
    Endpoint endpoint = start().endpoint();

    for (String user : new String[] {"steelyard", "postgres"}) {
      assertThatThrownBy(() -> DriverManager.getConnection(endpoint.jdbcUrl(), user, "guess"))
          .isInstanceOf(SQLException.class)
          .hasMessageContaining("password authentication failed");
    }
  }

  @Test
  void dataAndKeysAreKeptBetweenRuns() {
    Endpoint first = start().endpoint();
    query(first, "CREATE TABLE kept (id int)");
    query(first, "INSERT INTO kept VALUES (42)");
    String key = open.encryptionKey().orElseThrow();
    stop();

    Endpoint second = start().endpoint();

    assertThat(query(second, "SELECT id FROM kept")).isEqualTo("42");
    assertThat(open.encryptionKey()).contains(key);
    assertThat(data().resolve("encryption.key"))
        .satisfies(
            file ->
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------"));
  }

  @Test
  void aSecondServiceOnTheSameDirectoryIsRefusedAtOnce() {
    start();

    assertThatThrownBy(() -> Database.open(TestConfig.with(Map.of()).database(), temp))
        .isInstanceOf(StartFailure.class)
        .hasMessage(
            "data directory "
                + data().toAbsolutePath()
                + " (database.dataDir) is in use by another process");
  }

  @Test
  void aClusterThatWasNeverFinishedIsMadeAnew() throws IOException {
    Path unfinished = data().resolve("postgres.unfinished");
    Files.createDirectories(unfinished.resolve("base"));
    Files.writeString(unfinished.resolve("postgresql.conf"), "half");
    Path programs = Files.createDirectories(data().resolve("programs-unfinished/bin"));
    Files.writeString(programs.resolve("postgres"), "half");

    assertThat(query(start().endpoint(), "SELECT 1")).isEqualTo("1");
    assertThat(unfinished).doesNotExist();
  }

  @Test
  void aDirectoryThatIsNotOursIsNotTouched() throws IOException {
    Path cluster = Files.createDirectories(data().resolve("postgres"));
    Files.writeString(cluster.resolve("thesis.txt"), "years of work");

    assertThatThrownBy(this::start)
        .isInstanceOf(StartFailure.class)
        .hasMessageContaining("is not a PostgreSQL data directory");
    assertThat(cluster.resolve("thesis.txt")).hasContent("years of work");
  }

  @Test
  void dataOfAnotherMajorVersionIsRefused() throws IOException {
    Path cluster = Files.createDirectories(data().resolve("postgres"));
    Files.writeString(cluster.resolve("PG_VERSION"), "17\n");

    assertThatThrownBy(this::start)
        .isInstanceOf(StartFailure.class)
        .hasMessageContaining("holds data of PostgreSQL 17")
        .hasMessageContaining("carries 18");
  }

  @Test
  void aTakenPortIsNamedAndTheDirectoryIsFreeAgain() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      String port = Integer.toString(taken.getLocalPort());
      assertThatThrownBy(() -> start(Map.of("database.port", port)))
          .isInstanceOf(StartFailure.class)
          .hasMessage("database.port " + port + " on 127.0.0.1 is in use");
    }

    assertThat(query(start().endpoint(), "SELECT 1")).isEqualTo("1");
  }

  @Test
  void aDirectoryThatCannotBeMadeIsNamed() throws IOException {
    Files.writeString(data(), "a file stands here");

    assertThatThrownBy(this::start)
        .isInstanceOf(StartFailure.class)
        .hasMessage(
            "cannot write to data directory "
                + data().toAbsolutePath()
                + " (database.dataDir): a file is in its place");
  }

  @Test
  void aPidFileWhoseNumberNowBelongsToAnotherProgramDoesNotKeepItFromStarting() throws IOException {
    start();
    stop();
    Files.writeString(
        data().resolve("postgres/postmaster.pid"),
        ProcessHandle.current().pid() + "\n" + data().resolve("postgres") + "\n1\n1\n\n\n");

    assertThat(query(start().endpoint(), "SELECT 1")).isEqualTo("1");
  }

  @Test
  void aServerLeftBehindByAKilledServiceIsStoppedFirst() throws Exception {
    Process service = child();
    long orphan = orphan();
    service.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
    assertThat(program(orphan)).isPresent();

    Endpoint endpoint = start().endpoint();

    assertThat(query(endpoint, "SELECT count(*) FROM kept")).isEqualTo("1000");
    assertThat(program(orphan)).isEmpty();
  }

  @Test
  void afterEverythingWasKilledTheCommittedDataIsThere() throws Exception {
    Process service = child();
    long orphan = orphan();
    service.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
    ProcessHandle server = ProcessHandle.of(orphan).orElseThrow();
    server.descendants().forEach(ProcessHandle::destroyForcibly);
    server.destroyForcibly();
    server.onExit().get(10, TimeUnit.SECONDS);

    assertThat(query(start().endpoint(), "SELECT count(*) FROM kept")).isEqualTo("1000");
  }

  /** Empty also for one that has ended and that nobody has waited for. */
  private static Optional<String> program(long pid) {
    return ProcessHandle.of(pid).flatMap(process -> process.info().command());
  }

  private long orphan() throws IOException {
    String pid = Files.readAllLines(data().resolve("postgres/postmaster.pid")).getFirst();
    return Long.parseLong(pid.strip());
  }

  /** A process that has committed 1,000 rows and goes on running. */
  private Process child() throws IOException {
    Process process =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-cp",
                System.getProperty("java.class.path"),
                Child.class.getName(),
                temp.toString())
            .redirectError(temp.resolve("child.err").toFile())
            .start();
    assertThat(process.inputReader().readLine())
        .as(() -> temp.resolve("child.err").toString())
        .isEqualTo("committed");
    return process;
  }

  /** The child's main class. */
  static final class Child {
    public static void main(String[] args) throws InterruptedException {
      Database database = Database.open(TestConfig.with(Map.of()).database(), Path.of(args[0]));
      query(database.endpoint(), "CREATE TABLE kept AS SELECT generate_series(1, 1000) AS id");
      System.out.println("committed");
      Thread.sleep(Duration.ofMinutes(2));
    }
  }
}
