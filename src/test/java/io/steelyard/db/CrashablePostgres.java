package io.steelyard.db;

import io.steelyard.support.Signal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A durable PostgreSQL that a test can crash, and start again on the same port: {@code fsync},
 * {@code synchronous_commit} and {@code full_page_writes} are on. Of the programs that the build
 * brings along; outside of the service, which takes it for an external one.
 */
public final class CrashablePostgres implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final long GONE_WITHIN_S = 30;

  private final PostgresProgram programs;
  private final Postmaster postmaster;
  private final Path cluster;
  private final Map<String, String> settings;
  private final Endpoint endpoint;

  private CrashablePostgres(
      PostgresProgram programs,
      Postmaster postmaster,
      Path cluster,
      Map<String, String> settings,
      Endpoint endpoint) {
    this.programs = programs;
    this.postmaster = postmaster;
    this.cluster = cluster;
    this.settings = settings;
    this.endpoint = endpoint;
  }

  /**
   * Where it keeps what.
   *
   * @param programs unpacked once, for all
   * @param logs for what it and {@code pg_ctl} say
   * @param cluster for its data; made here
   * @param wal for its log of changes; null for within {@code cluster}
   */
  public record Place(Path programs, Path logs, Path cluster, Path wal) {}

  /**
   * @param more settings over the usual ones
   */
  public static CrashablePostgres start(Place place, Map<String, String> more) {
    try (DataDirectory directory = DataDirectory.open(place.programs())) {
      Files.createDirectories(place.logs());
      PostgresProgram programs =
          new PostgresProgram(
              PostgresBinaries.unpacked(directory), place.logs().resolve("pg_ctl.log"));
      createCluster(programs, place.cluster(), place.wal());
      Path cluster = place.cluster().toRealPath();
      int port = freePort();
      CrashablePostgres postgres =
          new CrashablePostgres(
              programs,
              new Postmaster(programs, cluster, place.logs().resolve("postgres.log")),
              cluster,
              settings(port, more),
              new Endpoint("127.0.0.1", port, "postgres", "postgres", ""));
      postgres.start();
      return postgres;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void createCluster(PostgresProgram programs, Path cluster, Path wal)
      throws IOException {
    String[] options = {
      "--pgdata=" + cluster,
      "--username=postgres",
      "--auth=trust",
      "--encoding=UTF8",
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--data-checksums",
      wal == null ? "--sync-method=fsync" : "--waldir=" + wal
    };
    PostgresProgram.Outcome outcome = programs.run(LIMIT, "initdb", options);
    if (!outcome.succeeded()) {
      throw new IllegalStateException(outcome.output());
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      return socket.getLocalPort();
    }
  }

  private static Map<String, String> settings(int port, Map<String, String> more) {
    Map<String, String> settings = new LinkedHashMap<>(EmbeddedRole.DURABILITY);
    settings.put("port", Integer.toString(port));
    settings.put("listen_addresses", "127.0.0.1");
    settings.put("unix_socket_directories", "");
    settings.put("max_connections", "200");
    settings.put("shared_buffers", "128MB");
    settings.put("log_timezone", "UTC");
    settings.putAll(more);
    return settings;
  }

  public Endpoint endpoint() {
    return endpoint;
  }

  /** Starts it after a crash, and waits until it has recovered. */
  public void start() {
    String reason = tryStart();
    if (reason != null) {
      throw new IllegalStateException(reason);
    }
  }

  /** As {@link #start}; says why it did not start, or null when it did. */
  public String tryStart() {
    try {
      return postmaster.start(settings);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public boolean isRunning() {
    return server() != null;
  }

  /** As {@code pg_ctl stop -m immediate}: without a checkpoint; returns when it is gone. */
  public void stopImmediately() {
    stop("immediate");
  }

  private void stop(String mode) {
    try {
      PostgresProgram.Outcome outcome =
          programs.run(
              LIMIT, "pg_ctl", "stop", "-D", cluster.toString(), "-m", mode, "-w", "-t", "60");
      if (!outcome.succeeded()) {
        throw new IllegalStateException(outcome.output());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Kills all its processes with signal 9; returns when every one is gone. */
  public void kill() {
    ProcessHandle server = server();
    Signal.send("STOP", server.pid()); // so that it starts no process that nobody saw
    List<ProcessHandle> all = Stream.concat(Stream.of(server), server.descendants()).toList();
    all.forEach(ProcessHandle::destroyForcibly);
    all.forEach(each -> each.onExit().orTimeout(GONE_WITHIN_S, TimeUnit.SECONDS).join());
  }

  /** Null where it does not run. */
  private ProcessHandle server() {
    Path pidFile = cluster.resolve("postmaster.pid");
    try {
      if (!Files.exists(pidFile)) {
        return null;
      }
      long pid = Long.parseLong(Files.readAllLines(pidFile).getFirst().strip());
      return ProcessHandle.of(pid).filter(ProcessHandle::isAlive).orElse(null);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    if (isRunning()) {
      stop("immediate");
    }
  }
}
