package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.RawHttp;
import io.steelyard.support.TableLock;
import io.steelyard.support.TestApp;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A service that gives two places to each merchant, and who sends more than that. */
final class Waiting {
  static final int PLACES = 2;
  static final String CUSTOMERS = "/external/customers";
  static final String SUBSCRIPTIONS = "/external/subscriptions";

  private Waiting() {}

  /** Patient with locks, and with who waits for a place; nothing else asks for locked tables. */
  static TestApp start(Map<String, String> settings) {
    Map<String, String> all = new HashMap<>();
    for (String verticle :
        List.of("aggregation", "billing", "delivery", "integrity", "retention")) {
      all.put("verticles." + verticle + ".instances", "0");
    }
    all.putAll(
        Map.of(
            "verticles.http.instances", "1",
            "limits.httpInFlightPerInstance", "" + 2 * PLACES,
            "limits.httpInFlightPercentPerMerchant", "50",
            "timeouts.placeMs", "20000",
            "timeouts.requestMs", "30000",
            "database.lockTimeoutMs", "20000",
            "database.statementTimeoutMs", "20000"));
    all.putAll(settings);
    return TestApp.start(all);
  }

  /** Whose key is known from here on: a request that waits for that is in flight. */
  static Merchant merchant(TestApp app) {
    Merchant merchant = app.merchant("test", null);
    for (int i = 0; i < PLACES; i++) { // once at each instance
      try (RawHttp connection = get(merchant, CUSTOMERS + "?page=0")) {
        assertThat(connection.read().status()).isEqualTo(400);
      }
    }
    return merchant;
  }

  static RawHttp get(Merchant merchant, String path) {
    return ask(RawHttp.connect(merchant.app().port()), merchant, path);
  }

  static RawHttp ask(RawHttp connection, Merchant merchant, String path) {
    return connection.send(
        "GET " + path + " HTTP/1.1\nHost: a\nX-Api-Key: " + merchant.key() + "\n\n");
  }

  /** All its places, with requests that end when the lock of what they ask for does. */
  static List<RawHttp> takePlaces(Merchant merchant, String path) throws Exception {
    List<RawHttp> taken = Stream.generate(() -> get(merchant, path)).limit(PLACES).toList();
    TableLock.awaitWaiting(merchant.app().database(), PLACES);
    return taken;
  }

  /** Returns once so many requests wait for a place. */
  static void await(TestApp app, int waiting) throws Exception {
    String expected = "steelyard_http_waiting " + waiting + ".0";
    assertThat(
            Merchant.eventually(
                () -> lines(app, "steelyard_http_waiting ").getFirst(), expected::equals))
        .isEqualTo(expected);
  }

  /** Of the metrics. */
  static List<String> lines(TestApp app, String beginning) {
    return app.service()
        .metrics()
        .scrape()
        .lines()
        .filter(line -> line.startsWith(beginning))
        .toList();
  }

  static void assertAllAnswered(List<RawHttp> connections, int status) {
    assertThat(connections)
        .extracting(connection -> connection.read().status())
        .containsOnly(status);
    connections.forEach(RawHttp::close);
  }

  static void assertRefused(RawHttp.Response answer) {
    assertThat(answer.status()).isEqualTo(503);
    assertThat(answer.body()).contains("\"code\":\"overloaded\"", "of this merchant");
    assertThat(answer.header("retry-after")).isEqualTo("1");
    assertThat(answer.header("connection")).isNull();
  }
}
