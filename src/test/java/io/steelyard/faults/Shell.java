package io.steelyard.faults;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;

/** A program of the machine, run to its end. */
final class Shell {
  private Shell() {}

  /** It cannot be started. */
  static final class NotThere extends IOException {
    private static final long serialVersionUID = 1;

    private NotThere(IOException cause) {
      super(cause);
    }
  }

  static void run(String... command) throws IOException {
    run(List.of(command));
  }

  /** Throws with what it said when it fails. */
  static void run(List<String> command) throws IOException {
    Process process;
    try {
      process = new ProcessBuilder(command).redirectErrorStream(true).start();
    } catch (IOException e) {
      throw new NotThere(e);
    }
    String said = new String(process.getInputStream().readAllBytes());
    try {
      if (process.waitFor() != 0) {
        throw new IOException(command + ": " + said.strip());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException(String.join(" ", command));
    }
  }
}
