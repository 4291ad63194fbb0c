package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.json.Json;
import io.steelyard.support.Merchant;
import io.steelyard.support.RawHttp;
import io.steelyard.support.RawHttp.Response;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How bodies arrive: too large, too slow, packed, or as something else than JSON. */
class HttpBodyIT {
  private static final int BODY_MAX = 4096;
  private static final int BODY_MS = 1500;

  private static TestApp app;
  private static Merchant merchant;

  @BeforeAll
  static void start() {
    app = TestApp.start(Map.of("limits.bodyBytes", "" + BODY_MAX, "timeouts.bodyMs", "" + BODY_MS));
    merchant = app.merchant("test", null);
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static String head(String headers) {
    return "POST /external/event HTTP/1.1\nHost: a\nContent-Type: application/json\nX-Api-Key: "
        + merchant.key()
        + "\n"
        + headers
        + "\n";
  }

  private static byte[] event() {
    return Json.encode(merchant.event("nobody", "n", 1, null)).getBytes();
  }

  private static byte[] padded(int length) {
    byte[] body = new byte[length];
    Arrays.fill(body, (byte) ' ');
    byte[] event = event();
    System.arraycopy(event, 0, body, 0, event.length);
    return body;
  }

  private static byte[] gzip(byte[] bytes) {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
      out.write(bytes);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return packed.toByteArray();
  }

  private static Answer post(byte[] body, String encoding) {
    return merchant
        .call("POST", "/external/event")
        .header("content-encoding", encoding)
        .body(body, "application/json")
        .send();
  }

  private static void assertRefusedForGood(RawHttp http, int status, String code) {
    Response response = http.read();
    assertThat(response.status()).isEqualTo(status);
    assertThat(Json.readMap(response.body())).containsEntry("code", code);
    assertThat(response.header("connection")).isEqualTo("close");
    assertThat(http.isClosedByServer()).isTrue();
  }

  @Test
  void aBodyMayBeAsLongAsTheLimitAndNotAByteMore() {
    byte[] body = padded(BODY_MAX);
    merchant.call("POST", "/external/event").body(body, "application/json").send(202);

    try (RawHttp http = RawHttp.connect(app.port())) {
      http.send(head("Content-Length: " + (BODY_MAX + 1) + "\n"));
      assertRefusedForGood(http, 413, "body_too_large");
    }
  }

  @Test
  void aBodyInChunksIsRefusedAtTheLimitWithoutWaitingForItsEnd() {
    try (RawHttp http = RawHttp.connect(app.port())) {
      http.send(head("Transfer-Encoding: chunked\n"));
      http.send("400\n" + " ".repeat(0x400) + "\n").send("fff\n" + " ".repeat(0xfff) + "\n");
      assertRefusedForGood(http, 413, "body_too_large");
    }
    try (RawHttp http = RawHttp.connect(app.port())) {
      String body = new String(event(), StandardCharsets.UTF_8);
      http.send(head("Transfer-Encoding: chunked\n"));
      for (char c : body.toCharArray()) {
        http.send("1\n" + c + "\n");
      }
      http.send("0\n\n");
      assertThat(http.read().status()).isEqualTo(202);
    }
  }

  @Test
  void a100ContinueIsSentToWhoMaySendTheBody() {
    byte[] body = event();
    try (RawHttp http = RawHttp.connect(app.port())) {
      http.send(head("Expect: 100-continue\nContent-Length: " + body.length + "\n"));
      assertThat(http.read().status()).isEqualTo(100);
      http.send(body);
      assertThat(http.read().status()).isEqualTo(202);
    }
  }

  @Test
  void no100ContinueIsSentToWhoseBodyIsNotWanted() {
    try (RawHttp http = RawHttp.connect(app.port())) {
      http.send(head("Expect: 100-continue\nContent-Length: 5000\n"));
      assertRefusedForGood(http, 413, "body_too_large");
    }
    try (RawHttp http = RawHttp.connect(app.port())) {
      http.send(
          "POST /external/event HTTP/1.1\nHost: a\nContent-Length: 5\nExpect: 100-continue\n\n");
      assertRefusedForGood(http, 401, "unauthenticated");
    }
  }

  @Test
  void gzipIsUnpackedAndIdentityIsNoEncoding() {
    assertThat(post(gzip(event()), "gzip").status()).isEqualTo(202);
    assertThat(post(gzip(event()), "GZIP").status()).isEqualTo(202);
    assertThat(post(event(), "identity").status()).isEqualTo(202);
  }

  @Test
  void aBombIsRefusedAtTheLimit() {
    byte[] bomb = gzip(new byte[3_000_000]);
    assertThat(bomb.length).isLessThan(BODY_MAX);

    Answer answer = post(bomb, "gzip");

    assertThat(answer.status()).isEqualTo(413);
    assertThat(answer.<String>at("code")).isEqualTo("body_too_large");
    assertThat(post(gzip(padded(BODY_MAX)), "gzip").status()).isEqualTo(202);
    assertThat(post(gzip(padded(BODY_MAX + 1)), "gzip").status()).isEqualTo(413);
  }

  @Test
  void whatIsNotOneWholeGzipMemberIsRefused() {
    byte[] packed = gzip(event());
    byte[] twice = Arrays.copyOf(packed, packed.length * 2);
    System.arraycopy(packed, 0, twice, packed.length, packed.length);
    byte[] wrongSum = packed.clone();
    wrongSum[packed.length - 8] ^= 1;
    byte[] extraBeyondTheEnd = packed.clone();
    extraBeyondTheEnd[3] = 4;
    extraBeyondTheEnd[10] = (byte) 0xff;
    extraBeyondTheEnd[11] = (byte) 0xff;
    byte[] garbage = packed.clone();
    Arrays.fill(garbage, 10, garbage.length, (byte) 0xff);
    for (byte[] body :
        new byte[][] {
          event(),
          new byte[0],
          Arrays.copyOf(packed, packed.length - 1),
          Arrays.copyOf(packed, packed.length / 2),
          Arrays.copyOf(packed, 5),
          twice,
          wrongSum,
          extraBeyondTheEnd,
          garbage
        }) {
      Answer answer = post(body, "gzip");

      assertThat(answer.status()).isEqualTo(400);
      assertThat(answer.<String>at("code")).isEqualTo("malformed_gzip");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"deflate", "br", "zstd", "gzip, gzip", "x"})
  void otherEncodingsAreNotSupported(String encoding) {
    Answer answer = post(event(), encoding);

    assertThat(answer.status()).isEqualTo(415);
    assertThat(answer.<String>at("code")).isEqualTo("unsupported_encoding");
  }

  @Test
  void twoEncodingHeadersAreNotOne() {
    byte[] body = gzip(event());
    try (RawHttp http = RawHttp.connect(app.port())) {
      http.send(
          head(
              "Content-Encoding: gzip\nContent-Encoding: gzip\nContent-Length: %d\n"
                  .formatted(body.length)));
      http.send(body);
      assertRefusedForGood(http, 415, "unsupported_encoding");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "application/json, 202",
    "APPLICATION/JSON;charset=utf-8, 202",
    "application/json ; charset=\"UTF-8\", 202",
    "application/cloudevents+json, 202",
    "text/plain, 415",
    "application/x-www-form-urlencoded, 415",
    "multipart/form-data; boundary=x, 415",
    "application/jsonp, 415",
    "json, 415",
    "application/json; charset=iso-8859-1, 202", // RFC 8259: JSON has no charset, it is UTF-8
    "'', 415",
  })
  void onlyJsonIsTaken(String contentType, int status) {
    byte[] body = event();
    try (RawHttp http = RawHttp.connect(app.port())) {
      http.send(
          "POST /external/event HTTP/1.1\nHost: a\nX-Api-Key: %s\nContent-Length: %d\nContent-Type: %s\n\n"
              .formatted(merchant.key(), body.length, contentType));
      http.send(body);
      assertThat(http.read().status()).isEqualTo(status);
    }
  }

  @Test
  void aMissingContentTypeIsRefused() {
    try (RawHttp http = RawHttp.connect(app.port())) {
      http.send(
          "POST /external/event HTTP/1.1\nHost: a\nX-Api-Key: %s\nContent-Length: 2\n\n{}"
              .formatted(merchant.key()));
      assertRefusedForGood(http, 415, "unsupported_media_type");
    }
  }

  @Test
  void aBodyThatDribblesInIsCutOff() {
    Instant start = Instant.now();
    try (RawHttp http = RawHttp.connect(app.port())) {
      http.send(head("Content-Length: 100\n") + "{");
      while (Duration.between(start, Instant.now()).toMillis() < BODY_MS / 2) {
        http.send(" ");
        sleep();
      }
      assertRefusedForGood(http, 408, "body_timeout");
    }
    assertThat(Duration.between(start, Instant.now())).isLessThan(Duration.ofMillis(BODY_MS * 4));
  }

  /** Or whoever sends a byte now and then would hold a connection for ever. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /external/customers", // whose body is passed over
        "PUT /external/event", // of a path without that method
        "POST /nowhere",
        "GET /openapi.json",
        "POST /external/customers/x/y/z/nowhere",
      })
  void aBodyThatDribblesInBehindItsAnswerIsCutOffToo(String line) {
    try (RawHttp http = RawHttp.connect(app.port())) {
      http.send(
          "%s HTTP/1.1\nHost: a\nX-Api-Key: %s\nContent-Length: 4000\n\n"
              .formatted(line, merchant.key()));
      assertThat(http.read().status()).isBetween(200, 499);

      assertThat(isCutOffWhileItDribbles(http)).isTrue();
    }
  }

  private static boolean isCutOffWhileItDribbles(RawHttp http) {
    Instant start = Instant.now();
    while (Duration.between(start, Instant.now()).toMillis() < BODY_MS * 4) {
      try {
        http.send(" ");
      } catch (UncheckedIOException e) {
        return true;
      }
      sleep();
    }
    return false;
  }

  private static void sleep() {
    try {
      Thread.sleep(50);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void whoEndsTheConnectionAmidABodyLeavesTheServiceWell() {
    for (int i = 0; i < 20; i++) {
      try (RawHttp http = RawHttp.connect(app.port())) {
        http.send(head("Content-Length: 100\n") + "{");
      }
    }
    assertThat(post(event(), "identity").status()).isEqualTo(202);
  }

  @Test
  void aBodyWhereNoneIsWantedIsPassedOver() {
    try (RawHttp http = RawHttp.connect(app.port())) {
      String get = "GET /external/customers HTTP/1.1\nHost: a\nX-Api-Key: " + merchant.key() + "\n";
      http.send(get + "Content-Length: 5\n\nhello" + get + "\n");

      assertThat(http.read().status()).isEqualTo(200);
      assertThat(http.read().status()).isEqualTo(200);
    }
  }
}
