package io.steelyard.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.json.Json;
import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What needs no token on the management port. */
class HealthIT {
  private static TestApp app;

  @BeforeAll
  static void start() {
    app = TestApp.start();
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static Answer get(String path) {
    return app.management("GET", path).undocumented().send(200);
  }

  @Test
  void theProcessIsLiveAndReady() {
    assertThat(get("/health/live").object()).containsEntry("status", "up");
    assertThat(get("/health/ready").object())
        .isEqualTo(
            Map.of(
                "status", "up",
                "database", "up",
                "schema", "up",
                "serving", true,
                "phase", "serving"));
    assertThat(get("/health/ready").header("cache-control")).isEqualTo("no-store");
  }

  @Test
  void theMetricsCountWhatTheServiceDoes() throws Exception {
    Merchant merchant = app.merchant("test", Merchant.CATALOG);
    String customer = (String) merchant.createCustomer("one").get("id");
    Map<String, Object> event = merchant.event(customer, "api.request", 1, "k");
    merchant.post("/external/event", List.of(event, event));
    merchant.call("GET", "/external/customers/none").send(404);

    // Noted behind the answer, which is here already.
    String metrics = Merchant.eventually(() -> get("/metrics").text(), HealthIT::countsTheUnknown);

    assertThat(metrics).matches(HealthIT::countsTheUnknown);
    assertThat(metrics)
        .contains("# HELP steelyard_http_requests_seconds")
        .contains("steelyard_ingest_accepted_total 1.0")
        .contains("steelyard_ingest_duplicates_total 1.0")
        .contains("steelyard_ingest_conflicts_total 0.0")
        .contains("steelyard_ingest_buffered 0.0")
        .contains("steelyard_ingest_flush_events_count")
        .contains("steelyard_ingest_flush_time_seconds_count")
        .contains("steelyard_http_refused_total 0.0")
        .contains("steelyard_bus_refused_total{address=\"billing.customer\"} 0.0")
        .contains("steelyard_gateway_retries_total")
        .contains("jvm_memory_used_bytes")
        .contains("vertx_");
  }

  private static boolean countsTheUnknown(String metrics) {
    return metrics
        .lines()
        .filter(line -> line.startsWith("steelyard_http_requests_seconds_count"))
        .filter(line -> line.contains("route=\"/external/customers/{id}\""))
        .anyMatch(line -> line.contains("status=\"404\""));
  }

  @Test
  void noIdNoKeyAndNoPathOfARequestBecomesALabel() {
    Merchant merchant = app.merchant("test", Merchant.CATALOG);
    String customer = (String) merchant.createCustomer("the-one").get("id");
    merchant.call("GET", "/external/customers/" + customer).send(200);
    app.external("GET", "/a/path/of/my/own").undocumented().send(404);

    assertThat(get("/metrics").text())
        .doesNotContain(customer)
        .doesNotContain(merchant.id())
        .doesNotContain(merchant.key())
        .doesNotContain("the-one")
        .doesNotContain("/a/path/of/my/own");
  }

  @Test
  void withoutItsSchemaItIsNotReady() throws Exception {
    try (TestApp own = TestApp.start();
        Connection sql = own.database().connect();
        Statement statement = sql.createStatement()) {
      statement.execute("UPDATE flyway_schema_history SET success = false");
      Answer notMigrated = own.management("GET", "/health/ready").undocumented().send(503);
      assertThat(notMigrated.object())
          .containsEntry("database", "up")
          .containsEntry("schema", "down")
          .containsEntry("serving", true);

      statement.execute("DROP TABLE flyway_schema_history");
      assertThat(own.management("GET", "/health/ready").undocumented().send(503).object())
          .containsEntry("database", "up")
          .containsEntry("schema", "down");
    }
  }

  /** The command of the Dockerfile, as its shell runs it in the container. */
  @Test
  void theContainersCheckTellsReadyFromNot() throws Exception {
    String dockerfile = Files.readString(Path.of("docker/Dockerfile"));
    String command =
        dockerfile.split("HEALTHCHECK [^\\[]*CMD ", 2)[1].lines().findFirst().orElseThrow();
    List<String> check = new ArrayList<>();
    for (Object part : Json.MAPPER.readValue(command, List.class)) {
      check.add(((String) part).replace("/8081", "/" + app.managementPort()));
    }
    assertThat(exitCode(check)).isZero();

    check.replaceAll(part -> part.replace("/health/ready", "/health/none"));
    assertThat(exitCode(check)).isNotZero();
  }

  private static int exitCode(List<String> command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
    return process.exitValue();
  }

  @Test
  void whatIsNotThereIsNotFound() {
    assertThat(app.management("GET", "/external/customers").undocumented().send().status())
        .isEqualTo(404);
    assertThat(app.management("GET", "/health").undocumented().send().status()).isEqualTo(404);
  }
}
