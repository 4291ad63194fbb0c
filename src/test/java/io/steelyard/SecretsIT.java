package io.steelyard;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.db.Endpoint;
import io.steelyard.json.Json;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.ServiceProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What must stay secret is looked for in all that a process shows, with its log at its fullest. */
class SecretsIT {
  private static final String TOKEN = "tokenOfTheOperator-7f3a9c";
  private static final String PASSWORD = "passwordOfTheDatabase-51be";
  private static final String ENCRYPTION_KEY = "c2VjcmV0LWtleS1vZi0zMi1ieXRlcy1mb3ItdGVzdHM=";
  private static final String GATEWAY_SECRET = "secretOfTheGateway-d20c";
  private static final String UNKNOWN_KEY = "sk_live_" + "k".repeat(43);
  private static final String UNKNOWN_TOKEN = "tokenOfSomebodyElse-aa10";

  @TempDir Path dir;
  private final HttpClient client = HttpClient.newHttpClient();
  private final Endpoint database = PostgresSupport.migratedDatabase();
  private final Map<String, String> secrets = new LinkedHashMap<>();

  /** All that the service has told: answers with errors, metrics, documents. */
  private final List<String> told = new ArrayList<>();

  private ServiceProcess service;

  private String url() {
    String role = database.database() + "_service";
    PostgresSupport.execute(
        database,
        "CREATE ROLE " + role + " LOGIN PASSWORD '" + PASSWORD + "'",
        "GRANT " + database.user() + " TO " + role);
    return "postgresql://%s:%s@%s:%d/%s"
        .formatted(role, PASSWORD, database.host(), database.port(), database.database());
  }

  /** Everything that anything in the process says. */
  private void logEverything() throws IOException {
    String shipped = Files.readString(Path.of("conf/logback.xml"));
    Files.createDirectory(dir.resolve("conf"));
    Files.writeString(
        dir.resolve("conf/logback.xml"),
        shipped
            .replaceAll("<logger [^>]*/>", "")
            .replace("<root level=\"INFO\">", "<root level=\"TRACE\">")
            // all of it, however long it takes
            .replace(
                "<neverBlock>true</neverBlock>", "<discardingThreshold>0</discardingThreshold>"));
  }

  private String call(String base, String method, String path, String body, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(base + path))
            .method(method, BodyPublishers.ofString(body))
            .header("content-type", "application/json");
    if (headers.length > 0) {
      request.headers(headers);
    }
    try {
      return client.send(request.build(), BodyHandlers.ofString()).body();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private String operator(String method, String path, Map<String, ?> body) {
    return call(
        service.management(),
        method,
        path,
        Json.encodeText(body),
        "authorization",
        "Bearer " + TOKEN);
  }

  private void told(String answer) {
    told.add(answer);
  }

  private void useEverything() {
    Map<String, Object> created =
        Json.readMap(
            operator("POST", "/operator/merchants", Map.of("name", "Shop", "environment", "test")));
    String merchant = "/operator/merchants/" + created.get("id");
    String key = (String) ((Map<?, ?>) created.get("apiKey")).get("key");
    secrets.put("API key", key);
    Map<String, Object> publishable =
        Json.readMap(operator("POST", merchant + "/api-keys", Map.of("type", "publishable")));
    secrets.put("publishable key", (String) publishable.get("key"));
    // Nobody is there, so that each call of it fails and is told of in the log.
    told(
        operator(
            "PUT",
            merchant + "/gateway-connections/CardGateway",
            Map.of("kind", "http", "baseUrl", "http://127.0.0.1:1", "secret", GATEWAY_SECRET)));
    String api = service.api();
    String customer = "{\"externalId\": \"one\"}";
    told(call(api, "POST", "/external/customers", customer, "x-api-key", key));
    told(
        call(
            api,
            "POST",
            "/external/customers/external-id/one/card-gateway/checkout-sessions/setup",
            "{\"successUrl\": \"https://shop.example/done\"}",
            "x-api-key",
            key));
    told(call(api, "POST", "/external/customers", customer, "x-api-key", key)); // taken
    told(call(api, "POST", "/external/customers", "{", "x-api-key", key));
    told(call(api, "GET", "/external/customers?key=1", "", "x-api-key", key));
    String forbidden = (String) publishable.get("key");
    told(call(api, "GET", "/external/customers", "", "x-api-key", forbidden));
    told(call(api, "GET", "/external/customers", "", "x-api-key", UNKNOWN_KEY));
    String management = service.management();
    told(call(management, "POST", merchant + "/api-keys", "{}", "authorization", UNKNOWN_TOKEN));
    told(
        operator(
            "PUT", merchant + "/gateway-connections/LedgerA", Map.of("secret", GATEWAY_SECRET)));
    breakKeysAndCustomers();
    told(call(api, "POST", "/external/customers", "{\"externalId\": \"2\"}", "x-api-key", key));
    told(operator("POST", merchant + "/api-keys", Map.of("type", "secret")));
    told(call(management, "GET", "/metrics", ""));
    told(call(management, "GET", "/health/ready", ""));
    told(call(management, "GET", "/openapi.json", ""));
  }

  /** What the database refuses ends in exceptions, with what it was asked to store. */
  private void breakKeysAndCustomers() {
    PostgresSupport.execute(
        database,
        """
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'refused %', NEW; END $$
        """,
        "CREATE TRIGGER refuse BEFORE INSERT ON customer FOR EACH ROW EXECUTE FUNCTION refuse()",
        "CREATE TRIGGER refuse BEFORE INSERT ON api_key FOR EACH ROW EXECUTE FUNCTION refuse()");
  }

  @Test
  void noSecretIsInTheLogAnErrorTheMetricsOrTheListOfProcesses() throws Exception {
    secrets.put("operator token", TOKEN);
    secrets.put("database password", PASSWORD);
    secrets.put("encryption key", ENCRYPTION_KEY);
    secrets.put("gateway secret", GATEWAY_SECRET);
    secrets.put("unknown key", UNKNOWN_KEY);
    secrets.put("unknown token", UNKNOWN_TOKEN);
    logEverything();
    Map<String, String> environment =
        Map.of(
            "STEELYARD_OPERATOR_TOKEN", TOKEN,
            "STEELYARD_DATABASE_URL", url(),
            "STEELYARD_SECURITY_ENCRYPTION_KEY", ENCRYPTION_KEY);
    try (ServiceProcess started =
        ServiceProcess.start(
            dir, environment, Map.of("gateway.backoffMs", "10", "log.access", "all"))) {
      service = started;
      useEverything();
      told.addAll(commandLines(service.handle()));
      assertThat(service.stop()).isZero();
    }
    String log = service.output() + service.errors();

    assertThat(log).contains("refused (", "gave up", "\"level\":\"TRACE\"", "\"level\":\"ERROR\"");
    assertThat(told).anyMatch(text -> text.contains("\"status\":500"));
    secrets.forEach(
        (name, secret) -> {
          assertThat(log.indexOf(secret)).as("%s in the log", name).isNegative();
          assertThat(told).as(name).noneMatch(text -> text.contains(secret));
        });
  }

  /** As any user of the machine may read them. */
  private static List<String> commandLines(ProcessHandle process) throws IOException {
    List<String> lines = new ArrayList<>();
    for (ProcessHandle each : Stream.concat(Stream.of(process), process.descendants()).toList()) {
      Path file = Path.of("/proc", Long.toString(each.pid()), "cmdline");
      lines.add(
          Files.exists(file)
              ? new String(Files.readAllBytes(file), StandardCharsets.UTF_8)
              : each.info().commandLine().orElse(""));
    }
    assertThat(lines).first().asString().containsAnyOf("io.steelyard.Main", "steelyard.jar");
    return lines;
  }
}
