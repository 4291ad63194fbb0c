package io.steelyard.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The service in a process of its own, with the defaults, and its embedded PostgreSQL. */
final class ServiceProcess implements AutoCloseable {
  private static final String TOKEN = "operator-token-of-the-benchmark";
  private static final Duration START_LIMIT = Duration.ofSeconds(120);
  private static final Duration CALL_LIMIT = Duration.ofHours(1);
  private static final long STOP_LIMIT_S = 60;
  private static final long POLL_MS = 100;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Process process;
  private final Path directory;
  private final int databasePort;
  private final HttpClient client = HttpClient.newHttpClient();
  final int port;
  private final int managementPort;

  private ServiceProcess(
      Process process, Path directory, int port, int managementPort, int databasePort) {
    this.process = process;
    this.directory = directory;
    this.port = port;
    this.managementPort = managementPort;
    this.databasePort = databasePort;
  }

  /** In an empty directory, which goes when the service is closed. */
  static ServiceProcess start(Bench.Options options, Map<String, String> settings)
      throws IOException, InterruptedException {
    Path directory = options.directory();
    delete(directory);
    Files.createDirectories(directory);
    int port = freePort();
    int managementPort = freePort();
    int databasePort = freePort();
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElse("java"));
    command.add("-Xmx" + options.heap());
    String more = System.getProperty("service.jvm", "");
    if (!more.isBlank()) {
      command.addAll(List.of(more.split(" ")));
    }
    command.add("-Dhttp.port=" + port);
    command.add("-Dmanagement.port=" + managementPort);
    command.add("-Ddatabase.port=" + databasePort);
    command.add("-Ddemo.enabled=false");
    command.add("-Doperator.token=" + TOKEN);
    settings.forEach((name, value) -> command.add("-D" + name + "=" + value));
    command.addAll(List.of("-cp", classPath(), "io.steelyard.Main"));
    Process process =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("service.log").toFile())
            .start();
    // a benchmark that is interrupted leaves no service behind
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
    ServiceProcess service =
        new ServiceProcess(process, directory, port, managementPort, databasePort);
    service.awaitReady();
    return service;
  }

  private static String classPath() {
    List<String> absolute = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      absolute.add(Path.of(entry).toAbsolutePath().toString());
    }
    return String.join(File.pathSeparator, absolute);
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  private void awaitReady() throws IOException, InterruptedException {
    long deadline = System.nanoTime() + START_LIMIT.toNanos();
    while (!isReady()) {
      if (!process.isAlive() || System.nanoTime() > deadline) {
        String log = Files.readString(directory.resolve("service.log"));
        close();
        throw new IllegalStateException("the service did not start:\n" + log);
      }
      Thread.sleep(POLL_MS);
    }
  }

  private boolean isReady() throws InterruptedException {
    try {
      return client
              .send(
                  HttpRequest.newBuilder(
                          URI.create("http://127.0.0.1:" + managementPort + "/health/ready"))
                      .build(),
                  BodyHandlers.discarding())
              .statusCode()
          == 200;
    } catch (IOException e) {
      return false; // not listening yet
    }
  }

  /** A new merchant; {@code id}, and {@code apiKey.key}. */
  JsonNode merchant(String environment) throws IOException, InterruptedException {
    return operator(
        "POST",
        "/operator/merchants",
        "{\"name\":\"Bench\",\"environment\":\"" + environment + "\"}",
        "application/json");
  }

  JsonNode applyCatalog(String merchantId, String yaml) throws IOException, InterruptedException {
    return operator(
        "PUT", "/operator/merchants/" + merchantId + "/catalog", yaml, "application/yaml");
  }

  /** Answers when all work due by then is done. */
  void setClock(String merchantId, String now) throws IOException, InterruptedException {
    operator(
        "PUT",
        "/operator/merchants/" + merchantId + "/clock",
        "{\"now\":\"" + now + "\"}",
        "application/json");
  }

  private JsonNode operator(String method, String path, String body, String contentType)
      throws IOException, InterruptedException {
    HttpResponse<String> answer =
        client.send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + managementPort + path))
                .timeout(CALL_LIMIT)
                .header("authorization", "Bearer " + TOKEN)
                .header("content-type", contentType)
                .method(method, BodyPublishers.ofString(body))
                .build(),
            BodyHandlers.ofString());
    if (answer.statusCode() >= 300) {
      throw new IllegalStateException(path + ": " + answer.statusCode() + " " + answer.body());
    }
    return JSON.readTree(answer.body());
  }

  /** A connection as the service's own role. */
  Connection database() throws IOException, SQLException {
    return database("steelyard");
  }

  private Connection database(String role) throws IOException, SQLException {
    return DriverManager.getConnection(
        "jdbc:postgresql://127.0.0.1:" + databasePort + "/steelyard",
        role,
        Files.readString(directory.resolve("data/postgres.password")).strip());
  }

  /** What was prepared shall not be tidied up and written at the cost of what is measured. */
  void settle() throws IOException, SQLException {
    try (Connection connection = database("postgres")) {
      Sql.execute(connection, "VACUUM ANALYZE");
      Sql.execute(connection, "CHECKPOINT");
    }
  }

  /** The most memory the service's process ever held. */
  long peakBytes() throws IOException {
    return Memory.peak(process.pid());
  }

  Memory.Sampler samplePostgres() throws IOException {
    return Memory.sampler(postmaster());
  }

  /** The processors' time spent so far, which other programs on the machine hardly change. */
  Work work() throws IOException {
    return new Work(Processors.micros(process.pid()), Processors.microsOfFamily(postmaster()));
  }

  /** Microseconds of a processor. */
  record Work(long service, long postgres) {
    Work since(Work before) {
      return new Work(service - before.service(), postgres - before.postgres());
    }

    /** For one of {@code count}. */
    String each(long count) {
      return "%d us of a processor in the service, %d us in PostgreSQL"
          .formatted(service / count, postgres / count);
    }
  }

  private long postmaster() throws IOException {
    List<String> lines = Files.readAllLines(directory.resolve("data/postgres/postmaster.pid"));
    return Long.parseLong(lines.getFirst().strip());
  }

  @Override
  public void close() throws IOException {
    process.destroy();
    try {
      if (!process.waitFor(STOP_LIMIT_S, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    client.close();
    delete(directory);
  }

  private static void delete(Path directory) throws IOException {
    if (Files.exists(directory)) {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(file);
        }
      }
    }
  }
}
