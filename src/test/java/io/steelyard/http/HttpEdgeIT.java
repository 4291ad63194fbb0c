package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.json.Json;
import io.steelyard.support.Merchant;
import io.steelyard.support.Operations;
import io.steelyard.support.RawHttp;
import io.steelyard.support.RawHttp.Response;
import io.steelyard.support.TestApp;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Methods, paths, parameters and connections, byte by byte. */
class HttpEdgeIT {
  private static TestApp app;
  private static Merchant merchant;

  @BeforeAll
  static void start() {
    app = TestApp.start();
    merchant = app.merchant("test", null);
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static String get(String target) {
    return "GET " + target + " HTTP/1.1\nHost: a\n" + key() + "\n";
  }

  private static String key() {
    return "X-Api-Key: " + merchant.key() + "\n";
  }

  private static Response ask(String request) {
    try (RawHttp http = RawHttp.connect(app.port())) {
      return http.send(request).read();
    }
  }

  private static Map<String, Object> problem(Response response) {
    assertThat(response.header("content-type")).isEqualTo("application/problem+json");
    Map<String, Object> problem = Json.readMap(response.body());
    assertThat(problem)
        .containsEntry("status", response.status())
        .containsEntry("requestId", response.header("x-request-id"));
    return problem;
  }

  @Test
  void everyPathAnswersEveryOtherMethodWith405AndWhatItAllows() {
    Map<String, TreeSet<String>> methods =
        Operations.external().stream()
            .collect(
                Collectors.groupingBy(
                    operation -> operation.path().replaceAll("\\{[^}]+}", "x"),
                    TreeMap::new,
                    Collectors.mapping(
                        Operations.Operation::method, Collectors.toCollection(TreeSet::new))));
    // customers/upsert/bulk and the like are not ids, and the other way round
    assertThat(methods).hasSizeGreaterThan(10);
    methods.forEach(
        (path, allowed) -> {
          for (String method : new String[] {"GET", "POST", "PUT", "PATCH", "DELETE", "BREW"}) {
            if (!allowed.contains(method)) {
              Response response =
                  ask(method + " " + path + " HTTP/1.1\nHost: a\nContent-Length: 0\n\n");
              assertThat(response.status()).as(method + " " + path).isEqualTo(405);
              assertThat(response.header("allow")).isEqualTo(String.join(", ", allowed));
              assertThat(problem(response)).containsEntry("code", "method_not_allowed");
            }
          }
        });
  }

  @ParameterizedTest
  @CsvSource({
    "HEAD, /external/customers, 405",
    "HEAD, /external/nothing, 404",
    "HEAD, /openapi.json, 200",
    "OPTIONS, /external/customers, 405",
    "OPTIONS, *, 404",
    "TRACE, /external/customers, 405",
    "CONNECT, a:80, 404",
  })
  void methodsThatAskForNoRepresentationAreAnsweredWithoutBreakingTheConnection(
      String method, String target, int status) {
    try (RawHttp http = RawHttp.connect(app.port())) {
      http.send(method + " " + target + " HTTP/1.1\nHost: a\n\n" + get("/external/customers"));
      Response first = method.equals("HEAD") ? http.readHead() : http.read();

      assertThat(first.status()).isEqualTo(status);
      assertThat(http.read().status()).isEqualTo(200);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/",
        "/external",
        "/external/",
        "/external/customer",
        "/External/customers",
        "/..",
        "//",
        "/external//customers",
        "/external/customers/a/b",
        "/external/event//",
        "/external/./event",
        "/external/customers%2Fa/x",
        "/%00",
        "/metrics",
        "/health/ready",
      })
  void anUnknownPathIsNotFound(String path) {
    Response response = ask(get(path));

    assertThat(response.status()).isEqualTo(404);
    assertThat(problem(response)).containsEntry("code", "route_not_found");
  }

  @ParameterizedTest
  @CsvSource({
    "/external/customers/%00, id, encoding",
    "/external/customers/%C0%80, id, encoding",
    "/external/customers/%ED%A0%80, id, encoding",
    "/external/customers/%FF, id, encoding",
    "/external/customers/, id, min_length",
    "/external/subscriptions//expanded, id, min_length",
    "/external/customers/external-id//transactions, externalId, min_length",
    "/external/customers/external-id/a/customPricingUnits//usage, customPricingUnitId, min_length",
    "/external/invoices//with-line-items, invoiceId, min_length",
    "/external/customers?name=%, name, encoding",
    "/external/customers?name=%C0%80, name, encoding",
    "/external/customers?name=a%00, name, encoding",
    "/external/customers?%ff=a, query, encoding",
    "/external/customers?name=, name, min_length",
    "/external/customers?name, name, min_length",
    "/external/customers?name=a&name=a, name, repeated",
    "/external/customers?nome=a, nome, unknown_parameter",
    "/external/customers?page=1%20, page, type",
    "/external/customers?page=٣, page, type",
  })
  void aParameterThatCannotBeReadIsNamed(String target, String parameter, String code) {
    Response response = ask(get(target));

    assertThat(response.status()).isEqualTo(400);
    assertThat(problem(response).get("errors"))
        .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.list(Map.class))
        .singleElement()
        .extracting(fault -> fault.get("parameter") + " " + fault.get("code"))
        .isEqualTo(parameter + " " + code);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/external/%", "/external/customers/%4", "/external/customers/%zz"})
  void anEscapeThatIsNoneMakesTheWholePathUnreadable(String path) {
    Response response = ask(get(path));

    assertThat(response.status()).isEqualTo(400);
    assertThat(problem(response)).containsEntry("code", "malformed_request");
  }

  @Test
  void escapesInThePathAreDecodedOnceAndASlashInAnIdStaysInIt() {
    merchant.createCustomer("a/b c%41+ü");
    String path = "/external/customers/external-id/a%2Fb%20c%2541+%C3%BC/transactions";

    assertThat(ask(get(path)).status()).isEqualTo(200);
    assertThat(ask(get("/external/customers?externalId=a/b+c%2541%2B%C3%BC")).body())
        .contains("\"count\":1");
  }

  @Test
  void http10IsAnsweredAndItsConnectionClosed() {
    try (RawHttp http = RawHttp.connect(app.port())) {
      http.send("GET /external/customers HTTP/1.0\nHost: a\n" + key() + "\n");

      assertThat(http.read().status()).isEqualTo(200);
      assertThat(http.isClosedByServer()).isTrue();
    }
  }

  @Test
  void pipelinedRequestsAreAnsweredInTheirOrder() {
    try (RawHttp http = RawHttp.connect(app.port())) {
      StringBuilder requests = new StringBuilder();
      for (int i = 0; i < 20; i++) {
        String id = "X-Request-Id: pipelined-" + i + "\n";
        requests.append(
            i % 3 == 0
                ? "POST /external/customers HTTP/1.1\nHost: a\nContent-Type: application/json\n"
                    + key()
                    + id
                    + "Content-Length: 2\n\n{}"
                : "GET /external/"
                    + (i % 3 == 1 ? "customers" : "nothing")
                    + " HTTP/1.1\nHost: a\n"
                    + key()
                    + id
                    + "\n");
      }
      http.send(requests.toString());
      for (int i = 0; i < 20; i++) {
        Response response = http.read();

        assertThat(response.header("x-request-id")).isEqualTo("pipelined-" + i);
        assertThat(response.status()).isEqualTo(new int[] {400, 200, 404}[i % 3]);
      }
    }
  }

  @Test
  void aSaneRequestIdIsEchoedOnEveryAnswerAndAnotherReplaced() {
    for (String target : new String[] {"/external/customers", "/nothing", "/openapi.json"}) {
      for (String id : new String[] {"a-B_9.x", "x".repeat(64)}) {
        assertThat(requestId(target, "X-Request-Id: " + id + "\n")).isEqualTo(id);
      }
      for (String id : new String[] {"", "x".repeat(65), "a b", "a\"b", "<a>", "a,b", "\u00fc"}) {
        assertThat(requestId(target, "X-Request-Id: " + id + "\n")).matches("[0-9a-f-]{36}");
      }
      assertThat(requestId(target, "")).isNotEqualTo(requestId(target, ""));
    }
    assertThat(ask("GET / HTTP/1.1\nX-Request-Id: mine\n\n").header("x-request-id"))
        .isEqualTo("mine");
    assertThat(ask("nonsense\n\n").header("x-request-id")).matches("[0-9a-f-]{36}");
  }

  private static String requestId(String target, String header) {
    return ask("GET " + target + " HTTP/1.1\nHost: a\n" + header + "\n").header("x-request-id");
  }
}
