package io.steelyard.http;

import static io.steelyard.http.Waiting.CUSTOMERS;
import static io.steelyard.http.Waiting.PLACES;
import static io.steelyard.http.Waiting.SUBSCRIPTIONS;
import static io.steelyard.http.Waiting.assertAllAnswered;
import static io.steelyard.http.Waiting.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.RawHttp;
import io.steelyard.support.TableLock;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestConfig;
import io.vertx.core.Future;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A request whose merchant has its share in flight waits for a place before it is refused. */
class WaitingIT {
  private static final int SHORT_MS = 700;
  private static final int LONG_ENOUGH_TO_BE_SEEN_MS = 5000;

  private static TestApp startWithWaitsOf(int ms) {
    return Waiting.start(Map.of("timeouts.placeMs", "" + ms));
  }

  private static List<RawHttp> get(int count, Merchant merchant, String path) {
    return Stream.generate(() -> Waiting.get(merchant, path)).limit(count).toList();
  }

  private static void assertRefusals(TestApp app, int count) {
    assertThat(Waiting.lines(app, "steelyard_http_refused_total "))
        .containsExactly("steelyard_http_refused_total " + count + ".0");
  }

  @Test
  void whatFindsNoPlaceIsAnsweredOnceThereIsOne() throws Exception {
    try (TestApp app = Waiting.start(Map.of());
        TableLock lock = TableLock.of(app.database(), "customer")) {
      Merchant merchant = Waiting.merchant(app);

      List<RawHttp> all = get(PLACES + 3, merchant, CUSTOMERS);
      Waiting.await(app, 3);
      TableLock.awaitWaiting(app.database(), PLACES);
      lock.release();

      assertAllAnswered(all, 200);
      Waiting.await(app, 0);
      assertRefusals(app, 0);
    }
  }

  @Test
  void whoWaitsTooLongIsRefusedAndMayAskAgain() throws Exception {
    try (TestApp app = startWithWaitsOf(SHORT_MS);
        TableLock lock = TableLock.of(app.database(), "customer")) {
      Merchant merchant = Waiting.merchant(app);
      List<RawHttp> taken = Waiting.takePlaces(merchant, CUSTOMERS);
      Instant start = Instant.now();
      try (RawHttp waiting = Waiting.get(merchant, SUBSCRIPTIONS)) {
        assertRefused(waiting.read());

        assertThat(Duration.between(start, Instant.now()))
            .isBetween(Duration.ofMillis(SHORT_MS), Duration.ofMillis(SHORT_MS + 8000));
        assertRefusals(app, 1);
        Waiting.await(app, 0);
        lock.release();
        assertAllAnswered(taken, 200);
        assertThat(Waiting.ask(waiting, merchant, SUBSCRIPTIONS).read().status()).isEqualTo(200);
      }
    }
  }

  @Test
  void whoLeavesWhileItWaitsTakesNoPlace() throws Exception {
    try (TestApp app = Waiting.start(Map.of());
        TableLock lock = TableLock.of(app.database(), "customer")) {
      Merchant merchant = Waiting.merchant(app);
      List<RawHttp> taken = Waiting.takePlaces(merchant, CUSTOMERS);
      RawHttp leaving = Waiting.get(merchant, SUBSCRIPTIONS);
      Waiting.await(app, 1);

      leaving.close();

      Waiting.await(app, 0);
      List<RawHttp> next = get(1, merchant, SUBSCRIPTIONS);
      Waiting.await(app, 1);
      lock.release();
      assertAllAnswered(taken, 200);
      assertAllAnswered(next, 200);
      // Noted behind the answer, which is here already.
      List<String> noted =
          Merchant.eventually(
              () ->
                  Waiting.lines(app, "steelyard_http_requests_seconds_count").stream()
                      .filter(line -> line.contains("route=\"" + SUBSCRIPTIONS + "\""))
                      .toList(),
              lines -> lines.size() == 2);
      assertThat(noted)
          .hasSize(2)
          .anyMatch(line -> line.contains("status=\"gone\"") && line.endsWith(" 1"))
          .anyMatch(line -> line.contains("status=\"200\"") && line.endsWith(" 1"));
      assertRefusals(app, 0);
    }
  }

  /** Who waits is none of the requests that the instance has in flight. */
  @Test
  void othersAreAnsweredWhileTheLineOfOneIsLong() throws Exception {
    int waiting = 10 * PLACES;
    try (TestApp app = Waiting.start(Map.of());
        TableLock lock = TableLock.of(app.database(), "customer")) {
      Merchant merchant = Waiting.merchant(app);
      List<RawHttp> all = get(PLACES + waiting, merchant, CUSTOMERS);
      Waiting.await(app, waiting);
      Merchant other = Waiting.merchant(app);

      for (int i = 0; i < 3 * PLACES; i++) {
        other.call("GET", SUBSCRIPTIONS).send(200);
      }

      Waiting.await(app, waiting);
      lock.release();
      assertAllAnswered(all, 200);
    }
  }

  @Test
  void aPlaceIsWorthAsMuchWhenTheInstanceIsFull() throws Exception {
    try (TestApp app = Waiting.start(Map.of());
        TableLock customers = TableLock.of(app.database(), "customer");
        TableLock subscriptions = TableLock.of(app.database(), "subscription")) {
      Merchant merchant = Waiting.merchant(app);
      Merchant other = Waiting.merchant(app);
      List<RawHttp> all = get(PLACES + 1, merchant, SUBSCRIPTIONS);
      Waiting.await(app, 1);
      TableLock.awaitWaiting(app.database(), PLACES);
      List<RawHttp> others = get(PLACES, other, CUSTOMERS);
      TableLock.awaitWaiting(app.database(), 2 * PLACES);

      subscriptions.release();

      assertAllAnswered(all, 200);
      TableLock.awaitWaiting(app.database(), PLACES);
      customers.release();
      assertAllAnswered(others, 200);
    }
  }

  /** Connections go to the instances by turns, and there is one place. */
  @Test
  void aPlaceThatIsFreeOnOneInstanceIsTakenOnAnother() throws Exception {
    try (TestApp app =
            Waiting.start(
                Map.of(
                    "http.port", TestConfig.freePort(),
                    "verticles.http.instances", "2",
                    "limits.httpInFlightPerInstance", "2"));
        TableLock lock = TableLock.of(app.database(), "customer")) {
      Merchant merchant = Waiting.merchant(app);
      List<RawHttp> all = get(6, merchant, CUSTOMERS);
      Waiting.await(app, 5);

      lock.release();

      assertAllAnswered(all, 200);
      Waiting.await(app, 0);
    }
  }

  @Test
  void aStopLetsThoseWhoWaitHaveTheirPlaces() throws Exception {
    try (TestApp app = Waiting.start(Map.of());
        TableLock lock = TableLock.of(app.database(), "customer")) {
      Merchant merchant = Waiting.merchant(app);
      List<RawHttp> all = get(PLACES + 3, merchant, CUSTOMERS);
      Waiting.await(app, 3);

      Future<Boolean> stopping = app.service().stop();
      awaitNotReady(app);
      lock.release();

      assertAllAnswered(all, 200);
      assertThat(stopping.await(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void aStopRefusesThoseWhoWaitInTheirTime() throws Exception {
    try (TestApp app = startWithWaitsOf(LONG_ENOUGH_TO_BE_SEEN_MS);
        TableLock lock = TableLock.of(app.database(), "customer")) {
      Merchant merchant = Waiting.merchant(app);
      List<RawHttp> taken = Waiting.takePlaces(merchant, CUSTOMERS);
      List<RawHttp> waiting = get(3, merchant, CUSTOMERS);
      Waiting.await(app, 3);

      Future<Boolean> stopping = app.service().stop();
      assertAllAnswered(waiting, 503);
      assertThat(stopping.isComplete()).isFalse();
      lock.release();

      assertAllAnswered(taken, 200);
      assertThat(stopping.await(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  private static void awaitNotReady(TestApp app) throws Exception {
    assertThat(
            Merchant.eventually(
                () -> app.management("GET", "/health/ready").undocumented().send().status(),
                status -> status == 503))
        .isEqualTo(503);
  }
}
