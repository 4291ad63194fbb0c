package io.steelyard.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Commands of the jar, each in a process of its own. */
public final class CommandProcess {
  private static final long LIMIT_S = 90;

  private final Path dir;
  private final Map<String, String> environment = new HashMap<>();

  /**
   * @param dir the working directory, in which nothing but the test's own settings is
   */
  public CommandProcess(Path dir) {
    this.dir = dir;
  }

  public CommandProcess with(String variable, String value) {
    environment.put(variable, value);
    return this;
  }

  public record Outcome(int code, String out, String err) {}

  public Outcome run(String... args) {
    return runReading("", args);
  }

  /** As {@link #run(String...)}, with something on stdin. */
  public Outcome runReading(String input, String... args) {
    try {
      Path out = Files.createTempFile(dir, "command", ".out");
      Path err = Files.createTempFile(dir, "command", ".err");
      Process process = start(out, err, args);
      process.getOutputStream().write(input.getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().close();
      if (!process.waitFor(LIMIT_S, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new IllegalStateException(
            String.join(" ", args) + " does not end: " + Files.readString(err));
      }
      return new Outcome(process.exitValue(), Files.readString(out), Files.readString(err));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Starts one that goes on. */
  public Process start(Path out, Path err, String... args) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-XX:TieredStopAtLevel=1",
                "-Xmx320m"));
    command.addAll(ServiceProcess.Launch.ofThisBuild().program());
    command.addAll(List.of(args));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(dir.toFile())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("STEELYARD_"));
    builder.environment().putAll(environment);
    return builder.start();
  }
}
