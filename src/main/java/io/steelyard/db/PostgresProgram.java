package io.steelyard.db;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a program that came with PostgreSQL. Its output goes to a file: a server keeps it open. */
final class PostgresProgram {
  private static final Duration GRACE = Duration.ofSeconds(5);

  /** PostgreSQL refuses to run as root; in a user namespace of its own it is nobody. */
  private static final List<String> AS_ROOT = List.of("unshare", "--user");

  private final Path home;
  private final Path output;

  PostgresProgram(Path home, Path output) {
    this.home = home;
    this.output = output;
  }

  /** What it printed, and whether it ended with 0 within the limit. */
  record Outcome(boolean succeeded, String output) {
    /** The line that tells most, for the operator. */
    String reason() {
      if (output.startsWith("unshare")) {
        return "PostgreSQL does not run as root, and a user namespace is refused here ("
            + output.strip()
            + "): run the service as another user, or set database.url";
      }
      return output
          .lines()
          .filter(line -> line.contains("FATAL:") || line.contains("error:"))
          .findFirst()
          .orElseGet(
              () -> output.lines().reduce((first, last) -> last).orElse("it printed nothing"))
          .strip();
    }
  }

  Outcome run(Duration limit, String name, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    if ("root".equals(System.getProperty("user.name"))) {
      command.addAll(AS_ROOT);
    }
    command.add(home.resolve("bin").resolve(name).toString());
    command.addAll(List.of(arguments));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .directory(home.toFile());
    builder.environment().put("LC_ALL", "C");
    Process process;
    try {
      process = builder.start();
    } catch (IOException e) { // not there, or not executable where the data directory is
      return new Outcome(false, command.getFirst() + ": " + e.getMessage());
    }
    process.getOutputStream().close();
    try {
      if (!process.waitFor(limit.plus(GRACE).toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly();
        return new Outcome(false, name + " did not end within " + limit.toSeconds() + " s");
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new IOException(name + " was interrupted", e);
    }
    return new Outcome(process.exitValue() == 0, Files.readString(output));
  }
}
