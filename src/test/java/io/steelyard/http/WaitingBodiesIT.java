package io.steelyard.http;

import static io.steelyard.http.Waiting.CUSTOMERS;
import static io.steelyard.http.Waiting.PLACES;
import static io.steelyard.http.Waiting.SUBSCRIPTIONS;
import static io.steelyard.http.Waiting.assertAllAnswered;
import static io.steelyard.http.Waiting.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.json.Json;
import io.steelyard.support.Merchant;
import io.steelyard.support.RawHttp;
import io.steelyard.support.TableLock;
import io.steelyard.support.TestApp;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The body of a request that waits for a place stays where it is until there is one. */
class WaitingBodiesIT {
  /** More than the sockets of both sides hold. */
  private static final int EVENTS = 1800;

  private static final int EVENT_BYTES = 4000;
  private static final int BODY_MAX = 4096;

  private static byte[] manyEvents(Merchant merchant) {
    String padding = "x".repeat(EVENT_BYTES);
    return IntStream.range(0, EVENTS)
        .mapToObj(
            i ->
                Json.encodeText(
                    Map.of(
                        "customerId", "nobody",
                        "eventName", "n",
                        "generatedAt", "2026-01-01T00:00:00Z",
                        "idempotencyKey", "k" + i,
                        "data", Map.of("padding", padding))))
        .toList()
        .toString()
        .getBytes(StandardCharsets.UTF_8);
  }

  private static String head(Merchant merchant, String... more) {
    return "POST /external/event HTTP/1.1\nHost: a\nContent-Type: application/json\nX-Api-Key: "
        + merchant.key()
        + "\n"
        + String.join("\n", more)
        + "\n\n";
  }

  private static RawHttp begun(Merchant merchant, int length) {
    return begun(merchant, length, "");
  }

  private static RawHttp begun(Merchant merchant, int length, String part) {
    return RawHttp.connect(merchant.app().port())
        .send(head(merchant, "Content-Length: " + length) + part);
  }

  /** Of each merchant, and more places than that. */
  private static TestApp startWithRoomForTwoBodies() {
    return Waiting.start(
        Map.of(
            "limits.httpInFlightPerInstance",
            "64",
            "limits.bodyBytes",
            "" + BODY_MAX,
            "limits.bodyBytesInFlight",
            "" + 8 * BODY_MAX,
            "limits.bodyBytesPercentPerMerchant",
            "25"));
  }

  private static String longest(String body) {
    return body + " ".repeat(BODY_MAX - body.length());
  }

  private static String event(Merchant merchant) {
    return Json.encodeText(merchant.event("nobody", "n", 1, null));
  }

  @Test
  void aLargeBodyIsNotReadBeforeThereIsAPlaceAndThenWhole() throws Exception {
    try (TestApp app = Waiting.start(Map.of());
        ExecutorService sending = Executors.newVirtualThreadPerTaskExecutor();
        TableLock lock = TableLock.of(app.database(), "customer")) {
      Merchant merchant = Waiting.merchant(app);
      byte[] body = manyEvents(merchant);
      List<RawHttp> taken = Waiting.takePlaces(merchant, CUSTOMERS);
      try (RawHttp large = begun(merchant, body.length)) {
        CompletableFuture<?> sent = CompletableFuture.runAsync(() -> large.send(body), sending);
        Waiting.await(app, 1);
        Waiting.get(merchant, SUBSCRIPTIONS).close(); // whatever came meanwhile was looked at
        Waiting.await(app, 1);
        assertThat(sent).isNotDone();

        lock.release();

        RawHttp.Response answer = large.read();
        assertThat(answer.status()).as(answer.body()).isEqualTo(202);
        assertThat(answer.body()).contains("\"accepted\":" + EVENTS);
        sent.get(10, TimeUnit.SECONDS);
      }
      assertAllAnswered(taken, 200);
    }
  }

  @Test
  void aBodyIsAskedForOnceThereIsAPlace() throws Exception {
    try (TestApp app = Waiting.start(Map.of());
        TableLock lock = TableLock.of(app.database(), "customer")) {
      Merchant merchant = Waiting.merchant(app);
      String event = event(merchant);
      List<RawHttp> taken = Waiting.takePlaces(merchant, CUSTOMERS);
      try (RawHttp asking =
          RawHttp.connect(app.port())
              .send(head(merchant, "Expect: 100-continue", "Content-Length: " + event.length()))) {
        Waiting.await(app, 1);
        lock.release();
        assertThat(asking.readHead().status()).isEqualTo(100);
        assertThat(asking.send(event).read().status()).isEqualTo(202);
      }
      assertAllAnswered(taken, 200);
    }
  }

  @Test
  void aBodyOfUnknownLengthWaitsToo() throws Exception {
    try (TestApp app = Waiting.start(Map.of());
        TableLock lock = TableLock.of(app.database(), "customer")) {
      Merchant merchant = Waiting.merchant(app);
      String event = event(merchant);
      List<RawHttp> taken = Waiting.takePlaces(merchant, CUSTOMERS);
      try (RawHttp chunked =
          RawHttp.connect(app.port()).send(head(merchant, "Transfer-Encoding: chunked"))) {
        chunked.send(Integer.toHexString(event.length()) + "\n" + event + "\n0\n\n");
        Waiting.await(app, 1);
        lock.release();
        assertThat(chunked.read().status()).isEqualTo(202);
      }
      assertAllAnswered(taken, 200);
    }
  }

  /** As those of senders behind a network that is lost. */
  @Test
  void bodiesThatAreLongInComingHoldNoPlacesAndAreTakenWhenTheyCome() throws Exception {
    try (TestApp app = Waiting.start(Map.of())) {
      Merchant merchant = Waiting.merchant(app);
      String event = event(merchant);
      List<RawHttp> silent =
          Stream.generate(() -> begun(merchant, event.length())).limit(3 * PLACES).toList();

      for (int i = 0; i < 2 * PLACES; i++) {
        try (RawHttp other = Waiting.get(merchant, SUBSCRIPTIONS);
            RawHttp whole = begun(merchant, event.length()).send(event)) {
          assertThat(other.read().status()).isEqualTo(200);
          assertThat(whole.read().status()).isEqualTo(202);
        }
      }

      try (TableLock lock = TableLock.of(app.database(), "customer")) {
        List<RawHttp> taken = Waiting.takePlaces(merchant, CUSTOMERS);
        silent.forEach(one -> one.send(event));
        Waiting.await(app, silent.size());
        lock.release();
        assertAllAnswered(taken, 200);
      }
      assertAllAnswered(silent, 202);
      Waiting.await(app, 0);
    }
  }

  /** Those that are there may not be refused for the bytes of those that are not. */
  @Test
  void whatSilentBodiesPromisedIsForOthers() throws Exception {
    try (TestApp app = startWithRoomForTwoBodies()) {
      Merchant merchant = Waiting.merchant(app);
      String body = longest(event(merchant));
      try (RawHttp first = begun(merchant, BODY_MAX);
          RawHttp second = begun(merchant, BODY_MAX);
          RawHttp third = begun(merchant, BODY_MAX).send(body)) {
        assertThat(third.read().status()).isEqualTo(202);
        assertThat(first.send(body).read().status()).isEqualTo(202);
        assertThat(second.send(body).read().status()).isEqualTo(202);
      }
    }
  }

  @Test
  void whoLeavesWithinItsBodyLeavesTheLine() throws Exception {
    try (TestApp app = Waiting.start(Map.of());
        TableLock lock = TableLock.of(app.database(), "customer")) {
      Merchant merchant = Waiting.merchant(app);
      List<RawHttp> taken = Waiting.takePlaces(merchant, CUSTOMERS);
      RawHttp leaving = begun(merchant, BODY_MAX).send(" ".repeat(BODY_MAX / 2));
      Waiting.await(app, 1);

      leaving.close();

      Waiting.await(app, 0);
      lock.release();
      assertAllAnswered(taken, 200);
    }
  }

  @Test
  void aBodyThatFindsNoRoomBesideItsMerchantsOthersWaitsForIt() throws Exception {
    try (TestApp app = startWithRoomForTwoBodies()) {
      Merchant merchant = Waiting.merchant(app);
      String body = longest(event(merchant));
      String most = body.substring(0, BODY_MAX - 1); // which counts however late the rest is
      try (RawHttp first = begun(merchant, BODY_MAX, most);
          RawHttp second = begun(merchant, BODY_MAX, most);
          RawHttp third = begun(merchant, BODY_MAX, most);
          RawHttp fourth = begun(merchant, BODY_MAX, most)) {
        Waiting.await(app, 2);
        List<RawHttp> all = List.of(first, second, third, fourth);
        for (RawHttp one : all) {
          one.send(body.substring(BODY_MAX - 1));
        }

        assertAllAnswered(all, 202);
      }
      Waiting.await(app, 0);
    }
  }

  /** It is dropped as it comes, and its sender told as late as all others. */
  @Test
  void aBodyThatIsTooMuchForTheLineIsRefusedInTimeAndTheConnectionGoesOn() throws Exception {
    int placeMs = 3000;
    try (TestApp app =
            Waiting.start(
                Map.of(
                    "timeouts.placeMs", "" + placeMs,
                    "limits.bodyBytes", "" + BODY_MAX,
                    "limits.bodyBytesInFlight", "" + 2 * BODY_MAX,
                    "limits.bodyBytesPercentPerMerchant", "100"));
        TableLock lock = TableLock.of(app.database(), "customer")) {
      Merchant merchant = Waiting.merchant(app);
      byte[] body = " ".repeat(BODY_MAX).getBytes(StandardCharsets.UTF_8);
      List<RawHttp> taken = Waiting.takePlaces(merchant, CUSTOMERS);
      Instant start = Instant.now();
      try (RawHttp large = begun(merchant, body.length).send(body)) {
        Waiting.await(app, 0);
        lock.release();
        assertAllAnswered(taken, 200);

        assertRefused(large.read());

        assertThat(Duration.between(start, Instant.now()))
            .isBetween(Duration.ofMillis(placeMs), Duration.ofMillis(placeMs + 8000));
        assertThat(Waiting.ask(large, merchant, CUSTOMERS).read().status()).isEqualTo(200);
      }
    }
  }

  /** Or what it promised to send would be waited for, in a place that others want. */
  @Test
  void whoLeftBeforeItsKeyWasKnownTakesNoPlace() throws Exception {
    try (TestApp app =
        Waiting.start(
            Map.of(
                "limits.httpInFlightPerInstance", "2",
                "timeouts.placeMs", "3000",
                "keys.cacheMs", "0"))) {
      Merchant merchant = Waiting.merchant(app);
      try (TableLock lock = TableLock.of(app.database(), "api_key")) {
        RawHttp leaving = begun(merchant, BODY_MAX);
        TableLock.awaitWaiting(app.database(), 1);
        leaving.close();
        app.external("GET", "/openapi.json").undocumented().send(200); // its end has been seen
        lock.release();
      }
      merchant.call("GET", SUBSCRIPTIONS).send(200);
    }
  }
}
