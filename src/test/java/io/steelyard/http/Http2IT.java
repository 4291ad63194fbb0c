package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Authority;
import io.steelyard.support.Authority.Issued;
import io.steelyard.support.Merchant;
import io.steelyard.support.RawHttp;
import io.steelyard.support.RawHttp2;
import io.steelyard.support.TestApp;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What HTTP/2 brings along: streams beside each other, and the floods that they make possible. */
class Http2IT {
  private static final int PROTOCOL_ERROR = 1;
  private static final int CANCEL = 8;
  private static final int ENHANCE_YOUR_CALM = 11;
  private static final int RESETS_MAX = 200;
  private static final String DOCS = "/openapi.json";

  @TempDir private static Path dir;
  private static SSLContext trust;
  private static TestApp app;

  /** The flood of one test. */
  private interface Attack {
    void send(RawHttp2 connection, int stream) throws IOException;
  }

  @BeforeAll
  static void start() {
    Authority authority = Authority.create(dir, "ours");
    Issued server = authority.server("server");
    trust = authority.client(null, null);
    app =
        TestApp.start(
            Map.of(
                "verticles.http.instances",
                "1",
                "limits.bodyBytes",
                "4096",
                "timeouts.bodyMs",
                "2000",
                "http.tls.certificatePath",
                server.certificate().toString(),
                "http.tls.keyPath",
                server.key().toString()));
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static RawHttp2 connect() {
    return RawHttp2.connect(app.port(), trust);
  }

  private static HttpClient client() {
    return HttpClient.newBuilder()
        .sslContext(trust)
        .version(HttpClient.Version.HTTP_2)
        .connectTimeout(Duration.ofSeconds(20))
        .build();
  }

  private static HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + app.port() + path))
        .timeout(Duration.ofSeconds(20));
  }

  @Test
  void theApiAnswersAsOverTheOlderVersion() throws Exception {
    Merchant merchant = app.merchant("test", Merchant.CATALOG);
    try (HttpClient http = client()) {
      HttpRequest create =
          request("/external/customers")
              .header("x-api-key", merchant.key())
              .header("content-type", "application/json")
              .POST(BodyPublishers.ofString("{\"externalId\": \"over-h2\"}"))
              .build();
      HttpResponse<String> created = http.send(create, BodyHandlers.ofString());
      assertThat(created.statusCode()).as(created.body()).isEqualTo(201);
      assertThat(created.version()).isEqualTo(HttpClient.Version.HTTP_2);
      assertThat(created.headers().firstValue("x-request-id")).isPresent();

      HttpResponse<String> again = http.send(create, BodyHandlers.ofString());
      assertThat(again.statusCode()).isEqualTo(409);
      assertThat(again.headers().firstValue("content-type")).hasValue("application/problem+json");
    }
  }

  @Test
  void theServerStatesItsLimits() throws IOException {
    try (RawHttp2 connection = connect()) {
      byte[] settings = connection.read(RawHttp2.SETTINGS).payload();

      assertThat(setting(settings, 3)).as("concurrent streams").isEqualTo(50);
      assertThat(setting(settings, 6)).as("bytes of headers").isEqualTo(8192);
    }
  }

  private static Long setting(byte[] settings, int id) {
    ByteBuffer all = ByteBuffer.wrap(settings);
    while (all.hasRemaining()) {
      int found = all.getShort();
      long value = Integer.toUnsignedLong(all.getInt());
      if (found == id) {
        return value;
      }
    }
    return null;
  }

  @Test
  void aRefusalEndsItsStreamOnly() throws IOException {
    Merchant merchant = app.merchant("test", Merchant.CATALOG);
    try (RawHttp2 connection = connect()) {
      connection.request(1, 0, "POST", "/external/event", "content-type", "application/json");
      assertThat(connection.answer())
          .returns(1, RawHttp2.Answer::stream)
          .returns(401, RawHttp2.Answer::status)
          .satisfies(answer -> assertThat(answer.headers().contains("connection")).isFalse());

      String[] headers = {"x-api-key", merchant.key(), "content-type", "application/json"};
      assertThat(connection.read(RawHttp2.RST_STREAM).stream()).isEqualTo(1); // no more of it
      connection.request(3, 0, "POST", "/external/event", headers);
      connection.send(RawHttp2.DATA, 0, 3, new byte[4000]);
      connection.send(RawHttp2.DATA, 0, 3, new byte[4000]);
      assertThat(connection.answer())
          .returns(3, RawHttp2.Answer::stream)
          .returns(413, RawHttp2.Answer::status);

      assertThat(connection.read(RawHttp2.RST_STREAM).stream()).isEqualTo(3);

      connection.request(5, RawHttp2.END_STREAM, "GET", DOCS);
      assertThat(connection.answer())
          .returns(5, RawHttp2.Answer::stream)
          .returns(200, RawHttp2.Answer::status);
    }
  }

  /** Or it would hold one of its connection's streams, and what is kept of it, for ever. */
  @Test
  void aStreamThatGoesOnBehindItsAnswerIsEnded() throws IOException {
    try (RawHttp2 connection = connect()) {
      connection.request(1, 0, "POST", "/nowhere");
      assertThat(connection.answer()).returns(404, RawHttp2.Answer::status);

      assertThat(connection.read(RawHttp2.RST_STREAM).stream()).isEqualTo(1);
    }
  }

  @Test
  void whatContradictsItselfIsRefused() throws IOException {
    assertThat(status("GET", DOCS, "host", "elsewhere")).isNull(); // the stream was reset
    assertThat(status("GET", DOCS, "host", "localhost", "host", "elsewhere")).isEqualTo(400);
    assertThat(status("GET", DOCS, "host", "localhost")).isEqualTo(200);
    assertThat(status("GET", "/external/%zz")).isEqualTo(400);
    assertThat(status("GET", DOCS, "x-large", "a".repeat(9000))).isEqualTo(431);
  }

  /** Null where the stream was reset. */
  private static Integer status(String method, String path, String... headers) throws IOException {
    try (RawHttp2 connection = connect()) {
      connection.request(1, RawHttp2.END_STREAM, method, path, headers);
      RawHttp2.Answer answer = connection.answer();
      return answer == null ? null : answer.status();
    }
  }

  @Test
  void aLengthThatIsNoneIsAnErrorOfTheStream() throws IOException {
    Merchant merchant = app.merchant("test", Merchant.CATALOG);
    String[] json = {"x-api-key", merchant.key(), "content-type", "application/json"};
    for (String length : new String[] {"x", "-1", "3"}) {
      try (RawHttp2 connection = connect()) {
        String[] headers = Arrays.copyOf(json, json.length + 2);
        headers[json.length] = "content-length";
        headers[json.length + 1] = length;
        connection.request(1, 0, "POST", "/external/event", headers);
        connection.send(
            RawHttp2.DATA, RawHttp2.END_STREAM, 1, "[]".getBytes(StandardCharsets.UTF_8));

        RawHttp2.Frame frame = connection.read();
        while (frame != null
            && frame.type() != RawHttp2.RST_STREAM
            && frame.type() != RawHttp2.GO_AWAY) {
          assertThat(frame.type()).as(length).isNotEqualTo(RawHttp2.HEADERS);
          frame = connection.read();
        }
      }
    }
  }

  @Test
  void rapidResetsCloseTheConnectionWhileOthersAreServed() throws Exception {
    assertThat(
            floodedBeside(
                (connection, stream) -> {
                  connection.request(stream, RawHttp2.END_STREAM, "GET", DOCS);
                  connection.send(RawHttp2.RST_STREAM, stream, CANCEL);
                }))
        .isEqualTo(ENHANCE_YOUR_CALM);
  }

  /** MadeYouReset: each stream is told something impossible, so that the server resets it. */
  @Test
  void resetsThatTheServerIsMadeToSendCountAsWell() throws Exception {
    assertThat(
            floodedBeside(
                (connection, stream) -> {
                  connection.request(stream, 0, "POST", DOCS);
                  connection.send(RawHttp2.WINDOW_UPDATE, stream, 0);
                }))
        .isIn(ENHANCE_YOUR_CALM, PROTOCOL_ERROR);
  }

  @Test
  void headersInVerySmallPartsCloseTheConnection() throws Exception {
    assertThat(
            floodedBeside(
                (connection, stream) -> {
                  byte[] block = connection.block(stream, "GET", DOCS);
                  connection.send(RawHttp2.HEADERS, RawHttp2.END_STREAM, stream, block);
                  for (int i = 0; i < 100; i++) {
                    connection.send(RawHttp2.CONTINUATION, 0, stream, new byte[0]);
                  }
                }))
        .isEqualTo(ENHANCE_YOUR_CALM);
  }

  /**
   * Attacks on one connection, twice as often as may be, while another client asks without a break.
   *
   * @return the error that the attacker's connection was closed with
   */
  private static Integer floodedBeside(Attack attack) throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    try (HttpClient http = client();
        RawHttp2 attacker = connect()) {
      CompletableFuture<Integer> others = CompletableFuture.supplyAsync(() -> askUntil(over, http));
      Integer error;
      try {
        flood(attacker, attack);
        error = attacker.goneAwayWith();
      } finally {
        over.set(true);
      }
      assertThat(others.get()).as("answers to others").isPositive();
      return error;
    }
  }

  private static void flood(RawHttp2 attacker, Attack attack) {
    try {
      for (int i = 0; i < 2 * RESETS_MAX; i++) {
        attack.send(attacker, 2 * i + 1);
      }
    } catch (IOException e) {
      // closed already, which is what is looked for: the frames that came before tell why
    }
  }

  /** How many answers there were, all of them good ones, at least one after the end. */
  private static int askUntil(AtomicBoolean over, HttpClient http) {
    int answers = 0;
    boolean last;
    do {
      last = over.get();
      try {
        HttpResponse<String> answer = http.send(request(DOCS).build(), BodyHandlers.ofString());
        assertThat(answer.statusCode()).isEqualTo(200);
      } catch (IOException e) {
        throw new AssertionError("another client was not answered", e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new AssertionError(e);
      }
      answers++;
    } while (!last);
    return answers;
  }

  @Test
  void inClearTextItIsNotSpoken() {
    try (RawHttp http = RawHttp.connect(app.managementPort())) {
      http.send("PRI * HTTP/2.0\n\nSM\n\n");
      assertThat(http.read().status()).isEqualTo(400);
      assertThat(http.isClosedByServer()).isTrue();
    }
    try (RawHttp http = RawHttp.connect(app.managementPort())) {
      http.send(
          "GET /health/live HTTP/1.1\nHost: localhost\nConnection: Upgrade, HTTP2-Settings\n"
              + "Upgrade: h2c\nHTTP2-Settings: AAMAAABkAAQAAP__\n\n");
      assertThat(http.read().status()).isEqualTo(200);
    }
  }
}
