package io.steelyard.db;

import io.steelyard.config.StartFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server process of one cluster directory: started, stopped, and found again when an earlier
 * service was killed and left it running. The caller holds the data directory's lock.
 */
final class Postmaster {
  private static final Logger LOG = LoggerFactory.getLogger(Postmaster.class);
  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final Duration LEFTOVER_LIMIT = Duration.ofSeconds(20);
  private static final Duration IMMEDIATE_LIMIT = Duration.ofSeconds(4);
  private static final long POLL_MS = 50;

  private final PostgresProgram programs;
  private final Path cluster;
  private final Path log;

  Postmaster(PostgresProgram programs, Path cluster, Path log) {
    this.programs = programs;
    this.cluster = cluster;
    this.log = log;
  }

  /**
   * Starts it and waits until it answers; crash recovery may take a while.
   *
   * @return why it did not start, or null when it did
   */
  String start(Map<String, String> settings) throws IOException {
    startNewLog();
    // Given on the command line, no configuration file and no ALTER SYSTEM can undo them.
    String options =
        settings.entrySet().stream()
            .map(setting -> "-c " + setting.getKey() + "=" + setting.getValue())
            .collect(Collectors.joining(" "));
    PostgresProgram.Outcome outcome =
        programs.run(
            START_LIMIT, "pg_ctl", with("start", START_LIMIT, "-l", log.toString(), "-o", options));
    if (outcome.succeeded()) {
      return null;
    }
    if (isRunning()) {
      stop(IMMEDIATE_LIMIT);
      return "it did not answer within " + START_LIMIT.toSeconds() + " s, see " + log;
    }
    return Files.exists(log)
        ? new PostgresProgram.Outcome(false, Files.readString(log)).reason()
        : outcome.reason();
  }

  /** An older failure must not be taken for this start's; one older log is kept. */
  private void startNewLog() throws IOException {
    if (Files.exists(log)) {
      Path older = log.resolveSibling(log.getFileName() + ".old");
      Files.move(log, older, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  /** Stops it in order, or without a checkpoint if that takes too long: no commit is lost. */
  boolean stop(Duration limit) throws IOException {
    PostgresProgram.Outcome fast = programs.run(limit, "pg_ctl", with("stop", limit, "-m", "fast"));
    if (fast.succeeded() || !isRunning()) {
      return true;
    }
    LOG.warn(
        "PostgreSQL did not stop in {} s, it will recover at its next start", limit.toSeconds());
    return programs
        .run(IMMEDIATE_LIMIT, "pg_ctl", with("stop", IMMEDIATE_LIMIT, "-m", "immediate"))
        .succeeded();
  }

  private String[] with(String action, Duration limit, String... more) {
    String[] common = {
      action, "-D", cluster.toString(), "-w", "-t", Long.toString(limit.toSeconds()), "-s"
    };
    String[] all = Arrays.copyOf(common, common.length + more.length);
    System.arraycopy(more, 0, all, common.length, more.length);
    return all;
  }

  /** Stops the server that a killed service left behind, and takes care of its stale pid file. */
  void stopLeftover() throws IOException {
    Path pidFile = cluster.resolve("postmaster.pid");
    if (!Files.exists(pidFile)) {
      awaitNoProcess();
      return;
    }
    long pid = pid(pidFile);
    if (ours(pid)) {
      LOG.info("An earlier run left its PostgreSQL running (process {}): stopping it", pid);
      stop(LEFTOVER_LIMIT);
    }
    awaitNoProcess();
    // A dead process's file is PostgreSQL's to judge: it also looks for shared memory still in use.
    // A number that now belongs to some other program would keep it from starting for ever.
    if (Files.exists(pidFile) && ProcessHandle.of(pid).isPresent() && !ours(pid)) {
      Files.delete(pidFile);
    }
  }

  private static long pid(Path pidFile) throws IOException {
    List<String> lines = Files.readAllLines(pidFile);
    try {
      return Long.parseLong(lines.getFirst().strip());
    } catch (RuntimeException e) {
      throw new StartFailure(pidFile + " is damaged: make sure no server runs, then delete it", e);
    }
  }

  private boolean isRunning() {
    return ProcessHandle.allProcesses().anyMatch(process -> ours(process.pid()));
  }

  private void awaitNoProcess() throws IOException {
    long deadline = System.nanoTime() + LEFTOVER_LIMIT.toNanos();
    while (isRunning()) {
      if (System.nanoTime() > deadline) {
        throw new StartFailure(
            "a PostgreSQL of an earlier run still uses " + cluster + " and does not stop");
      }
      try {
        Thread.sleep(POLL_MS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted", e);
      }
    }
  }

  /** Whether this process is a PostgreSQL server process of our cluster directory. */
  private boolean ours(long pid) {
    String command =
        ProcessHandle.of(pid)
            .flatMap(process -> process.info().command())
            .map(known -> known.replace(" (deleted)", "")) // an update replaced the program
            .orElse("");
    if (!command.endsWith("/postgres") && !command.endsWith("\\postgres.exe")) {
      return false;
    }
    Path workingDirectory = Path.of("/proc", Long.toString(pid), "cwd");
    if (!Files.isSymbolicLink(workingDirectory)) {
      return isNamedByPidFile(pid);
    }
    try {
      return Files.readSymbolicLink(workingDirectory).equals(cluster);
    } catch (IOException e) {
      return false; // it ended meanwhile, or belongs to somebody else
    }
  }

  /** Where the system does not tell a process's directory, its own pid file must do. */
  private boolean isNamedByPidFile(long pid) {
    Path pidFile = cluster.resolve("postmaster.pid");
    try {
      return Files.exists(pidFile) && pid(pidFile) == pid;
    } catch (IOException e) {
      return false;
    }
  }
}
