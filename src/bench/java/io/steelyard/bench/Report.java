package io.steelyard.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** One table: what was measured, and the machine and settings it was measured with. */
final class Report {
  private static final List<String> SETTINGS =
      List.of(
          "server_version",
          "fsync",
          "synchronous_commit",
          "full_page_writes",
          "data_checksums",
          "shared_buffers",
          "max_wal_size");

  private record Line(String what, String value) {}

  private final String title;
  private final List<Line> lines = new ArrayList<>();

  Report(String title) {
    this.title = title;
  }

  Report add(String what, String format, Object... values) {
    lines.add(new Line(what, String.format(Locale.ROOT, format, values)));
    return this;
  }

  /** Machine, JVM and PostgreSQL; the load shows what else ran meanwhile. */
  Report surroundings(Connection database, String heap) throws IOException, SQLException {
    add(
        "machine",
        "%s, %d processors, %s of memory, load average %s",
        cpu(),
        Runtime.getRuntime().availableProcessors(),
        first(Path.of("/proc/meminfo"), "MemTotal"),
        loadAverage());
    add(
        "JVM",
        "%s %s, -Xmx%s %s",
        System.getProperty("java.vm.name"),
        System.getProperty("java.runtime.version"),
        heap,
        System.getProperty("service.jvm", ""));
    List<String> settings = new ArrayList<>();
    for (String setting : SETTINGS) {
      settings.add(setting + "=" + Sql.text(database, "SHOW " + setting));
    }
    return add("PostgreSQL", "%s", String.join(", ", settings));
  }

  private static String cpu() throws IOException {
    return first(Path.of("/proc/cpuinfo"), "model name");
  }

  private static String loadAverage() throws IOException {
    Path file = Path.of("/proc/loadavg");
    return Files.exists(file) ? Files.readString(file).split(" ", 2)[0] : "unknown";
  }

  private static String first(Path file, String name) throws IOException {
    if (!Files.exists(file)) {
      return "unknown";
    }
    return Files.readAllLines(file).stream()
        .filter(line -> line.startsWith(name))
        .map(line -> line.substring(line.indexOf(':') + 1).strip())
        .findFirst()
        .orElse("unknown");
  }

  void print() {
    int width = lines.stream().mapToInt(line -> line.what().length()).max().orElse(0);
    System.out.println();
    System.out.println("## " + title);
    for (Line line : lines) {
      System.out.printf("%-" + width + "s | %s%n", line.what(), line.value());
    }
    System.out.println();
  }
}
