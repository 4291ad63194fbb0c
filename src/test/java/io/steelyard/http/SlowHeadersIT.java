package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.json.Json;
import io.steelyard.support.Merchant;
import io.steelyard.support.RawHttp;
import io.steelyard.support.TestApp;
import java.io.UncheckedIOException;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A request's headers end in time, or its connection does. */
class SlowHeadersIT {
  private static final int HEAD_MS = 2000;

  private static TestApp app;
  private static Merchant merchant;

  @BeforeAll
  static void start() {
    app = TestApp.start(Map.of("timeouts.headMs", "" + HEAD_MS));
    merchant = app.merchant("test", null);
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static String get() {
    return "GET /external/customers HTTP/1.1\nHost: a\nX-Api-Key: " + merchant.key() + "\n";
  }

  @Test
  void whoDribblesThemIsCutOff() throws Exception {
    for (int port : new int[] {app.port(), app.managementPort()}) {
      try (RawHttp http = RawHttp.connect(port).send("GET / HTTP/1.1\nX-A: ")) {
        long startedAt = System.nanoTime();
        Thread dribble = Thread.startVirtualThread(() -> dribble(http));

        assertThat(http.isClosedByServer()).isTrue();

        assertThat((System.nanoTime() - startedAt) / 1_000_000).isBetween(HEAD_MS - 100L, 20_000L);
        dribble.interrupt();
        dribble.join();
      }
    }
  }

  private static void dribble(RawHttp http) {
    try {
      while (true) {
        http.send("a");
        Thread.sleep(50);
      }
    } catch (InterruptedException | UncheckedIOException e) {
      // cut off, as is expected, or the test is over
    }
  }

  @Test
  void whoBeginsAndSaysNoMoreIsCutOffLongBeforeAnIdleOne() {
    try (RawHttp http = RawHttp.connect(app.port()).send("GET / HTTP")) {
      assertThat(http.isClosedByServer()).isTrue();
    }
  }

  @Test
  void inPiecesAndInTimeTheyAreAnsweredEachTime() throws Exception {
    try (RawHttp http = RawHttp.connect(app.port())) {
      for (int i = 0; i < 5; i++) {
        http.send(get());
        Thread.sleep(HEAD_MS / 4);
        assertThat(http.send("\n").read().status()).isEqualTo(200);
      }
      Thread.sleep(2 * HEAD_MS);
      assertThat(http.send(get() + "\n").read().status()).isEqualTo(200);
    }
  }

  @Test
  void aBodyMayTakeLonger() throws Exception {
    String event = Json.encodeText(merchant.event("nobody", "n", 1, null));
    String head =
        "POST /external/event HTTP/1.1\nHost: a\nContent-Type: application/json\nX-Api-Key: %s\n"
            .formatted(merchant.key());
    try (RawHttp http = RawHttp.connect(app.port())) {
      http.send(head);
      Thread.sleep(HEAD_MS / 4);
      http.send("Content-Length: " + event.length() + "\n\n");
      Thread.sleep(2 * HEAD_MS);
      assertThat(http.send(event).read().status()).isEqualTo(202);
      http.send(head + "Content-Length: " + event.length() + "\n\n" + event.substring(0, 9));
      Thread.sleep(2 * HEAD_MS);
      assertThat(http.send(event.substring(9)).read().status()).isEqualTo(202);
    }
  }
}
