package io.steelyard.support;

import io.steelyard.Main;
import io.steelyard.db.Endpoint;
import io.steelyard.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The service as a process of its own, on free ports, that can be killed. */
public final class ServiceProcess implements AutoCloseable {
  private static final Pattern STARTED =
      Pattern.compile(
          "^  API +http://[^/]+:(\\d+)$.*^  Operator +(http://[^/]+)/operator",
          Pattern.MULTILINE | Pattern.DOTALL);
  private static final long START_S = 120;
  private static final Duration ANSWER_LIMIT = Duration.ofMinutes(5);
  private static final AtomicInteger COUNTER = new AtomicInteger();

  private final Process process;
  private final Path output;
  private int port;
  private String management;
  private final HttpClient client = HttpClient.newHttpClient();

  private ServiceProcess(Process process, Path output) throws Exception {
    this.process = process;
    this.output = output;
    awaitStarted();
  }

  /**
   * Starts it and waits until it answers.
   *
   * @param dir for its output
   * @param settings dotted names and their values, over the defaults
   */
  public static ServiceProcess start(Path dir, Endpoint database, Map<String, String> settings) {
    return start(dir, database, settings, Map.of());
  }

  /**
   * As {@link #start(Path, Endpoint, Map)}.
   *
   * @param environment over the test's own
   */
  public static ServiceProcess start(
      Path dir, Endpoint database, Map<String, String> settings, Map<String, String> environment) {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.addAll(
        List.of("--enable-native-access=ALL-UNNAMED", "-XX:TieredStopAtLevel=1", "-Xmx320m"));
    command.addAll(
        List.of(
            "-Dhttp.port=0",
            "-Dmanagement.port=0",
            "-Doperator.token=" + TestApp.OPERATOR_TOKEN,
            "-Ddatabase.url=" + TestApp.url(database)));
    settings.forEach((name, value) -> command.add("-D" + name + "=" + value));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    Path output = dir.resolve("service-" + COUNTER.incrementAndGet() + ".out");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(dir.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("STEELYARD_"));
    builder.environment().putAll(environment);
    try {
      return new ServiceProcess(builder.start(), output);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private void awaitStarted() throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_S);
    while (true) {
      Matcher banner = STARTED.matcher(output());
      if (banner.find()) {
        port = Integer.parseInt(banner.group(1));
        management = banner.group(2);
        return;
      }
      if (!process.isAlive() || System.nanoTime() > deadline) {
        process.destroyForcibly();
        throw new IllegalStateException("the service did not start: " + output());
      }
      Thread.sleep(10);
    }
  }

  /** What it has said so far. */
  public String output() {
    try {
      return Files.readString(output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Where the external API answers. */
  public int port() {
    return port;
  }

  public long pid() {
    return process.pid();
  }

  /**
   * Sends a request to the management port; the answer fails when the process is killed before.
   *
   * @param body as a tree; null for none
   */
  public CompletableFuture<HttpResponse<String>> operator(String method, String path, Object body) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(management + path))
            .timeout(ANSWER_LIMIT)
            .header("authorization", "Bearer " + TestApp.OPERATOR_TOKEN)
            .header("content-type", "application/json")
            .method(
                method,
                body == null
                    ? BodyPublishers.noBody()
                    : BodyPublishers.ofString(Json.encodeText(body)))
            .build();
    return client.sendAsync(request, BodyHandlers.ofString());
  }

  /** As kill -9 does; returns when it is gone. */
  public void kill() {
    process.destroyForcibly().onExit().join();
    client.shutdownNow();
  }

  @Override
  public void close() {
    kill();
  }
}
