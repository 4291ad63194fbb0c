package io.steelyard.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/** What processes hold, from {@code /proc}; 0 where there is none. */
final class Memory {
  private static final long SAMPLE_MS = 500;
  private static final long KIB = 1024;

  private Memory() {}

  /** The most that one process ever had resident. */
  static long peak(long pid) throws IOException {
    return field(Path.of("/proc", Long.toString(pid), "status"), "VmHWM:");
  }

  /** Watches processes and their children, counting memory that they share once. */
  static Sampler sampler(List<Long> pids) {
    return new Sampler(pids);
  }

  static final class Sampler implements AutoCloseable {
    private final AtomicLong peak = new AtomicLong();
    private final Thread thread;

    private Sampler(List<Long> pids) {
      thread = Thread.ofPlatform().daemon().start(() -> watch(pids));
    }

    private void watch(List<Long> pids) {
      try {
        while (!Thread.currentThread().isInterrupted()) {
          peak.accumulateAndGet(pids.stream().mapToLong(Sampler::proportional).sum(), Math::max);
          Thread.sleep(SAMPLE_MS);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private static long proportional(long pid) {
      return ProcessHandle.of(pid)
          .map(
              parent ->
                  Stream.concat(Stream.of(parent), parent.children())
                      .mapToLong(process -> pss(process.pid()))
                      .sum())
          .orElse(0L);
    }

    private static long pss(long pid) {
      try {
        return field(Path.of("/proc", Long.toString(pid), "smaps_rollup"), "Pss:");
      } catch (IOException e) {
        return 0; // it has ended meanwhile
      }
    }

    long peakBytes() {
      return peak.get();
    }

    @Override
    public void close() {
      thread.interrupt();
    }
  }

  private static long field(Path file, String name) throws IOException {
    if (!Files.exists(file)) {
      return 0;
    }
    return Files.readAllLines(file).stream()
        .filter(line -> line.startsWith(name))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * KIB)
        .findFirst()
        .orElse(0);
  }
}
