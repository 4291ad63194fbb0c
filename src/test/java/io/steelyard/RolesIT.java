package io.steelyard;

import static io.steelyard.support.Merchant.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.catalog.CatalogParser;
import io.steelyard.db.Endpoint;
import io.steelyard.json.Json;
import io.steelyard.support.ClusterSettings;
import io.steelyard.support.CommandProcess;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.ServiceProcess;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import io.steelyard.support.Verticles;
import java.math.BigDecimal;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * HTTP, storing, counting, billing and all else live on nodes of their own: what a client sees is
 * one service. In the order of the tests.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class RolesIT {
  private static final List<String[]> ROLES =
      List.of(
          new String[] {"merchant", "catalog", "customer", "subscription", "credit", "explain"},
          new String[] {"http"},
          new String[] {"usage"},
          new String[] {"aggregation", "retention", "integrity"},
          new String[] {"billing", "delivery", "gateway", "invoice"},
          // as the one before, later
          new String[] {"billing", "delivery", "gateway", "invoice"});

  /** Without the limit above which nothing is billed. */
  private static final String CATALOG =
      Merchant.CATALOG.replace(", limit: 100, maxUsage: 500, blockOverage: true", "");

  private static final int HTTP = 1;
  private static final int STORING = 2;
  private static final int COUNTING = 3;
  private static final int BILLING = 4;
  private static final int STANDBY = 5;
  private static final int EVENTS = 200;

  @TempDir static Path dir;

  private static Endpoint database;
  private static List<Map<String, String>> settings;
  private static final Map<Integer, ServiceProcess> NODES = new HashMap<>();
  private static String merchant;
  private static String key;

  @BeforeAll
  static void start() {
    database = PostgresSupport.migratedDatabase();
    settings = ClusterSettings.of(ROLES.size());
    start(0);
    Merchant.atOnce(STANDBY - 1, i -> start(i + 1)).forEach(each -> assertThat(each).isNotNull());
  }

  private static synchronized ServiceProcess add(int number, ServiceProcess process) {
    NODES.put(number, process);
    return process;
  }

  private static ServiceProcess start(int number) {
    Map<String, String> all = new HashMap<>(settings.get(number));
    all.putAll(Verticles.only(ROLES.get(number)));
    return add(number, ServiceProcess.start(dir, database, all));
  }

  @AfterAll
  static void stop() {
    NODES.values().forEach(ServiceProcess::close);
  }

  private static ServiceProcess http() {
    return NODES.get(HTTP);
  }

  private static HttpResponse<String> operator(String method, String path, Object body) {
    return http().operator(method, "/operator/merchants" + path, body).join();
  }

  private static <T> T at(HttpResponse<String> answer, int status, String path) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    return Answer.at(Json.readMap(answer.body()), path);
  }

  private static HttpResponse<String> setClock(Instant now) {
    return operator("PUT", "/" + merchant + "/clock", Map.of("now", now.toString()));
  }

  @Test
  @Order(1)
  void aWholeStory() throws Exception {
    String whole = "\"members\":5,\"unanswered\":[]";
    assertThat(eventually(() -> http().ready().body(), body -> body.contains(whole)))
        .contains(whole);
    HttpResponse<String> created =
        operator("POST", "", Map.of("name", "Roles", "environment", "test"));
    merchant = at(created, 201, "id");
    key = at(created, 201, "apiKey.key");
    at(operator("PUT", "/" + merchant + "/catalog", CatalogParser.yaml(CATALOG)), 200, "changes");
    HttpResponse<String> customer =
        http().external("POST", "/external/customers", key, Map.of("externalId", "one")).join();
    List<Map<String, Object>> events =
        IntStream.range(0, EVENTS).mapToObj(i -> event(at(customer, 201, "id"), i)).toList();

    HttpResponse<String> stored = http().external("POST", "/external/event", key, events).join();

    assertThat(this.<Number>accepted(stored)).isEqualTo(EVENTS);
    assertThat(setClock(Instant.now().plus(Duration.ofDays(40))).statusCode()).isEqualTo(200);
    List<Map<String, Object>> invoices =
        at(operator("GET", "/" + merchant + "/invoices?order=asc", null), 200, "results");
    assertThat(invoices).hasSize(2);
    // the next month in advance, and 200 requests at 0.002
    assertThat(new BigDecimal(invoices.get(1).get("total").toString()))
        .isEqualByComparingTo("49.4");
    assertThat(this.<Boolean>clean()).isTrue();
  }

  private <T> T accepted(HttpResponse<String> answer) {
    return at(answer, 202, "accepted");
  }

  private <T> T clean() {
    return at(operator("GET", "/" + merchant + "/integrity", null), 200, "clean");
  }

  private static Map<String, Object> event(Object customer, int number) {
    return Map.of(
        "customerId",
        customer,
        "eventName",
        "api.request",
        "generatedAt",
        Instant.now().toString(),
        "idempotencyKey",
        "event-" + number,
        "data",
        Map.of("count", 1));
  }

  @Test
  @Order(2)
  void eachNodeDoesItsPartOnly() {
    NODES.forEach(
        (number, node) -> {
          String metrics = node.operator("GET", "/metrics", null).join().body();
          assertThat(metrics.contains("address=\"billing.usage\"")).isEqualTo(number == STORING);
          assertThat(metrics.contains("steelyard_aggregation_events_total"))
              .isEqualTo(number == COUNTING);
        });
  }

  @Test
  @Order(3)
  void whatNobodyDoesIsRefusedAtOnceAndDoneWhenSomebodyComes() throws Exception {
    NODES.get(BILLING).kill();
    String path = "/" + merchant + "/invoices";
    assertThat(
            eventually(() -> operator("GET", path, null).body(), body -> body.contains("serving")))
        .contains("not_serving");

    Instant askedAt = Instant.now();
    HttpResponse<String> refused = operator("GET", path, null);

    assertThat(Duration.between(askedAt, Instant.now())).isLessThan(Duration.ofSeconds(5));
    assertThat(refused.statusCode()).isEqualTo(503);
    assertThat(refused.headers().firstValue("retry-after")).isPresent();
    assertThat(setClock(Instant.now().plus(Duration.ofDays(80))).statusCode()).isEqualTo(503);
    HttpResponse<String> read = http().external("GET", "/external/customers", key, null).join();
    assertThat(read.statusCode()).as("all else goes on").isEqualTo(200);

    start(STANDBY);

    assertThat(eventually(() -> operator("GET", path, null).statusCode(), is -> is == 200))
        .isEqualTo(200);
    assertThat(setClock(Instant.now().plus(Duration.ofDays(80))).statusCode()).isEqualTo(200);
    List<?> invoices = at(operator("GET", path, null), 200, "results");
    assertThat(invoices).hasSize(3);
    assertThat(this.<Boolean>clean()).isTrue();
  }

  @Test
  @Order(4)
  void whoHasAnotherSecretIsNotLetIn() throws Exception {
    Map<String, String> own = settings.get(BILLING);
    CommandProcess stranger =
        new CommandProcess(dir)
            .with("STEELYARD_DATABASE_URL", TestApp.url(database))
            .with("STEELYARD_OPERATOR_TOKEN", TestApp.OPERATOR_TOKEN)
            .with("STEELYARD_HTTP_PORT", "0")
            .with("STEELYARD_MANAGEMENT_PORT", "0")
            .with("STEELYARD_CLUSTER_ENABLED", "true")
            .with("STEELYARD_CLUSTER_PORT", own.get("cluster.port"))
            .with("STEELYARD_CLUSTER_EVENT_BUS_PORT", own.get("cluster.eventBusPort"))
            .with("STEELYARD_CLUSTER_MEMBERS", own.get("cluster.members"))
            .with("STEELYARD_CLUSTER_SECRET", "another secret, as long");

    CommandProcess.Outcome ended = stranger.run();

    assertThat(ended.code()).as(ended.err()).isEqualTo(1);
    assertThat(ended.err()).contains("cannot join the cluster", "does not share cluster.secret");
    assertThat(eventually(() -> http().ready().body(), body -> body.contains("\"members\":5")))
        .contains("\"members\":5");
  }
}
