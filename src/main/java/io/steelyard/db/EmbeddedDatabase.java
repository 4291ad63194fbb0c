package io.steelyard.db;

import com.sun.management.OperatingSystemMXBean;
import io.steelyard.config.Config;
import io.steelyard.config.StartFailure;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.commons.io.FileUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A PostgreSQL of our own in the data directory, durable like any other. Blocking; for start and
 * stop only.
 */
public final class EmbeddedDatabase {
  private static final Logger LOG = LoggerFactory.getLogger(EmbeddedDatabase.class);
  private static final String HOST = "127.0.0.1";
  private static final String MAJOR_VERSION = "18";
  private static final Duration INITDB_LIMIT = Duration.ofSeconds(60);
  private static final int CONNECTIONS_BESIDE_POOLS = 20;
  private static final int FREE_PORT_ATTEMPTS = 3;
  private static final String PASSWORD_FILE = "postgres.password";

  /**
   * For a stream of events on a small machine. After a checkpoint each page that is changed goes to
   * the log as a whole: with seldom ones, each does so once for many changes. What is dead in the
   * inbox of events is looked for often, or its table would grow by a minute's events.
   */
  private static final Map<String, String> CAPACITY =
      Map.of(
          "max_wal_size", "8GB",
          "min_wal_size", "4GB",
          "checkpoint_timeout", "15min",
          "wal_buffers", "64MB",
          "autovacuum_naptime", "10s",
          "jit", "off");

  private static final long MIB = 1 << 20;
  private static final long BUFFERS_MIB_MIN = 128;
  private static final long BUFFERS_MIB_MAX = 4096;

  private final Postmaster postmaster;
  private final Endpoint endpoint;

  private EmbeddedDatabase(Postmaster postmaster, Endpoint endpoint) {
    this.postmaster = postmaster;
    this.endpoint = endpoint;
  }

  /** Starts it, or throws a {@link StartFailure}; the caller stops it before the lock goes. */
  public static EmbeddedDatabase start(DataDirectory directory, Config.Database config) {
    try {
      String password = directory.secret(PASSWORD_FILE);
      PostgresProgram programs =
          new PostgresProgram(
              PostgresBinaries.unpacked(directory), directory.path().resolve("pg_ctl.log"));
      Path cluster = directory.path().resolve("postgres");
      Postmaster postmaster =
          new Postmaster(programs, cluster, directory.path().resolve("postgres.log"));
      postmaster.stopLeftover();
      prepareCluster(directory, programs, cluster);
      int port = startOnPort(postmaster, config);
      return verified(postmaster, port, password);
    } catch (IOException e) {
      throw DataDirectory.unwritable(directory.path(), e);
    }
  }

  public Endpoint endpoint() {
    return endpoint;
  }

  /** Stops it in order within the limit; false when that failed and was logged. */
  public boolean stop(Duration limit) {
    try {
      if (postmaster.stop(limit)) {
        return true;
      }
      LOG.error("The embedded PostgreSQL does not stop");
    } catch (IOException e) {
      LOG.error("Could not stop the embedded PostgreSQL", e);
    }
    return false;
  }

  private static void prepareCluster(
      DataDirectory directory, PostgresProgram programs, Path cluster) throws IOException {
    Path version = cluster.resolve("PG_VERSION");
    if (Files.exists(version)) {
      String found = Files.readString(version).strip();
      if (!found.equals(MAJOR_VERSION)) {
        throw new StartFailure(
            ("%s holds data of PostgreSQL %s, this version of the service carries %s: move the data"
                    + " with pg_dump and pg_restore, or set another database.dataDir")
                .formatted(cluster, found, MAJOR_VERSION));
      }
    } else if (Files.exists(cluster) && !isEmpty(cluster)) {
      throw new StartFailure(
          cluster + " is not a PostgreSQL data directory, and is not empty: nothing was touched");
    } else {
      createCluster(directory, programs, cluster);
    }
  }

  private static boolean isEmpty(Path directory) throws IOException {
    try (Stream<Path> children = Files.list(directory)) {
      return children.findAny().isEmpty();
    }
  }

  /** Under another name until it is whole, so that a crash in between leaves nothing half-made. */
  private static void createCluster(DataDirectory directory, PostgresProgram programs, Path cluster)
      throws IOException {
    Path unfinished = cluster.resolveSibling("postgres.unfinished");
    FileUtils.deleteDirectory(unfinished.toFile());
    PostgresProgram.Outcome outcome =
        programs.run(
            INITDB_LIMIT,
            "initdb",
            "--pgdata=" + unfinished,
            "--username=" + EmbeddedRole.SUPERUSER,
            "--pwfile=" + directory.path().resolve(PASSWORD_FILE),
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--text-search-config=simple",
            "--data-checksums");
    if (!outcome.succeeded()) {
      throw new StartFailure("cannot create the embedded database: " + outcome.reason());
    }
    Files.deleteIfExists(cluster);
    Files.move(unfinished, cluster, StandardCopyOption.ATOMIC_MOVE);
    directory.flushEntries();
  }

  private static int startOnPort(Postmaster postmaster, Config.Database config) throws IOException {
    String reason = null;
    for (int attempt = 0; attempt < FREE_PORT_ATTEMPTS; attempt++) {
      int port = config.port() == 0 ? freePort() : config.port();
      reason = postmaster.start(settings(config, port));
      if (reason == null) {
        return port;
      }
      if (!reason.contains("could not create any TCP/IP sockets")) {
        break;
      }
      if (config.port() != 0) {
        throw new StartFailure("database.port " + port + " on " + HOST + " is in use");
      }
    }
    throw new StartFailure("the embedded database does not start: " + reason);
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(HOST))) {
      return socket.getLocalPort();
    }
  }

  private static Map<String, String> settings(Config.Database config, int port) {
    Map<String, String> settings = new LinkedHashMap<>(EmbeddedRole.DURABILITY);
    settings.put("port", Integer.toString(port));
    settings.put("listen_addresses", HOST);
    settings.put("unix_socket_directories", "");
    int pools =
        config.apiPoolSize()
            + config.controlPoolSize()
            + config.ingestPoolSize()
            + config.aggregationPoolSize()
            + config.billingPoolSize()
            + Pools.INTEGRITY_SIZE
            + Pools.RETENTION_SIZE;
    settings.put("max_connections", Integer.toString(pools + CONNECTIONS_BESIDE_POOLS));
    settings.putAll(CAPACITY);
    settings.put("shared_buffers", buffersMib() + "MB");
    // Errors reach the service, which logs the unexpected ones; here they would only fill the disk.
    settings.put("log_min_messages", "log");
    settings.put("log_checkpoints", "off");
    settings.put("log_parameter_max_length", "0");
    settings.put("log_timezone", "UTC");
    if (!System.getProperty("os.name").startsWith("Windows")) {
      settings.put("client_connection_check_interval", "2s");
    }
    return settings;
  }

  /**
   * An eighth of the memory, within bounds: keys that come in no order are looked up all over their
   * index, of which 20 to 50 million take a gigabyte.
   */
  private static long buffersMib() {
    OperatingSystemMXBean machine =
        ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    return Math.clamp(machine.getTotalMemorySize() / 8 / MIB, BUFFERS_MIB_MIN, BUFFERS_MIB_MAX);
  }

  private static EmbeddedDatabase verified(Postmaster postmaster, int port, String password)
      throws IOException {
    Endpoint admin = new Endpoint(HOST, port, "postgres", EmbeddedRole.SUPERUSER, password);
    try {
      return new EmbeddedDatabase(postmaster, EmbeddedRole.prepare(admin));
    } catch (SQLException e) {
      postmaster.stop(INITDB_LIMIT);
      throw new StartFailure(
          "the embedded database refuses its own password: " + e.getMessage(), e);
    } catch (RuntimeException e) {
      postmaster.stop(INITDB_LIMIT);
      throw e;
    }
  }
}
