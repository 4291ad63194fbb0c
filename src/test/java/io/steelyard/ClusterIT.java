package io.steelyard;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.catalog.CatalogParser;
import io.steelyard.db.Endpoint;
import io.steelyard.json.Json;
import io.steelyard.support.ClusterMetrics;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.ServiceProcess;
import io.steelyard.support.TestApp.Answer;
import io.steelyard.support.TestConfig;
import io.steelyard.support.Verticles;
import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Nodes of one cluster as processes of their own: two that do everything, and one that only speaks
 * HTTP. In the order of the tests they do their work, and go.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Isolated("it measures how soon nodes find and miss one another")
class ClusterIT {
  private static final Duration TEN_SECONDS = Duration.ofSeconds(10);
  private static final Duration FIVE_SECONDS = Duration.ofSeconds(5);

  /** For so long a node that is not told goes on with a key that it knows. */
  private static final Duration TRUSTED =
      Duration.ofMillis(TestConfig.with(Map.of()).keys().cacheMs());

  private static final Pattern JOINED = Pattern.compile("Joined the cluster in (\\d+) ms");
  private static final int NODES = 4;
  private static final int WORKERS = 6;

  @TempDir static Path dir;

  private static final AtomicInteger KEYS = new AtomicInteger();
  private static Endpoint database;
  private static List<String> ports;
  private static ServiceProcess one;
  private static ServiceProcess two;
  private static ServiceProcess httpOnly;
  private static String merchant;
  private static String key;
  private static String customer;

  @BeforeAll
  static void start() {
    database = PostgresSupport.migratedDatabase();
    ports = Stream.generate(TestConfig::freePort).distinct().limit(2 * NODES).toList();
    one = node(0, Map.of());
    CompletableFuture<ServiceProcess> second =
        CompletableFuture.supplyAsync(() -> node(1, Map.of()));
    httpOnly = node(2, Verticles.only("http"));
    two = second.join();
  }

  @AfterAll
  static void stop() {
    Stream.of(one, two, httpOnly).filter(Objects::nonNull).forEach(ServiceProcess::close);
  }

  /** Ready. */
  private static ServiceProcess node(int index, Map<String, String> settings) {
    Map<String, String> all = new HashMap<>(settings);
    all.put("cluster.enabled", "true");
    all.put("cluster.secret", "the secret of the tests");
    all.put("cluster.port", ports.get(index));
    all.put("cluster.eventBusPort", ports.get(NODES + index));
    all.put(
        "cluster.members",
        String.join(",", ports.subList(0, NODES).stream().map("127.0.0.1:"::concat).toList()));
    all.put("timeouts.drainMs", "5000");
    ServiceProcess node = ServiceProcess.start(dir, database, all);
    within(TEN_SECONDS, () -> node.ready().statusCode() == 200, node::output);
    return node;
  }

  private static Duration within(
      Duration limit, BooleanSupplier condition, java.util.function.Supplier<?> otherwise) {
    Instant startedAt = Instant.now();
    while (!condition.getAsBoolean()) {
      Duration passed = Duration.between(startedAt, Instant.now());
      assertThat(passed).as(() -> String.valueOf(otherwise.get())).isLessThan(limit);
      sleep(20);
    }
    return Duration.between(startedAt, Instant.now());
  }

  private static void sleep(int ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static <T> T at(HttpResponse<String> answer, int status, String path) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    return Answer.at(Json.readMap(answer.body()), path);
  }

  private static Map<String, Object> event() {
    return Map.of(
        "customerId",
        customer,
        "eventName",
        "api.request",
        "generatedAt",
        Instant.now().toString(),
        "idempotencyKey",
        "key-" + KEYS.incrementAndGet(),
        "data",
        Map.of("count", 1));
  }

  private static HttpResponse<String> post(ServiceProcess node, String path, Object body) {
    return node.external("POST", path, key, body).join();
  }

  private static int statusOfReading(ServiceProcess node, String apiKey) {
    return node.external("GET", "/external/customers/" + customer, apiKey, null)
        .join()
        .statusCode();
  }

  @Test
  @Order(1)
  void everyNodeJoinsWithinTenSecondsAndIsReadyAsOneOfThree() {
    for (ServiceProcess node : List.of(one, two, httpOnly)) {
      Matcher joined = JOINED.matcher(node.output());
      assertThat(joined.find()).as(node.output()).isTrue();
      assertThat(Duration.ofMillis(Long.parseLong(joined.group(1))))
          .isLessThan(TEN_SECONDS.multipliedBy(howBusyTheMachineIs()));
      within(
          FIVE_SECONDS,
          () ->
              node.ready().body().contains("\"members\":3")
                  && node.ready().body().contains("\"unanswered\":[]"),
          () -> node.ready().body());
      assertThat(this.<Boolean>joined(node)).isTrue();
    }
  }

  /** How many runnable threads share a processor: on a machine of its own 1 or 2. */
  private static long howBusyTheMachineIs() {
    OperatingSystemMXBean system = ManagementFactory.getOperatingSystemMXBean();
    return Math.max(1, Math.round(system.getSystemLoadAverage() / system.getAvailableProcessors()));
  }

  private <T> T joined(ServiceProcess node) {
    return at(node.ready(), 200, "cluster.joined");
  }

  @Test
  @Order(2)
  void everyNodeReportsTheMetricsOfACluster() {
    for (ServiceProcess node : List.of(one, two, httpOnly)) {
      String scrape = node.operator("GET", "/metrics", null).join().body();
      assertThat(ClusterMetrics.NAMES)
          .allSatisfy(name -> assertThat(scrape).contains("\n" + name + " "));
    }
  }

  @Test
  @Order(3)
  void whatANodeDoesNotRunAnotherAnswers() {
    HttpResponse<String> created =
        httpOnly
            .operator("POST", "/operator/merchants", Map.of("name", "Split", "environment", "live"))
            .join();
    merchant = at(created, 201, "id");
    key = at(created, 201, "apiKey.key");
    at(
        httpOnly
            .operator(
                "PUT",
                "/operator/merchants/" + merchant + "/catalog",
                CatalogParser.yaml(Merchant.CATALOG))
            .join(),
        200,
        "changes");

    customer = at(post(httpOnly, "/external/customers", Map.of("externalId", "one")), 201, "id");

    assertThat(this.<Number>accepted(post(httpOnly, "/external/event", event()))).isEqualTo(1);
    for (ServiceProcess node : List.of(one, two, httpOnly)) {
      assertThat(statusOfReading(node, key)).isEqualTo(200);
    }
    HttpResponse<String> taken = post(httpOnly, "/external/customers", Map.of("externalId", "one"));
    assertThat(taken.statusCode()).as("a failure keeps its meaning on the way").isEqualTo(409);
    assertThat(post(httpOnly, "/external/event", Map.of()).statusCode()).isEqualTo(400);
  }

  private <T> T accepted(HttpResponse<String> answer) {
    return at(answer, 202, "accepted");
  }

  @Test
  @Order(3)
  void theSameBatchSentToAllNodesAtOnceCountsOnce() {
    long before = counted();
    List<Map<String, Object>> batch = IntStream.range(0, 500).mapToObj(i -> event()).toList();

    List<HttpResponse<String>> answers =
        Stream.of(one, two, httpOnly)
            .map(node -> node.external("POST", "/external/event", key, batch))
            .toList()
            .stream()
            .map(CompletableFuture::join)
            .toList();

    int accepted = answers.stream().mapToInt(answer -> (Integer) accepted(answer)).sum();
    assertThat(accepted).isEqualTo(500);
    within(TEN_SECONDS, () -> counted() >= before + 500, ClusterIT::counted);
    assertThat(counted()).isEqualTo(before + 500);
    assertThat(stored()).isEqualTo(501);
  }

  private static long counted() {
    return Long.parseLong(
        PostgresSupport.column(
                database, "SELECT coalesce(sum(events), 0)::bigint::text FROM usage_counter")
            .getFirst());
  }

  private static long stored() {
    return Long.parseLong(
        PostgresSupport.column(database, "SELECT count(*)::text FROM event").getFirst());
  }

  @Test
  @Order(4)
  void aKeyRevokedOnOneNodeIsRefusedOnAllWithinFiveSecondsEvenIfNobodyIsTold() {
    for (boolean told : new boolean[] {true, false}) {
      String path = "/operator/merchants/" + merchant + "/api-keys";
      HttpResponse<String> created = one.operator("POST", path, Map.of("type", "secret")).join();
      String id = at(created, 201, "id");
      String second = at(created, 201, "key");
      Instant knownFrom = Instant.now();
      List<ServiceProcess> nodes = List.of(one, two, httpOnly);
      nodes.forEach(node -> assertThat(statusOfReading(node, second)).isEqualTo(200));

      if (told) {
        assertThat(two.operator("DELETE", path + "/" + id, Map.of()).join().statusCode())
            .isEqualTo(204);
      } else {
        PostgresSupport.execute(
            database,
            "UPDATE api_key SET revoked_at = now() WHERE id = (SELECT id FROM api_key"
                + " WHERE revoked_at IS NULL ORDER BY created_at DESC LIMIT 1)");
      }

      Duration known = Duration.between(knownFrom, Instant.now());
      within(
          told ? TRUSTED.minus(known) : FIVE_SECONDS,
          () -> nodes.stream().allMatch(node -> statusOfReading(node, second) == 401),
          () -> "still known, told: " + told);
      assertThat(statusOfReading(httpOnly, key)).isEqualTo(200);
    }
  }

  /** Sends until it is stopped; everything but a success is kept. */
  private static final class Load implements AutoCloseable {
    private final Queue<String> failures = new ConcurrentLinkedQueue<>();
    private final AtomicInteger answered = new AtomicInteger();
    private final AtomicInteger accepted = new AtomicInteger();
    private final AtomicBoolean stopped = new AtomicBoolean();
    private final List<CompletableFuture<Void>> workers = new ArrayList<>();

    private Load(ServiceProcess... nodes) {
      for (int i = 0; i < WORKERS; i++) {
        ServiceProcess node = nodes[i % nodes.length];
        workers.add(CompletableFuture.runAsync(() -> run(node), task -> new Thread(task).start()));
      }
    }

    private void run(ServiceProcess node) {
      while (!stopped.get()) {
        note(post(node, "/external/event", event()), 202);
        note(node.external("GET", "/external/customers/" + customer, key, null).join(), 200);
      }
    }

    private void note(HttpResponse<String> answer, int expected) {
      answered.incrementAndGet();
      if (answer.statusCode() != expected) {
        failures.add(answer.statusCode() + " " + answer.body());
      } else if (expected == 202) {
        accepted.incrementAndGet();
      }
    }

    @Override
    public void close() {
      stopped.set(true);
      workers.forEach(CompletableFuture::join);
    }
  }

  @Test
  @Order(5)
  void aNodeThatStopsInOrderUnderLoadLosesNoRequest() {
    long before = stored();
    Load load = new Load(one, httpOnly);
    try (load) {
      within(TEN_SECONDS, () -> load.answered.get() > 200, () -> load.failures);

      assertThat(two.stop()).isZero();

      int answered = load.answered.get();
      within(TEN_SECONDS, () -> load.answered.get() > answered + 200, () -> load.failures);
    }

    assertThat(load.failures).isEmpty();
    assertThat(stored()).isEqualTo(before + load.accepted.get());
    assertThat(two.output()).contains("Stopped").doesNotContain("not all of it in order");
    within(FIVE_SECONDS, () -> one.ready().body().contains("\"members\":2"), one::output);
  }

  @Test
  @Order(6)
  void whenTheOnlyNodeThatAnswersIsKilledTheAnswerIs503AndAnotherTakesOver() {
    one.kill();

    Instant killedAt = Instant.now();
    HttpResponse<String> first = post(httpOnly, "/external/event", event());
    assertThat(first.statusCode()).as(first.body()).isEqualTo(503);
    assertThat(Duration.between(killedAt, Instant.now())).isLessThan(TEN_SECONDS);
    within(
        FIVE_SECONDS,
        () -> post(httpOnly, "/external/event", event()).body().contains("not_serving"),
        httpOnly::output);
    Instant askedAt = Instant.now();
    assertThat(post(httpOnly, "/external/event", event()).statusCode()).isEqualTo(503);
    assertThat(Duration.between(askedAt, Instant.now())).isLessThan(FIVE_SECONDS);
    assertThat(httpOnly.ready().body()).contains("billing.usage");

    one = node(3, Map.of());

    within(
        FIVE_SECONDS,
        () -> post(httpOnly, "/external/event", event()).statusCode() == 202,
        httpOnly::output);
    within(TEN_SECONDS, () -> counted() == stored(), () -> counted() + " of " + stored());
  }
}
