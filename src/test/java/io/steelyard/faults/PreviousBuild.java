package io.steelyard.faults;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The jar of an earlier version: the one of {@code -Dsteelyard.previous.jar}, or one that is built
 * here, once, from a commit of this repository's past.
 */
final class PreviousBuild {
  /** The last one with schema version 012; {@code -Dsteelyard.previous.commit} names another. */
  private static final String COMMIT = "380ee5bfce314c11738c1ba56a8d9c7b31f185f6";

  private static final long BUILD_LIMIT_MINUTES = 10;

  private PreviousBuild() {}

  /** Where there is none, and none can be built, the test that asks is reported as not run. */
  static Path jar() {
    String given = System.getProperty("steelyard.previous.jar", "");
    if (!given.isBlank()) {
      return Path.of(given).toAbsolutePath();
    }
    String commit = System.getProperty("steelyard.previous.commit", COMMIT);
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
