package io.steelyard.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The jar of this build, and the cache that makes it start faster, made by the script that makes
 * the image's, for the first test that asks. Where the build does not name a jar there is none, so
 * that no test in an editor runs what is out of date.
 */
final class PackagedJar {
  private static final String SETTING = "steelyard.jar";
  private static final String SCRIPT = "docker/aot-cache.sh";
  private static final int FIRST_JAVA = 25;
  private static final int LIMIT_S = 300;

  private static Optional<List<String>> program;
  private static RuntimeException failure;

  private PackagedJar() {}

  /** What {@code java} is told to run it; empty outside of such a build, or with an older Java. */
  static synchronized Optional<List<String>> program() {
    if (failure != null) {
      throw new IllegalStateException(failure); // it would fail again
    }
    if (program == null) {
      try {
        program = find();
      } catch (RuntimeException e) {
        failure = e;
        throw e;
      }
    }
    return program;
  }

  private static Optional<List<String>> find() {
    String named = System.getProperty(SETTING, "");
    if (named.isBlank() || Runtime.version().feature() < FIRST_JAVA) {
      return Optional.empty();
    }
    Path jar = Path.of(named).toAbsolutePath();
    Path cache = jar.resolveSibling("steelyard.aot");
    try {
      if (!Files.exists(cache) || isOlder(cache, jar)) {
        make(jar, cache);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return Optional.of(List.of("-XX:AOTCache=" + cache, "-jar", jar.toString()));
  }

  private static boolean isOlder(Path cache, Path jar) throws IOException {
    return Files.getLastModifiedTime(cache).compareTo(Files.getLastModifiedTime(jar)) < 0;
  }

  private static void make(Path jar, Path cache) throws IOException {
    Path log = cache.resolveSibling("aot-cache.log");
    Process script =
        new ProcessBuilder(
                SCRIPT,
                "--jar-stays", // a changed jar gets a new cache, see isOlder
                jar.toString(),
                cache.toString(),
                ProcessHandle.current().info().command().orElseThrow())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      if (!script.waitFor(LIMIT_S, TimeUnit.SECONDS) || script.exitValue() != 0) {
        script.destroy();
        throw new IllegalStateException(SCRIPT + " failed: " + Files.readString(log));
      }
    } catch (InterruptedException e) {
      script.destroy();
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
