package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.json.Json;
import io.steelyard.support.Merchant;
import io.steelyard.support.RawHttp;
import io.steelyard.support.RawHttp.Response;
import io.steelyard.support.TestApp;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where a request begins and ends, byte by byte: what leaves that open is refused for good. */
class HttpFramingIT {
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

  /** The problem of an answer after which the server has ended the connection. */
  private static String refusedForGood(int port, String request) {
    try (RawHttp http = RawHttp.connect(port)) {
      Response response = http.send(request).read();
      assertThat(http.isClosedByServer()).as("closed after " + response).isTrue();
      return response.status() + " " + problem(response).get("code");
    }
  }

  private static String refusedForGood(String request) {
    return refusedForGood(app.port(), request);
  }

  private static Map<String, Object> problem(Response response) {
    assertThat(response.header("content-type")).isEqualTo("application/problem+json");
    Map<String, Object> problem = Json.readMap(response.body());
    assertThat(problem)
        .containsEntry("status", response.status())
        .containsEntry("requestId", response.header("x-request-id"));
    return problem;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Xength: 3",
        "content-xength: 3",
        "Content-Xype: text/plain",
        "content-xype: application/json",
      })
  void aHeaderThatLooksLikeOneThatFramesTheBodyIsRefusedOnBothPorts(String header) {
    for (int port : new int[] {app.port(), app.managementPort()}) {
      assertThat(
              refusedForGood(
                  port, "POST /external/event HTTP/1.1\nHost: a\n" + header + "\n\n{}\n"))
          .isEqualTo("400 malformed_request");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /external/customers HTTP/1.1\n\n",
        "GET /external/customers HTTP/1.1\nHost: a\nHost: a\n\n",
        "GET /external/customers HTTP/1.1\nHost: a\nhost: b\n\n",
        "POST /external/event HTTP/1.1\nHost: a\nContent-Length: 2\nContent-Length: 3\n\n{}",
        "POST /external/event HTTP/1.1\nHost: a\nContent-Length: 2\nContent-Length: 2\n\n{}",
        "POST /external/event HTTP/1.1\nHost: a\nContent-Length: 2, 2\n\n{}",
        "POST /external/event HTTP/1.1\nHost: a\nContent-Length: -1\n\n{}",
        "POST /external/event HTTP/1.1\nHost: a\nContent-Length: +2\n\n{}",
        "POST /external/event HTTP/1.1\nHost: a\nContent-Length: 0x2\n\n{}",
        "POST /external/event HTTP/1.1\nHost: a\nContent-Length: 99999999999999999999\n\n{}",
        "POST /external/event HTTP/1.1\nHost: a\nContent-Length: 2\n"
            + "Transfer-Encoding: chunked\n\n2\n{}\n0\n\n",
        "POST /external/event HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n"
            + "Content-Length: 2\n\n2\n{}\n0\n\n",
        "GET /external/customers HTTP/1.1\nHost : a\n\n",
        "GET /external/customers HTTP/1.1\nHost: a\n Folded: b\n\n",
        "GET /external/customers HTTP/1.1\nHost: a\nNo colon\n\n",
        "GET /external/customers HTTP/1.1\nHost: a\nX-\u0001: b\n\n",
        "GET  HTTP/1.1\n\n",
        "nonsense\n\n",
        "PRI * HTTP/2.0\n\nSM\n\n",
        "GET /external/customers HTTP/3.0\nHost: a\n\n",
        "GET /external/customers HTTP/0.9\nHost: a\n\n",
        "\u0016\u0003\u0001\u0002\u00fa\n\n",
      })
  void whatCanBeReadInTwoWaysOrNoneIsRefusedAndTheConnectionClosed(String request) {
    assertThat(refusedForGood(request)).isEqualTo("400 malformed_request");
  }

  @ParameterizedTest
  @ValueSource(strings = {"x\n{}\n0\n\n", "-2\n{}\n0\n\n", "2\n{}}}\n0\n\n", "\n{}\n0\n\n"})
  void aChunkThatCannotBeReadIsRefusedAndTheConnectionClosed(String body) {
    String request =
        "POST /external/event HTTP/1.1\nHost: a\nContent-Type: application/json\n"
            + "Transfer-Encoding: chunked\n";

    assertThat(refusedForGood(request + key() + "\n" + body)).isEqualTo("400 malformed_request");
  }

  @Test
  void headersAndTheRequestLineAreBounded() {
    assertThat(
            refusedForGood(
                "GET /external/customers HTTP/1.1\nHost: a\nX-A: " + "a".repeat(17_000) + "\n\n"))
        .isEqualTo("431 headers_too_large");
    assertThat(
            refusedForGood(
                "GET /external/customers HTTP/1.1\nHost: a\n" + "X-A: aaaa\n".repeat(2000) + "\n"))
        .isEqualTo("431 headers_too_large");
    assertThat(refusedForGood("GET /external/" + "a".repeat(9000) + " HTTP/1.1\nHost: a\n\n"))
        .isEqualTo("414 uri_too_long");
    assertThat(ask(get("/external/customers?name=" + "a".repeat(7000))).status()).isEqualTo(200);
  }

  @Test
  void whatFollowsARefusedRequestOnItsConnectionIsNotTakenForARequest() {
    String smuggled =
        "POST /external/customers HTTP/1.1\nHost: a\nContent-Type: application/json\n"
            + key()
            + "Content-Length: 25\n\n{\"externalId\":\"smuggled\"}";
    for (String refused :
        new String[] {
          "POST /external/event HTTP/1.1\nHost: a\nContent-Xength: " + smuggled.length() + "\n\n",
          "POST /external/event HTTP/1.1\nHost: a\nHost: b\n\n",
          "POST /external/event HTTP/1.1\nHost: a\nX-Api-Key: wrong\n\n",
        }) {
      try (RawHttp http = RawHttp.connect(app.port())) {
        assertThat(http.send(refused + smuggled).read().status()).isIn(400, 401);
        assertThat(http.isClosedByServer()).isTrue();
      }
    }
    assertThat(ask(get("/external/customers?externalId=smuggled")).body()).contains("\"count\":0");
  }

  @Test
  void anUpgradeToHttp2OrWebSocketIsNotTaken() {
    String h2c =
        "GET /external/customers HTTP/1.1\nHost: a\nConnection: Upgrade, HTTP2-Settings\n"
            + "Upgrade: h2c\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\n";
    String webSocket =
        "GET /external/customers HTTP/1.1\nHost: a\nConnection: Upgrade\nUpgrade: websocket\n"
            + "Sec-WebSocket-Version: 13\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n";

    assertThat(ask(h2c + key() + "\n").status()).isEqualTo(200);
    assertThat(ask(webSocket + key() + "\n").status()).isEqualTo(200);
  }
}
