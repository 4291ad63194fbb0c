package io.steelyard.bench;

import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A program of this class path in a process of its own. */
final class JavaProcess implements AutoCloseable {
  private static final long START_LIMIT_NANOS = TimeUnit.SECONDS.toNanos(120);
  private static final long STOP_LIMIT_S = 60;
  private static final long POLL_MS = 100;

  private final Process process;
  private final Path log;

  private JavaProcess(Process process, Path log) {
    this.process = process;
    this.log = log;
  }

  /** Whether the program can be used by now. */
  interface Ready {
    boolean isReady() throws InterruptedException;
  }

  /**
   * @param directory the program's own, where its output goes to {@code log}
   */
  static JavaProcess start(Path directory, String log, List<String> options, String main)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElse("java"));
    command.addAll(options);
    command.addAll(List.of("-cp", classPath(), main));
    Process process =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve(log).toFile())
            .start();
    // a benchmark that is interrupted leaves nothing behind
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
    return new JavaProcess(process, directory.resolve(log));
  }

  private static String classPath() {
    List<String> absolute = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      absolute.add(Path.of(entry).toAbsolutePath().toString());
    }
    return String.join(File.pathSeparator, absolute);
  }

  static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  void await(Ready ready) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + START_LIMIT_NANOS;
    while (!ready.isReady()) {
      if (!process.isAlive() || System.nanoTime() > deadline) {
        String text = Files.readString(log);
        close();
        throw new IllegalStateException("the program did not start:\n" + text);
      }
      Thread.sleep(POLL_MS);
    }
  }

  long pid() {
    return process.pid();
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(STOP_LIMIT_S, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
