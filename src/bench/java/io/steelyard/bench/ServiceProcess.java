package io.steelyard.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** The service in a process of its own, with the defaults, on a {@link ServiceDatabase}. */
final class ServiceProcess implements AutoCloseable {
  private static final String TOKEN = "operator-token-of-the-benchmark";
  private static final Duration CALL_LIMIT = Duration.ofHours(1);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Path directory;
  private final JavaProcess process;
  private final ServiceDatabase database;
  private final HttpClient client = HttpClient.newHttpClient();
  final int port;
  private final int managementPort;

  private ServiceProcess(Bench.Options options, Map<String, String> settings)
      throws IOException, SQLException {
    directory = options.directory();
    port = JavaProcess.freePort();
    managementPort = JavaProcess.freePort();
    database = new ServiceDatabase(options).requireEmpty();
    delete(directory);
    Files.createDirectories(directory);
    process =
        JavaProcess.start(
            directory, "service.log", arguments(options, settings), "io.steelyard.Main");
  }

  /** In an empty directory, which goes when the service is closed. */
  static ServiceProcess start(Bench.Options options, Map<String, String> settings)
      throws IOException, SQLException, InterruptedException {
    ServiceProcess service = new ServiceProcess(options, settings);
    service.process.await(service::isReady);
    return service;
  }

  /** What Java itself is told. */
  List<String> virtualMachine(Bench.Options options) {
    List<String> arguments = new ArrayList<>();
    arguments.add("-Xmx" + options.heap());
    String more = System.getProperty("service.jvm", "");
    if (!more.isBlank()) {
      arguments.addAll(List.of(more.split(" ")));
    }
    return arguments;
  }

  /** Settings of other processes that are to work on its database. */
  Map<String, String> databaseOfOthers() throws IOException {
    Map<String, String> settings = new HashMap<>(database.settingsOfOthers());
    settings.put("operator.token", TOKEN);
    return settings;
  }

  private List<String> arguments(Bench.Options options, Map<String, String> settings) {
    List<String> arguments = virtualMachine(options);
    arguments.add("-Dhttp.port=" + port);
    arguments.add("-Dmanagement.port=" + managementPort);
    arguments.add("-Ddemo.enabled=false");
    arguments.add("-Doperator.token=" + TOKEN);
    database.settings().forEach((name, value) -> arguments.add("-D" + name + "=" + value));
    settings.forEach((name, value) -> arguments.add("-D" + name + "=" + value));
    return arguments;
  }

  private boolean isReady() throws InterruptedException {
    try {
      return client
              .send(
                  HttpRequest.newBuilder(management("/health/ready")).build(),
                  BodyHandlers.discarding())
              .statusCode()
          == 200;
    } catch (IOException e) {
      return false; // not listening yet
    }
  }

  private URI management(String path) {
    return URI.create("http://127.0.0.1:" + managementPort + path);
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
    return call(
        HttpRequest.newBuilder(management(path))
            .header("authorization", "Bearer " + TOKEN)
            .header("content-type", contentType)
            .method(method, BodyPublishers.ofString(body)));
  }

  /** The service asks to try again later. */
  static final class BusyException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    private BusyException(String message) {
      super(message);
    }
  }

  /** As a merchant's own program does. */
  JsonNode post(String apiKey, String path, String body) throws IOException, InterruptedException {
    return call(
        external(apiKey, path)
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofString(body)));
  }

  JsonNode get(String apiKey, String path) throws IOException, InterruptedException {
    return call(external(apiKey, path));
  }

  private HttpRequest.Builder external(String apiKey, String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
        .header("x-api-key", apiKey);
  }

  private JsonNode call(HttpRequest.Builder builder) throws IOException, InterruptedException {
    HttpRequest request = builder.timeout(CALL_LIMIT).build();
    HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
    if (answer.statusCode() == 429 || answer.statusCode() == 503) {
      throw new BusyException(request.uri() + ": " + answer.body());
    }
    if (answer.statusCode() >= 300) {
      throw new IllegalStateException(
          request.uri() + ": " + answer.statusCode() + " " + answer.body());
    }
    return JSON.readTree(answer.body());
  }

  /** The sum over all labels of a metric as Prometheus names it; 0 while there is none. */
  double metric(String name) throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(management("/metrics")).build();
    return client
        .send(request, BodyHandlers.ofString())
        .body()
        .lines()
        .filter(line -> line.startsWith(name + " ") || line.startsWith(name + "{"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  ServiceDatabase database() {
    return database;
  }

  /** The most memory the service's process ever held. */
  long peakBytes() throws IOException {
    return Memory.peak(process.pid());
  }

  /** The processors' time spent so far, which other programs on the machine hardly change. */
  Work work() throws IOException, SQLException {
    return new Work(
        Processors.micros(process.pid()),
        database.micros(),
        Processors.micros(ProcessHandle.current().pid()));
  }

  /** Microseconds of a processor. */
  record Work(long service, long postgres, long load) {
    Work since(Work before) {
      return new Work(
          service - before.service(), postgres - before.postgres(), load - before.load());
    }

    /** For one of {@code count}. */
    String each(long count) {
      return String.format(
          Locale.ROOT,
          "%.1f us of a processor in the service, %.1f us in PostgreSQL, %.1f us in the load",
          (double) service / count,
          (double) postgres / count,
          (double) load / count);
    }
  }

  @Override
  public void close() throws IOException {
    process.close();
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
