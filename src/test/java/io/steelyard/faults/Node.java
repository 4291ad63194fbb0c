package io.steelyard.faults;

import io.steelyard.db.Endpoint;
import io.steelyard.support.ServiceProcess;
import io.steelyard.support.ServiceProcess.Launch;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A node, which keeps its ports when it is started again. */
final class Node {
  private final Path dir;
  private Place place;
  private ServiceProcess process;

  /**
   * Where and as what it runs.
   *
   * @param database the way to it, e.g. through a proxy
   * @param settings dotted names and their values, over the defaults
   */
  record Place(
      Endpoint database,
      Map<String, String> settings,
      Map<String, String> environment,
      Launch launch) {
    Place(Endpoint database) {
      this(database, Map.of(), Map.of(), Launch.ofThisBuild());
    }

    /** Over the settings that are there. */
    Place with(Map<String, String> more) {
      Map<String, String> all = new HashMap<>(settings);
      all.putAll(more);
      return new Place(database, all, environment, launch);
    }

    Place withEnvironment(Map<String, String> variables) {
      return new Place(database, settings, variables, launch);
    }

    Place launched(Launch other) {
      return new Place(database, settings, environment, other);
    }
  }

  Node(Path dir, Place place) {
    this.dir = dir;
    this.place = place;
  }

  /** Starts it; returns the milliseconds until it was ready. */
  long start() {
    long startedAt = System.nanoTime();
    process =
        ServiceProcess.start(
            dir, place.database(), place.settings(), place.environment(), place.launch());
    Scene.until("ready", 10, () -> process.ready().statusCode() == 200);
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startedAt);
  }

  /** Of another program from its next start on. */
  void becomes(Launch launch) {
    place = place.launched(launch);
  }

  ServiceProcess process() {
    return process;
  }

  void close() {
    if (process != null) {
      process.close();
    }
  }

  /** Kibibytes of memory that are resident now. */
  long residentKib() {
    try {
      String status = Files.readString(Path.of("/proc", Long.toString(process.pid()), "status"));
      return Long.parseLong(status.replaceAll("(?s).*VmRSS:\\s*(\\d+) kB.*", "$1"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The sum of a metric's values over its labels. */
  double metric(String metric) {
    return metric(metric, "");
  }

  /**
   * The sum of a metric's values over those of its labels that are not given.
   *
   * @param label such as {@code address="billing.usage"}
   */
  double metric(String metric, String label) {
    return process
        .operator("GET", "/metrics", null)
        .join()
        .body()
        .lines()
        .filter(line -> line.startsWith(metric + "{") || line.startsWith(metric + " "))
        .filter(line -> line.contains(label))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  /** What it says of the cluster, or that it does not answer. */
  HttpResponse<String> ready() {
    return process.ready();
  }

  String host() {
    return place.settings().getOrDefault("http.host", "127.0.0.1");
  }

  int port() {
    return Integer.parseInt(place.settings().get("http.port"));
  }
}
