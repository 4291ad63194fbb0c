package io.steelyard.db;

import io.steelyard.support.Signal;
import io.steelyard.support.TestConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
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
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
  private static final List<String> AS_EMBEDDED =
      List.of("--locale-provider=builtin", "--builtin-locale=C.UTF-8");

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
   * @param programs unpacked there once, for all; or where PostgreSQL is installed
   * @param logs for what it and {@code pg_ctl} say
   * @param cluster for its data; made here, if it is not there
   * @param wal for its log of changes; null for within {@code cluster}
   */
  public record Place(Path programs, Path logs, Path cluster, Path wal) {}

  /**
   * @param more settings over the usual ones
   */
  public static CrashablePostgres start(Place place, Map<String, String> more) {
    try {
      Files.createDirectories(place.logs());
      boolean installed = Files.isExecutable(place.programs().resolve("bin").resolve("initdb"));
      PostgresProgram programs =
          new PostgresProgram(
              installed ? place.programs() : LentPrograms.unpackedIn(place.programs()),
              place.logs().resolve("pg_ctl.log"));
      if (!Files.exists(place.cluster())) {
        createCluster(programs, place, installed ? List.of() : AS_EMBEDDED);
      }
      Path cluster = place.cluster().toRealPath();
      int port = Integer.parseInt(TestConfig.freePort());
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

  private static void createCluster(PostgresProgram programs, Place place, List<String> more)
      throws IOException {
    List<String> options = new ArrayList<>(more);
    options.addAll(
        List.of(
            "--pgdata=" + place.cluster(),
            "--username=postgres",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C",
            "--data-checksums"));
    if (place.wal() != null) {
      options.add("--waldir=" + place.wal());
    }
    PostgresProgram.Outcome outcome = programs.run(LIMIT, "initdb", options.toArray(String[]::new));
    if (!outcome.succeeded()) {
      throw new IllegalStateException(outcome.output());
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

  /**
   * A copy of the cluster, taken while it works, from which a point in time can be restored with
   * the log that was archived since.
   *
   * @param copy where to; made here
   */
  public void backUp(Path copy) {
    try (Connection connection = endpoint.connect();
        Statement statement = connection.createStatement()) {
      statement.execute("SELECT pg_backup_start('test', true)");
      Files.walkFileTree(cluster, new Copying(cluster, copy));
      try (ResultSet stopped = statement.executeQuery("SELECT labelfile FROM pg_backup_stop()")) {
        stopped.next();
        Files.writeString(copy.resolve("backup_label"), stopped.getString(1));
      }
    } catch (IOException | SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** All but the log of changes and the mark of the running server. */
  private static final class Copying extends SimpleFileVisitor<Path> {
    private final Path from;
    private final Path to;

    Copying(Path from, Path to) {
      this.from = from;
      this.to = to;
    }

    @Override
    public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes)
        throws IOException {
      Files.createDirectory(to.resolve(from.relativize(directory)), OWNER_ONLY);
      return directory.endsWith("pg_wal") ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
      if (!file.endsWith("postmaster.pid")) {
        try {
          Files.copy(file, to.resolve(from.relativize(file)));
        } catch (NoSuchFileException e) {
          return FileVisitResult.CONTINUE; // dropped meanwhile, which the archived log tells
        }
      }
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
      if (e instanceof NoSuchFileException) {
        return FileVisitResult.CONTINUE;
      }
      throw e;
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
    kill(() -> {});
  }

  /**
   * As {@link #kill()}.
   *
   * @param before done when no new process of it can come
   */
  public void kill(Runnable before) {
    ProcessHandle server = server();
    Signal.send("STOP", server.pid()); // so that it starts no process that nobody saw
    List<ProcessHandle> all = Stream.concat(Stream.of(server), server.descendants()).toList();
    try {
      before.run();
    } finally {
      all.forEach(ProcessHandle::destroyForcibly);
      all.forEach(each -> each.onExit().orTimeout(GONE_WITHIN_S, TimeUnit.SECONDS).join());
    }
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
