package io.steelyard.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Processor time that processes have used, from {@code /proc}; 0 where there is none. */
final class Processors {
  private static final long MICROS_PER_TICK = 10_000;
  private static final int USER = 11;
  private static final int SYSTEM = 12;
  private static final int USER_OF_ENDED_CHILDREN = 13;
  private static final int SYSTEM_OF_ENDED_CHILDREN = 14;

  private Processors() {}

  /** Of one process. */
  static long micros(long pid) throws IOException {
    String[] fields = fields(pid);
    return fields.length == 0 ? 0 : sum(fields, USER, SYSTEM);
  }

  /** Of a process and its children, also those that have ended. */
  static long microsOfFamily(long pid) throws IOException {
    String[] fields = fields(pid);
    if (fields.length == 0) {
      return 0;
    }
    long sum = sum(fields, USER, SYSTEM, USER_OF_ENDED_CHILDREN, SYSTEM_OF_ENDED_CHILDREN);
    for (ProcessHandle child : ProcessHandle.of(pid).orElseThrow().children().toList()) {
      try {
        sum += micros(child.pid());
      } catch (IOException e) {
        continue; // it has ended meanwhile
      }
    }
    return sum;
  }

  private static long sum(String[] fields, int... which) {
    long ticks = 0;
    for (int each : which) {
      ticks += Long.parseLong(fields[each]);
    }
    return ticks * MICROS_PER_TICK;
  }

  /** From the state on: the name before it may hold blanks. */
  private static String[] fields(long pid) throws IOException {
    Path file = Path.of("/proc", Long.toString(pid), "stat");
    if (!Files.exists(file)) {
      return new String[0];
    }
    String stat = Files.readString(file);
    return stat.substring(stat.lastIndexOf(')') + 2).split(" ");
  }
}
