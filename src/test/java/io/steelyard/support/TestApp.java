package io.steelyard.support;

import io.steelyard.Service;
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
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The whole service on free ports and a database of its own, and a client that checks every answer
 * it sees against the OpenAPI document.
 */
public final class TestApp implements AutoCloseable {
  public static final String OPERATOR_TOKEN = "operator-token-of-the-tests";

  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final Service service;
  private final Endpoint database;
  private final HttpClient client =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
  private final Contract external = Contract.external();
  private final Contract operator = Contract.operator();

  private TestApp(Service service, Endpoint database) {
    this.service = service;
    this.database = database;
  }

  public static TestApp start() {
    return start(Map.of());
  }

  /**
   * @param settings dotted names and their values, over the defaults
   */
  public static TestApp start(Map<String, String> settings) {
    return start(PostgresSupport.migratedDatabase(), settings);
  }

  /** On a database that exists already, e.g. that of an app which was closed. */
  public static TestApp start(Endpoint database, Map<String, String> settings) {
    Map<String, String> all = new HashMap<>();
    all.put("database.url", url(database));
    all.put("database.distribution", CitusSupport.made(database) ? "citus" : "none");
    all.put("operator.token", OPERATOR_TOKEN);
    all.putAll(settings);
    try {
      Service service =
          Service.start(TestConfig.with(all)).await(LIMIT.toSeconds(), TimeUnit.SECONDS);
      return new TestApp(service, database);
    } catch (TimeoutException e) {
      throw new IllegalStateException(e);
    }
  }

  public static String url(Endpoint database) {
    String password = database.password().isEmpty() ? "none" : database.password();
    return "postgresql://%s:%s@%s:%d/%s"
        .formatted(
            database.user(), password, database.host(), database.port(), database.database());
  }

  public Service service() {
    return service;
  }

  public Endpoint database() {
    return database;
  }

  public int port() {
    return service.port("http");
  }

  public int managementPort() {
    return service.port("management");
  }

  /** A request of the external API. */
  public Call external(String method, String path) {
    return new Call(method, path, "http://127.0.0.1:" + port(), external);
  }

  /** A request of the management port with the operator's token. */
  public Call operator(String method, String path) {
    return management(method, path).header("authorization", "Bearer " + OPERATOR_TOKEN);
  }

  /** A request of the management port without a token. */
  public Call management(String method, String path) {
    return new Call(method, path, "http://127.0.0.1:" + managementPort(), operator);
  }

  /** A new merchant with an applied catalogue, in YAML; null for none. */
  public Merchant merchant(String environment, String catalogYaml) {
    return merchant(environment, "UTC", catalogYaml);
  }

  /** As {@link #merchant(String, String)}, in a time zone. */
  public Merchant merchant(String environment, String timezone, String catalogYaml) {
    Map<String, Object> created =
        operator("POST", "/operator/merchants")
            .json(Map.of("name", "Merchant", "environment", environment, "timezone", timezone))
            .send(201)
            .object();
    Merchant merchant =
        new Merchant(this, (String) created.get("id"), Answer.at(created, "apiKey.key"));
    if (catalogYaml != null) {
      merchant.applyCatalog(catalogYaml);
    }
    return merchant;
  }

  @Override
  public void close() {
    service.stop().await();
    client.close();
  }

  /** One request to be. */
  public final class Call {
    private final String method;
    private final String path;
    private final Contract contract;
    private final HttpRequest.Builder request;
    private boolean documented = true;

    private Call(String method, String path, String base, Contract contract) {
      this.method = method;
      this.path = path;
      this.contract = contract;
      this.request = HttpRequest.newBuilder(URI.create(base + path)).timeout(LIMIT);
      request.method(method, BodyPublishers.noBody());
    }

    public Call key(String apiKey) {
      return header("x-api-key", apiKey);
    }

    public Call header(String name, String value) {
      request.header(name, value);
      return this;
    }

    public Call json(Object value) {
      return json(Json.encodeText(value));
    }

    public Call json(String text) {
      return body(text.getBytes(StandardCharsets.UTF_8), "application/json");
    }

    public Call body(byte[] bytes, String contentType) {
      request.method(method, BodyPublishers.ofByteArray(bytes));
      return header("content-type", contentType);
    }

    /** For paths and methods that the document does not have. */
    public Call undocumented() {
      documented = false;
      return this;
    }

    public Answer send() {
      try {
        HttpResponse<byte[]> response = client.send(request.build(), BodyHandlers.ofByteArray());
        Answer answer = new Answer(response);
        if (documented) {
          contract.check(method, path.split("\\?", 2)[0], answer);
        }
        return answer;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }

    /** Sends and insists on the status. */
    public Answer send(int status) {
      Answer answer = send();
      if (answer.status() != status) {
        throw new AssertionError(
            "%s %s: expected %d but was %d: %s"
                .formatted(method, path, status, answer.status(), answer.text()));
      }
      return answer;
    }
  }

  /** What came back. */
  public record Answer(HttpResponse<byte[]> response) {
    public int status() {
      return response.statusCode();
    }

    public String header(String name) {
      return response.headers().firstValue(name).orElse(null);
    }

    public String text() {
      return new String(response.body(), StandardCharsets.UTF_8);
    }

    public Object tree() {
      try {
        return Json.MAPPER.readValue(response.body(), Object.class);
      } catch (IOException e) {
        throw new AssertionError("not JSON: " + text(), e);
      }
    }

    @SuppressWarnings("unchecked")
    public Map<String, Object> object() {
      return (Map<String, Object>) tree();
    }

    public List<?> list() {
      return (List<?>) tree();
    }

    /** The value at a path such as {@code subscriptions.0.plan.id}. */
    public <T> T at(String path) {
      return at(tree(), path);
    }

    @SuppressWarnings("unchecked")
    public static <T> T at(Object tree, String path) {
      Object value = tree;
      for (String step : path.split("\\.")) {
        value =
            value instanceof List<?> list
                ? list.get(Integer.parseInt(step))
                : ((Map<String, Object>) value).get(step);
      }
      return (T) value;
    }

    /** {@code 422 unknown_plan [/0/planId unknown_plan]}: a problem's status, code and faults. */
    public String problem() {
      Map<String, Object> problem = object();
      List<String> faults = problem.containsKey("errors") ? faults() : List.of();
      return status() + " " + problem.get("code") + " " + faults;
    }

    /** {@code pointer code} of every fault, for {@code parameter} faults {@code ?name code}. */
    public List<String> faults() {
      List<Map<String, String>> errors = at("errors");
      return errors.stream()
          .map(
              error ->
                  (error.containsKey("pointer")
                          ? error.get("pointer")
                          : "?" + error.get("parameter"))
                      + " "
                      + error.get("code"))
          .toList();
    }
  }
}
