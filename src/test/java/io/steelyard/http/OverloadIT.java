package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.RawHttp;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import io.steelyard.support.TestConfig;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A database that does not answer costs its callers an error, and never their patience. */
@Isolated // its times are those of a machine of its own
class OverloadIT {
  private static final int REQUEST_MS = 5000;
  private static final int LOCK_MS = 2000;
  private static final int CALLS = 24;

  /** What one call saw. */
  private record Seen(Answer answer, Duration took) {
    boolean quick() {
      return took.toMillis() < LOCK_MS / 2;
    }
  }

  private static TestApp start(Map<String, String> settings) {
    Map<String, String> all =
        new HashMap<>(
            Map.of(
                "verticles.http.instances",
                "1",
                "verticles.customer.instances",
                "1",
                "limits.httpInFlightPercentPerMerchant",
                "50",
                "timeouts.placeMs",
                "0",
                "timeouts.requestMs",
                "" + REQUEST_MS,
                "database.lockTimeoutMs",
                "" + LOCK_MS,
                "database.poolWaitMs",
                "" + LOCK_MS));
    all.putAll(settings);
    return TestApp.start(all);
  }

  private static Seen get(Merchant merchant, String path) {
    Instant start = Instant.now();
    Answer answer = merchant.get(path);
    return new Seen(answer, Duration.between(start, Instant.now()));
  }

  /** Many calls at once while nobody can read the table of customers. */
  private static List<Seen> whileCustomersAreLocked(TestApp app, Merchant merchant) {
    return whileCustomersAreLocked(app, List.of(merchant), 0, () -> {});
  }

  /**
   * @param merchants who call by turns
   * @param then is run once so many calls have been answered
   */
  private static List<Seen> whileCustomersAreLocked(
      TestApp app, List<Merchant> merchants, int answered, Runnable then) {
    try (Connection connection = Tables.connect(app.database());
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      connection.setAutoCommit(false);
      connection.createStatement().execute("LOCK TABLE customer IN ACCESS EXCLUSIVE MODE");
      CountDownLatch done = new CountDownLatch(answered);
      List<CompletableFuture<Seen>> calls =
          IntStream.range(0, CALLS)
              .mapToObj(
                  i ->
                      CompletableFuture.supplyAsync(
                              () -> get(merchants.get(i % merchants.size()), "/external/customers"),
                              threads)
                          .whenComplete((seen, error) -> done.countDown()))
              .toList();
      assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
      then.run();
      List<Seen> seen = calls.stream().map(CompletableFuture::join).toList();
      connection.rollback();
      return seen;
    } catch (SQLException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void assertRefused(Seen seen) {
    assertThat(seen.answer().status()).as(seen.answer().text()).isEqualTo(503);
    assertThat(Integer.parseInt(seen.answer().header("retry-after"))).isBetween(1, 60);
    assertThat(seen.took()).isLessThan(Duration.ofMillis(REQUEST_MS + 1000));
  }

  /** And had to give up on the locked table then. */
  private static void assertLetIn(Seen seen) {
    assertThat(seen.answer().problem()).isEqualTo("503 contention []");
  }

  private static List<Seen> overloaded(List<Seen> all) {
    return all.stream()
        .filter(one -> one.answer().<String>at("code").equals("overloaded"))
        .toList();
  }

  private static void assertRecovered(TestApp app, Merchant merchant) {
    merchant.call("GET", "/external/customers").send(200);
    merchant.createCustomer("afterwards");
    app.management("GET", "/health/ready").undocumented().send(200);
    List<Seen> seen =
        IntStream.range(0, 10).mapToObj(i -> get(merchant, "/external/customers")).toList();
    assertThat(seen).extracting(one -> one.answer().status()).containsOnly(200);
  }

  @Test
  void requestsAboveThoseInFlightAreRefusedAtOnceAndTheOthersInTime() {
    try (TestApp app =
        start(
            Map.of(
                "limits.httpInFlightPerInstance", "3",
                "limits.httpInFlightPercentPerMerchant", "100"))) {
      Merchant merchant = app.merchant("test", null);
      merchant.call("GET", "/external/customers").send(200); // its key is known from here on

      List<Seen> seen = whileCustomersAreLocked(app, merchant);

      assertThat(seen).allSatisfy(OverloadIT::assertRefused);
      assertThat(overloaded(seen)).hasSize(CALLS - 3).allMatch(Seen::quick);
      assertThat(app.service().metrics().scrape())
          .contains("steelyard_http_refused_total " + (CALLS - 3) + ".0");
      assertRecovered(app, merchant);
    }
  }

  /** However many instances there are: each would take twice its share. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void aMerchantThatTakesItsShareLeavesTheRestToOthers(int instances) {
    try (TestApp app =
        start(
            Map.of(
                "http.port",
                TestConfig.freePort(),
                "verticles.http.instances",
                "" + instances,
                "limits.httpInFlightPerInstance",
                "4"))) {
      Merchant merchant = app.merchant("test", null);
      merchant.call("GET", "/external/customers").send(200);
      Merchant other = app.merchant("test", null);
      other.call("GET", "/external/subscriptions").send(200);

      List<Seen> seen =
          whileCustomersAreLocked(
              app,
              List.of(merchant),
              CALLS - 2,
              () -> other.call("GET", "/external/subscriptions").send(200));

      assertThat(overloaded(seen)).hasSize(CALLS - 2).allMatch(Seen::quick);
      assertRecovered(app, merchant);
    }
  }

  @Test
  void aVerticleRefusesAboveWhatItHasInFlight() {
    try (TestApp app = start(Map.of("limits.verticleInFlightPerInstance", "3"))) {
      Merchant merchant = app.merchant("test", null);
      merchant.call("GET", "/external/customers").send(200);
      Merchant other = app.merchant("test", null);
      other.call("GET", "/external/customers").send(200);

      List<Seen> seen = whileCustomersAreLocked(app, List.of(merchant, other), 0, () -> {});

      assertThat(seen).allSatisfy(OverloadIT::assertRefused);
      assertThat(overloaded(seen)).hasSize(CALLS - 3).allMatch(Seen::quick);
      assertThat(app.service().metrics().scrape())
          .containsPattern("steelyard_bus_refused_total\\{address=\"[a-z.]*customer\"} [1-9]");
      assertRecovered(app, merchant);
    }
  }

  @Test
  void aMerchantDoesNotFillAVerticleByWayOfAllHttpInstances() {
    try (TestApp app =
        start(
            Map.of(
                "http.port", TestConfig.freePort(),
                "verticles.http.instances", "2",
                "limits.httpInFlightPerInstance", "16",
                "limits.verticleInFlightPerInstance", "4"))) {
      Merchant merchant = app.merchant("test", null);
      merchant.call("GET", "/external/customers").send(200);
      Merchant other = app.merchant("test", null);
      other.call("GET", "/external/customers").send(200);

      List<Seen> seen =
          whileCustomersAreLocked(
              app,
              List.of(merchant),
              CALLS - 2,
              () -> assertLetIn(get(other, "/external/customers")));

      assertThat(overloaded(seen)).hasSize(CALLS - 2);
      assertRecovered(app, merchant);
    }
  }

  @Test
  void callersThatWaitForAConnectionAreToldInTimeAndOtherFeaturesGoOn() {
    try (TestApp app =
        start(Map.of("database.apiPoolSize", "2", "database.poolWaitQueueMax", "4"))) {
      Merchant merchant = app.merchant("test", null);
      merchant.call("GET", "/external/customers").send(200);

      List<Seen> seen = whileCustomersAreLocked(app, merchant);

      assertThat(seen).allSatisfy(OverloadIT::assertRefused);
      assertRecovered(app, merchant);
    }
  }

  @Test
  void aRequestThatOutlivesItsTimeIsEndedWithoutALeftover() {
    try (TestApp app =
        start(Map.of("database.lockTimeoutMs", "30000", "timeouts.requestMs", "2000"))) {
      Merchant merchant = app.merchant("test", null);
      merchant.call("GET", "/external/customers").send(200);

      List<Seen> seen = whileCustomersAreLocked(app, merchant);

      assertThat(seen)
          .allSatisfy(
              one -> {
                assertThat(one.answer().status()).isIn(503, 504);
                assertThat(one.took()).isLessThan(Duration.ofMillis(4000));
              })
          .anySatisfy(one -> assertThat(one.answer().status()).isEqualTo(504));
      assertRecovered(app, merchant);
    }
  }

  @Test
  void eventsAndReadinessDoNotWaitForThePoolOfTheOtherRequests() throws Exception {
    try (TestApp app =
            start(
                Map.of(
                    "database.apiPoolSize", "1",
                    "database.poolWaitQueueMax", "1",
                    "database.lockTimeoutMs", "20000",
                    "database.statementTimeoutMs", "20000",
                    "timeouts.requestMs", "30000",
                    "keys.cacheMs", "1"));
        Connection connection = Tables.connect(app.database());
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Merchant merchant = app.merchant("test", null);
      connection.setAutoCommit(false);
      connection.createStatement().execute("LOCK TABLE customer IN ACCESS EXCLUSIVE MODE");
      Future<Seen> waiting = threads.submit(() -> get(merchant, "/external/customers"));
      List<Seen> ready = new ArrayList<>();
      while (!waiting.isDone() && ready.size() < 5) {
        merchant.call("GET", "/external/event").undocumented().send(405);
        ready.add(get(merchant, "/external/customers?page=0")); // refused once its key is known
        app.management("GET", "/health/ready").undocumented().send(200);
      }
      connection.rollback();

      assertThat(ready).hasSize(5).extracting(one -> one.answer().status()).containsOnly(400);
      waiting.get();
    }
  }

  @Test
  void aBodyThatIsRefusedUnreadDoesNotHoldUpTheNextRequest() throws Exception {
    try (TestApp app = start(Map.of("keys.cacheMs", "1", "database.statementTimeoutMs", "500"));
        Connection connection = Tables.connect(app.database())) {
      Merchant merchant = app.merchant("test", null);
      connection.setAutoCommit(false);
      connection.createStatement().execute("LOCK TABLE api_key IN ACCESS EXCLUSIVE MODE");
      try (RawHttp http = RawHttp.connect(app.port())) {
        String head = "POST /external/customers HTTP/1.1\nHost: a\nx-api-key: " + merchant.key();
        http.send(head + "\ncontent-type: application/json\ncontent-length: 1048576\n\n");
        http.send(new byte[1 << 20]);
        assertThat(http.read().status()).isEqualTo(503);

        Instant start = Instant.now();
        http.send("GET /openapi.json HTTP/1.1\nHost: a\n\n");

        assertThat(http.read().status()).isEqualTo(200);
        assertThat(Duration.between(start, Instant.now())).isLessThan(Duration.ofSeconds(5));
      }
      connection.rollback();
    }
  }
}
