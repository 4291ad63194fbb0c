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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The service as a process of its own, on free ports, that can be killed. */
public final class ServiceProcess implements AutoCloseable {
  /** In the text for people, and in a line of JSON. */
  private static final Pattern OPERATOR =
      Pattern.compile(
          "(?:^  Operator +|\"operator\":\")(http://[^/]+)/operator", Pattern.MULTILINE);

  private static final Pattern API =
      Pattern.compile("(?:^  API +|\"api\":\")(http://[^/\"\\s]+)", Pattern.MULTILINE);
  private static final long START_S = 300;
  private static final Duration ANSWER_LIMIT = Duration.ofMinutes(5);
  private static final AtomicInteger COUNTER = new AtomicInteger();

  private final Process process;
  private final Path output;
  private final Path errors;
  private final String management;
  private final HttpClient client = HttpClient.newHttpClient();

  /**
   * What is run.
   *
   * @param before words before {@code java}, such as those of {@code ip netns exec}
   * @param program what {@code java} is told to run
   */
  public record Launch(List<String> before, List<String> program) {
    /** The jar of this build, or its classes where none was packaged. */
    public static Launch ofThisBuild() {
      return new Launch(
          List.of(),
          PackagedJar.program()
              .orElseGet(
                  () ->
                      List.of(
                          "--enable-native-access=ALL-UNNAMED", // the jar's manifest says so
                          "-cp",
                          System.getProperty("java.class.path"),
                          Main.class.getName())));
    }

    /** A jar, such as that of another version. */
    public static Launch ofJar(Path jar) {
      return new Launch(List.of(), List.of("-jar", jar.toString()));
    }

    public Launch after(List<String> words) {
      return new Launch(words, program);
    }
  }

  private ServiceProcess(Process process, Path output, Path errors) throws Exception {
    this.process = process;
    this.output = output;
    this.errors = errors;
    this.management = awaitStarted();
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
    return start(dir, with(database, environment), settings);
  }

  /** As {@link #start(Path, Endpoint, Map, Map)}, of another program than this build's. */
  public static ServiceProcess start(
      Path dir,
      Endpoint database,
      Map<String, String> settings,
      Map<String, String> environment,
      Launch launch) {
    return start(dir, with(database, environment), settings, launch);
  }

  private static Map<String, String> with(Endpoint database, Map<String, String> environment) {
    Map<String, String> all = new HashMap<>(environment);
    all.put("STEELYARD_OPERATOR_TOKEN", TestApp.OPERATOR_TOKEN);
    all.put("STEELYARD_DATABASE_URL", TestApp.url(database));
    if (CitusSupport.made(database)) {
      all.put("STEELYARD_DATABASE_DISTRIBUTION", "citus");
    }
    return all;
  }

  /**
   * As {@link #start(Path, Endpoint, Map)}, with the secrets in the environment that a list of
   * processes does not show.
   */
  public static ServiceProcess start(
      Path dir, Map<String, String> environment, Map<String, String> settings) {
    return start(dir, environment, settings, Launch.ofThisBuild());
  }

  private static ServiceProcess start(
      Path dir, Map<String, String> environment, Map<String, String> settings, Launch launch) {
    List<String> command = new ArrayList<>(launch.before());
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-Xmx320m"));
    command.addAll(List.of("-Dhttp.port=0", "-Dmanagement.port=0", "-Dtimeouts.unreadyMs=0"));
    settings.forEach((name, value) -> command.add("-D" + name + "=" + value));
    command.addAll(launch.program());
    int number = COUNTER.incrementAndGet();
    Path output = dir.resolve("service-" + number + ".out");
    Path errors = dir.resolve("service-" + number + ".err");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(dir.toFile())
            .redirectOutput(output.toFile())
            .redirectError(errors.toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("STEELYARD_"));
    builder.environment().putAll(environment);
    try {
      return new ServiceProcess(builder.start(), output, errors);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private String awaitStarted() throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_S);
    while (true) {
      Matcher started = OPERATOR.matcher(output());
      if (started.find()) {
        return started.group(1);
      }
      if (!process.isAlive() || System.nanoTime() > deadline) {
        process.destroyForcibly();
        throw new IllegalStateException("the service did not start: " + output() + errors());
      }
      Thread.sleep(10);
    }
  }

  /** What it has said so far on stdout. */
  public String output() {
    return read(output);
  }

  /** What it has said so far on stderr. */
  public String errors() {
    return read(errors);
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Where its external API is, e.g. {@code http://127.0.0.1:12345}. */
  public String api() {
    Matcher known = API.matcher(output());
    if (!known.find()) {
      throw new IllegalStateException("it serves no external API: " + output());
    }
    return known.group(1);
  }

  /** Where its management port is. */
  public String management() {
    return management;
  }

  public ProcessHandle handle() {
    return process.toHandle();
  }

  /** Where the external API answers. */
  public int port() {
    return URI.create(api()).getPort();
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

  /** A request of the external API with a merchant's key; without a body where that is null. */
  public CompletableFuture<HttpResponse<String>> external(
      String method, String path, String key, Object body) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(api() + path))
            .timeout(ANSWER_LIMIT)
            .header("x-api-key", key)
            .header("content-type", "application/json")
            .method(
                method,
                body == null
                    ? BodyPublishers.noBody()
                    : BodyPublishers.ofString(Json.encodeText(body)))
            .build();
    return client.sendAsync(request, BodyHandlers.ofString());
  }

  /** Whether it says within the limit that it is ready: as a proxy asks. */
  public boolean isReady(Duration limit) {
    try {
      return ask("/health/ready", limit).join().statusCode() == 200;
    } catch (CompletionException e) {
      return false; // no answer
    }
  }

  private CompletableFuture<HttpResponse<String>> ask(String path, Duration limit) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(management + path)).timeout(limit).build();
    return client.sendAsync(request, BodyHandlers.ofString());
  }

  /** What it says of its readiness. */
  public HttpResponse<String> ready() {
    return ask("/health/ready", ANSWER_LIMIT).join();
  }

  /** As a service manager does; its exit code, once it is gone. */
  public int stop() {
    process.destroy();
    int code = process.onExit().orTimeout(START_S, TimeUnit.SECONDS).join().exitValue();
    client.shutdownNow();
    return code;
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
