package io.steelyard.faults;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * An earlier version: the jar that its setting names, e.g. {@code -Dsteelyard.previous.lone.jar},
 * or one that is built here, once, from a commit of this repository's past.
 */
enum PreviousBuild {
  /** The last one that knew of no cluster, with schema version 012. */
  LONE("380ee5bfce314c11738c1ba56a8d9c7b31f185f6"),

  /** One that forms a cluster with later versions, with schema version 015. */
  CLUSTERED("0bb2b38acc1a70890c28e789eadfecf9c2e32e89");

  private static final long BUILD_LIMIT_MINUTES = 10;

  private final String commit;

  PreviousBuild(String commit) {
    this.commit = commit;
  }

  /** Where there is none, and none can be built, the test that asks is reported as not run. */
  Path jar() {
    String setting = "steelyard.previous.%s.jar".formatted(name().toLowerCase(Locale.ROOT));
    String given = System.getProperty(setting, "");
    if (!given.isBlank()) {
      return Path.of(given).toAbsolutePath();
    }
    Path dir = Path.of("target", "previous", commit).toAbsolutePath();
    Path jar = dir.resolve("steelyard.jar");
    if (!Files.exists(jar)) {
      build(commit, dir);
    }
    return jar;
  }

  private static void build(String commit, Path dir) {
    try {
      Files.createDirectories(dir);
      Path sources = dir.resolve("sources.tar");
      run(Path.of("").toAbsolutePath(), dir, "git", "archive", "-o", sources.toString(), commit);
      run(dir, dir, "tar", "-xf", sources.toString());
      run(dir, dir, "mvn", "-B", "-o", "-q", "-DskipTests", "package");
      // only now, since the build has a jar of that name before it is whole
      Files.copy(dir.resolve("target").resolve("steelyard.jar"), dir.resolve("steelyard.jar"));
    } catch (IOException e) {
      abort("NOT RUN: the previous version cannot be built here: " + e.getMessage());
    }
  }

  private static void run(Path where, Path logs, String... command) throws IOException {
    File log = logs.resolve("build.log").toFile();
    Process process =
        new ProcessBuilder(List.of(command))
            .directory(where.toFile())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log))
            .start();
    try {
      if (!process.waitFor(BUILD_LIMIT_MINUTES, TimeUnit.MINUTES) || process.exitValue() != 0) {
        process.destroyForcibly();
        throw new IOException(String.join(" ", command) + ", see " + log);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UncheckedIOException(new IOException(e));
    }
  }
}
