package io.steelyard.bench;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A node on the PostgreSQL of another process, alone or in a cluster. */
final class ClusterNode implements AutoCloseable {
  private static final String HOST = "127.0.0.1";

  private final JavaProcess process;
  private final int port;
  private final double startS;

  private ClusterNode(JavaProcess process, int port, double startS) {
    this.process = process;
    this.port = port;
    this.startS = startS;
  }

  /** For one node alone, or for so many of one cluster. */
  static List<Map<String, String>> settings(int nodes) throws IOException {
    List<Integer> ports = new ArrayList<>();
    List<String> members = new ArrayList<>();
    for (int i = 0; i < nodes; i++) {
      ports.add(JavaProcess.freePort());
      members.add(HOST + ":" + ports.getLast());
    }
    List<Map<String, String>> all = new ArrayList<>();
    for (int i = 0; i < nodes; i++) {
      Map<String, String> settings = new HashMap<>();
      if (nodes > 1) {
        settings.put("cluster.enabled", "true");
        settings.put("cluster.secret", "the secret of the benchmark");
        settings.put("cluster.port", Integer.toString(ports.get(i)));
        settings.put("cluster.eventBusPort", Integer.toString(JavaProcess.freePort()));
        settings.put("cluster.members", String.join(",", members));
      }
      all.add(settings);
    }
    return all;
  }

  /** Ready. */
  static ClusterNode start(Trial trial, String name, Map<String, String> settings)
      throws IOException, InterruptedException {
    int port = JavaProcess.freePort();
    int managementPort = JavaProcess.freePort();
    List<String> arguments = new ArrayList<>(trial.service.virtualMachine(trial.options));
    arguments.add("-Dhttp.port=" + port);
    arguments.add("-Dmanagement.port=" + managementPort);
    arguments.add("-Dintegrity.everyMs=0");
    trial
        .service
        .databaseOfOthers()
        .forEach((key, value) -> arguments.add("-D" + key + "=" + value));
    settings.forEach((key, value) -> arguments.add("-D" + key + "=" + value));
    Path directory = trial.options.directory().resolve("nodes").resolve(name + "-" + port);
    Files.createDirectories(directory);
    long startedAt = System.nanoTime();
    JavaProcess process =
        JavaProcess.start(directory, "service.log", arguments, "io.steelyard.Main");
    try (HttpClient client = HttpClient.newHttpClient()) {
      URI ready = URI.create("http://" + HOST + ":" + managementPort + "/health/ready");
      process.await(() -> isReady(client, ready));
    }
    return new ClusterNode(process, port, (System.nanoTime() - startedAt) / 1e9);
  }

  private static boolean isReady(HttpClient client, URI ready) throws InterruptedException {
    try {
      return client
              .send(HttpRequest.newBuilder(ready).build(), BodyHandlers.discarding())
              .statusCode()
          == 200;
    } catch (IOException e) {
      return false; // not listening yet
    }
  }

  int port() {
    return port;
  }

  /** Seconds from the start of the process until it was ready. */
  double startS() {
    return startS;
  }

  @Override
  public void close() {
    process.close();
  }
}
