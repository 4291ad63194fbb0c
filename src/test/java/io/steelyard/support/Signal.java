package io.steelyard.support;

import java.io.IOException;
import java.io.UncheckedIOException;

/** What {@code kill} sends to a process. */
public final class Signal {
  private Signal() {}

  /**
   * Sends it; fails where there is no such process.
   *
   * @param name such as {@code STOP}
   */
  public static void send(String name, long pid) {
    try {
      int code = new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start().waitFor();
      if (code != 0) {
        throw new IllegalStateException("kill -" + name + " ended with " + code);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
