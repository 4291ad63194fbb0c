package io.steelyard.fuzz;

import io.steelyard.support.ServiceProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * What a service holds while nobody asks it anything.
 *
 * @param heapMib in use after a full collection
 * @param openFiles of its process, sockets included
 */
record Growth(long heapMib, long openFiles) {
  private static final long IDLE_WITHIN_S = 20;
  private static final List<String> BUSY =
      List.of("vertx_pool_in_use{", "vertx_pool_queue_pending{", "steelyard_bus_in_flight{");

  private static final int FILES_MORE_MAX = 12; // as many connections as its pools may still open

  /** Once nothing is in flight any more, or that is a fault. */
  static Growth of(ServiceProcess service) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(IDLE_WITHIN_S);
    for (List<String> busy = busy(service); !busy.isEmpty(); busy = busy(service)) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("still in use: " + busy);
      }
      Thread.sleep(50);
    }
    collect(service.pid());
    return new Growth(
        Math.round(metric(service, "jvm_memory_used_bytes{area=\"heap\"") / (1 << 20)),
        files(service.pid()));
  }

  private static List<String> busy(ServiceProcess service) {
    return metrics(service)
        .lines()
        .filter(line -> BUSY.stream().anyMatch(line::startsWith) && !line.endsWith(" 0.0"))
        .filter(line -> !line.contains("pool_type=\"worker\"")) // which tells these metrics
        .toList();
  }

  private static String metrics(ServiceProcess service) {
    return service.operator("GET", "/metrics", null).join().body();
  }

  private static double metric(ServiceProcess service, String begin) {
    return metrics(service)
        .lines()
        .filter(line -> line.startsWith(begin))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  private static void collect(long pid) throws Exception {
    String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
    Process collecting =
        new ProcessBuilder(jcmd, Long.toString(pid), "GC.run").redirectErrorStream(true).start();
    String output = new String(collecting.getInputStream().readAllBytes());
    if (collecting.waitFor() != 0) {
      throw new IllegalStateException(output);
    }
  }

  private static long files(long pid) {
    try (Stream<Path> files = Files.list(Path.of("/proc", Long.toString(pid), "fd"))) {
      return files.count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What has grown by more than it may since then. */
  List<String> since(Growth before, long heapMibMore) {
    List<String> grown = new ArrayList<>();
    if (heapMib > before.heapMib + heapMibMore) {
      grown.add("heap: %d MiB, before %d".formatted(heapMib, before.heapMib));
    }
    if (openFiles > before.openFiles + FILES_MORE_MAX) {
      grown.add("open files: %d, before %d".formatted(openFiles, before.openFiles));
    }
    return grown;
  }
}
