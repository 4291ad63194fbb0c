package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.json.Json;
import io.steelyard.support.Merchant;
import io.steelyard.support.RawHttp;
import io.steelyard.support.RawHttp.Response;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestConfig;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies are bounded together, not only each. */
class BodyBytesIT {
  private static final int BODY_MAX = 4096;
  private static final int HALF = BODY_MAX / 2;

  @Test
  void aBodyThatDoesNotFitBesideTheOthersIsRefusedUntilTheyAreDone() throws Exception {
    try (TestApp app =
        TestApp.start(
            Map.of(
                "verticles.http.instances",
                "1",
                "limits.bodyBytes",
                "" + BODY_MAX,
                "limits.bodyBytesInFlight",
                "" + 2 * BODY_MAX,
                "limits.bodyBytesPercentPerMerchant",
                "100"))) {
      Merchant one = app.merchant("test", null);
      Merchant another = app.merchant("test", null);
      Merchant third = app.merchant("test", null);
      String event = Json.encode(one.event("nobody", "n", 1, null)).toString();
      try (RawHttp first = begun(app, one);
          RawHttp second = begun(app, another)) {
        first.send(" ".repeat(BODY_MAX - HALF / 4));
        second.send(" ".repeat(BODY_MAX - HALF / 4));

        Merchant.eventually(() -> isPromisedRoom(app, third), room -> !room);
        Response refused;
        try (RawHttp beside = begun(app, third)) {
          refused = beside.read();
        }

        assertThat(refused.body()).contains("\"code\":\"overloaded\"");
        assertThat(refused.header("retry-after")).isEqualTo("1");
        assertThat(refused.header("connection")).isEqualTo("close");
        assertThat(app.service().metrics().scrape())
            .containsPattern("steelyard_http_bodies_refused_total [1-9]");

        first.send(event + " ".repeat(HALF / 4 - event.length()));
        assertThat(first.read().status()).isEqualTo(202);
      }
      assertThat(Merchant.eventually(() -> isPromisedRoom(app, third), room -> room)).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void aMerchantWhoseBodiesFillItsShareLeavesRoomToOthers(int instances) throws Exception {
    try (TestApp app =
        TestApp.start(
            Map.of(
                "http.port",
                TestConfig.freePort(),
                "verticles.http.instances",
                "" + instances,
                "limits.bodyBytes",
                "" + BODY_MAX,
                "limits.bodyBytesInFlight",
                "" + 4 * BODY_MAX,
                "limits.bodyBytesPercentPerMerchant",
                "50",
                "timeouts.placeMs",
                "0"))) {
      Merchant flooding = app.merchant("test", null);
      Merchant other = app.merchant("test", null);
      String event = Json.encode(flooding.event("nobody", "n", 1, null)).toString();
      String body = event + " ".repeat(BODY_MAX - event.length());
      String most = body.substring(0, BODY_MAX - 1); // which counts however late the rest is
      try (RawHttp first = asking(app, flooding, most);
          RawHttp second = asking(app, flooding, most)) {
        assertThat(first.readHead().status()).isEqualTo(100);
        assertThat(second.readHead().status()).isEqualTo(100);

        assertThat(isPromisedRoom(app, flooding)).isFalse();
        Response refused;
        try (RawHttp third = begun(app, flooding)) {
          refused = third.read();
        }

        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.body()).contains("\"code\":\"overloaded\"", "of this merchant");
        assertThat(refused.header("retry-after")).isEqualTo("1");
        assertGrowsInVain(app, flooding);
        assertThat(isPromisedRoom(app, other)).isTrue();

        first.send(body.substring(BODY_MAX - 1));
        assertThat(first.read().status()).isEqualTo(202);
      }
      assertThat(Merchant.eventually(() -> isPromisedRoom(app, flooding), room -> room)).isTrue();
    }
  }

  /** A body that does not say how long it is, and so is let in. */
  private static void assertGrowsInVain(TestApp app, Merchant merchant) {
    String head =
        head(merchant).replace("Content-Length: " + BODY_MAX, "Transfer-Encoding: chunked");
    try (RawHttp growing =
        RawHttp.connect(app.port()).send(head + "10\n" + " ".repeat(16) + "\n")) {
      Response refused = growing.read();

      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.body()).contains("\"code\":\"overloaded\"", "this merchant's bodies");
      assertThat(refused.header("retry-after")).isEqualTo("1");
      assertThat(refused.header("connection")).isEqualTo("close");
    }
  }

  /** Whether a body as long as the others' may be sent now; asks without sending any of it. */
  private static boolean isPromisedRoom(TestApp app, Merchant merchant) {
    try (RawHttp connection = asking(app, merchant, "")) {
      return connection.readHead().status() == 100;
    }
  }

  /** Asks before it sends its body, but for a part that is on its way already. */
  private static RawHttp asking(TestApp app, Merchant merchant, String part) {
    String head = head(merchant).replace("Host: a", "Host: a\nExpect: 100-continue");
    return RawHttp.connect(app.port()).send(head + part);
  }

  private static RawHttp begun(TestApp app, Merchant merchant) {
    return RawHttp.connect(app.port()).send(head(merchant));
  }

  private static String head(Merchant merchant) {
    return "POST /external/event HTTP/1.1\nHost: a\nContent-Type: application/json\nX-Api-Key: "
        + merchant.key()
        + "\nContent-Length: "
        + BODY_MAX
        + "\n\n";
  }
}
