package io.steelyard;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.db.Endpoint;
import io.steelyard.json.Json;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.RawHttp;
import io.steelyard.support.RawHttp.Response;
import io.steelyard.support.ServiceProcess;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The log of a real process: what is in it, and that nobody outside can write a line of it. */
class LogIT {
  /** A line as the service would write it, or what would look like one on a terminal. */
  private static final String FORGED =
      "\\r\\n{\\\"level\\\":\\\"ERROR\\\",\\\"forged\\\":true}\\n"
          + "2026-01-01T00:00:00.000Z ERROR [main] Forged - it\\n"
          + "\\tat forged\\u001b[2J\\u001b[31m\\u0085\\u2028\\u2029\\u0007\\u009b31m";

  private static final Pattern TEXT_LINE =
      Pattern.compile(
          "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z (INFO |WARN |ERROR) \\[[^\\]]+] \\w+ - .*"
              + "|\\t.*");

  @TempDir Path dir;
  private final Endpoint database = PostgresSupport.migratedDatabase();

  /** What a start says to people, at its end. */
  private static final Pattern BANNER =
      Pattern.compile("|Steelyard is ready|  [A-Z][a-z]* .*|  API .*");

  private String key(ServiceProcess service) {
    Map<String, Object> created =
        Json.readMap(
            service
                .operator(
                    "POST", "/operator/merchants", Map.of("name", "Shop", "environment", "test"))
                .join()
                .body());
    return (String) ((Map<?, ?>) created.get("apiKey")).get("key");
  }

  /** Whatever is stored of a customer with such an id ends in the message of an exception. */
  private void breakCustomers() {
    PostgresSupport.execute(
        database,
        """
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'refused %', NEW.external_id; END $$
        """,
        "CREATE TRIGGER refuse BEFORE INSERT ON customer FOR EACH ROW EXECUTE FUNCTION refuse()");
  }

  private static Response send(int port, String head, String body) {
    try (RawHttp http = RawHttp.connect(port)) {
      String length = body.isEmpty() ? "" : "Content-Length: " + body.length() + "\n";
      return http.send(head + "Host: a\n" + length + "\n" + body).read();
    }
  }

  private void attack(ServiceProcess service, String key) {
    int port = URI.create(service.api()).getPort();
    int management = URI.create(service.management()).getPort();
    String auth = "x-api-key: " + key + "\nContent-Type: application/json\n";
    String customer = "{\"externalId\": \"" + FORGED + "\"}";
    assertThat(
            send(
                    port,
                    "POST /external/customers HTTP/1.1\nx-request-id: broken-1\n" + auth,
                    customer)
                .status())
        .isEqualTo(500);
    String event =
        "{\"customerId\": \"%s\", \"eventName\": \"%s\", \"userId\": \"%s\","
            + " \"generatedAt\": \"2026-01-01T00:00:00Z\", \"data\": {\"%s\": 1}}";
    assertThat(
            send(
                    port,
                    "POST /external/event HTTP/1.1\nx-request-id: stored-1\n" + auth,
                    event.formatted(FORGED, FORGED, FORGED, FORGED))
                .status())
        .isEqualTo(202);
    String path = "/external/customers/%0d%0a%7B%22forged%22:1%7D%1b%5b31m";
    assertThat(
            send(port, "GET " + path + " HTTP/1.1\nx-request-id: absent-1\n" + auth, "").status())
        .isEqualTo(404);
    for (int each : List.of(port, management)) {
      send(each, "GET /%0a%7B%22forged%22:1%7D HTTP/1.1\n", "");
      send(each, "GET /\u001b[31mforged HTTP/1.1\n", "");
      send(each, "FORGED\u0007 / HTTP/1.1\n", "");
      send(each, "FORGED / HTTP/1.1\n", "");
      send(each, "GET /external/customers HTTP/1.1\nx-request-id: \u001b[31m{forged\n", "");
      send(each, "GET /external/customers HTTP/1.1\nx-forwarded-for: 1\n {\"forged\":1}\n", "");
      send(each, "GET /external/customers HTTP/1.1\nuser-agent: a\r{\"forged\":1}\n", "");
      send(each, "GET /external/customers HTTP/1.1\nx-api-key: \u001b{\"forged\":1}\n", "");
      send(each, "POST /operator/merchants HTTP/1.1\nauthorization: Bearer \u001b{forged\n", "");
    }
    send(management, "GET /health/ready HTTP/1.1\nx-request-id: probe-1\n", "");
  }

  private static Map<String, Object> access(List<Map<String, Object>> lines, String requestId) {
    return lines.stream()
        .filter(line -> "access".equals(line.get("logger")))
        .filter(line -> requestId.equals(line.get("requestId")))
        .reduce((one, other) -> Map.of("twice", requestId))
        .orElse(Map.of());
  }

  @Test
  void everyLineIsJsonAndNobodyCanForgeOne() {
    String output;
    String errors;
    try (ServiceProcess service = ServiceProcess.start(dir, database, Map.of())) {
      String key = key(service);
      breakCustomers();
      attack(service, key);
      assertThat(service.stop()).isZero();
      output = service.output();
      errors = service.errors();
    }

    assertThat(errors).isEmpty();
    assertThat(output).doesNotContain("\u001b", "\u0007", "\r");
    List<Map<String, Object>> lines = output.lines().map(Json::readMap).toList();
    assertThat(lines)
        .allSatisfy(
            line ->
                assertThat(line)
                    .containsKeys("timestamp", "level", "logger", "thread", "message")
                    .doesNotContainKey("forged"));
    assertThat(lines)
        .filteredOn(line -> "ERROR".equals(line.get("level")))
        .singleElement()
        .satisfies(
            line ->
                assertThat(line)
                    .containsEntry("requestId", "broken-1")
                    .extractingByKey("exception")
                    .asString()
                    .contains("refused \r\n{\"level\"")); // it did come that far
    assertThat(access(lines, "broken-1"))
        .containsEntry("status", 500)
        .containsEntry("method", "POST")
        .containsEntry("route", "/external/customers")
        .containsKeys("durationMs", "requestBytes", "responseBytes")
        .extractingByKey("merchantId")
        .asString()
        .startsWith("mer_");
    assertThat(access(lines, "absent-1"))
        .containsEntry("status", 404)
        .containsEntry("route", "/external/customers/{id}");
    assertThat(access(lines, "stored-1")).isEmpty(); // too many to be told of
    assertThat(access(lines, "probe-1")).isEmpty();
    assertThat(lines)
        .filteredOn(line -> "access".equals(line.get("logger")))
        .filteredOn(line -> Integer.valueOf(400).equals(line.get("status")))
        .isNotEmpty();
  }

  @Test
  void textHasOneLineForEachEventTooAndNobodyCanForgeOne() {
    String output;
    try (ServiceProcess service =
        ServiceProcess.start(dir, database, Map.of("log.format", "text", "log.access", "all"))) {
      String key = key(service);
      breakCustomers();
      attack(service, key);
      assertThat(service.stop()).isZero();
      output = service.output();
    }

    assertThat(output.lines().filter(line -> !BANNER.matcher(line).matches()))
        .isNotEmpty()
        .allMatch(line -> TEXT_LINE.matcher(line).matches());
    assertThat(output.lines().filter(line -> line.startsWith("2026-01-01"))).isEmpty();
    assertThat(output.lines().filter(line -> line.startsWith("{"))).isEmpty();
    assertThat(output).doesNotContain("\u001b", "\u0007", "\r", "\u0085", "\u2028", "\u009b");
    assertThat(output).contains("requestId=\"stored-1\"", "requestId=\"probe-1\"", "refused  ");
  }

  @Test
  void noneMeansNoLineForRequests() {
    String output;
    try (ServiceProcess service =
        ServiceProcess.start(dir, database, Map.of("log.access", "none"))) {
      key(service);
      send(URI.create(service.api()).getPort(), "GET /nothing HTTP/1.1\n", "");
      assertThat(service.stop()).isZero();
      output = service.output();
    }

    assertThat(output.lines().map(Json::readMap))
        .isNotEmpty()
        .noneMatch(line -> "access".equals(line.get("logger")));
  }
}
