package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What a merchant may ask and send a second, from outside. */
class RateLimitsIT {
  private static final String EVENTS = "/external/event";
  private static final String CUSTOMERS = "/external/customers";
  private static final int REQUESTS = 20;
  private static final int EVENTS_MAX = 100;
  private static final int MANY = 400;

  private static TestApp app;

  @BeforeAll
  static void start() {
    app =
        TestApp.start(
            Map.of(
                "limits.requestsPerSecondPerMerchant", "" + REQUESTS,
                "limits.eventsPerSecondPerMerchant", "" + EVENTS_MAX));
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static double metric(String name) {
    return app.service()
        .metrics()
        .scrape()
        .lines()
        .filter(line -> line.startsWith(name + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
        .sum();
  }

  private static List<Map<String, Object>> events(Merchant merchant, String key, int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> merchant.event("nobody", "tokens", 1, key + "-" + i))
        .toList();
  }

  /** Asks again as long as it is told to, as a client would. */
  private static Answer patiently(TestApp.Call call) throws InterruptedException {
    Answer answer = call.send();
    for (int i = 0; i < 20 && answer.status() == 429; i++) {
      Thread.sleep(1000L * Integer.parseInt(answer.header("retry-after")));
      answer = call.send();
    }
    return answer;
  }

  @Test
  void requestsAboveTheLimitAreRefusedWhileAnotherMerchantIsServed() throws InterruptedException {
    Merchant flooding = app.merchant("live", null);
    Merchant other = app.merchant("live", null);
    double before = metric("steelyard_http_rate_limited_total");

    List<Answer> answers =
        Merchant.atOnce(
            MANY, i -> (i == MANY / 2 ? other : flooding).call("GET", CUSTOMERS).send());

    assertThat(answers.get(MANY / 2).status()).isEqualTo(200);
    assertThat(answers).extracting(Answer::status).containsOnly(200, 429);
    assertThat(answers)
        .allSatisfy(
            answer -> {
              assertThat(answer.header("ratelimit-policy"))
                  .isEqualTo("\"requests\";q=" + REQUESTS + ";w=1");
              assertThat(answer.header("ratelimit")).matches("\"requests\";r=\\d+;t=[01]");
            });
    List<Answer> refused = answers.stream().filter(answer -> answer.status() == 429).toList();
    assertThat(refused)
        .isNotEmpty()
        .allSatisfy(
            answer -> {
              assertThat(answer.problem()).isEqualTo("429 rate_limited []");
              assertThat(answer.header("retry-after")).isEqualTo("1");
              assertThat(answer.header("ratelimit")).startsWith("\"requests\";r=0;");
            });
    assertThat(metric("steelyard_http_rate_limited_total") - before).isEqualTo(refused.size());
    assertThat(patiently(flooding.call("GET", CUSTOMERS)).status()).isEqualTo(200);
  }

  @Test
  void aRefusedRequestIsNotCarriedOutThoughItsBodyWasSent() throws InterruptedException {
    Merchant merchant = app.merchant("live", null);

    List<Answer> answers =
        Merchant.atOnce(
            MANY, i -> merchant.call("POST", CUSTOMERS).json(Map.of("externalId", "c" + i)).send());

    long created = answers.stream().filter(answer -> answer.status() == 201).count();
    assertThat(created).isPositive().isLessThan(MANY);
    Answer list = patiently(merchant.call("GET", CUSTOMERS));
    assertThat(list.<Number>at("count").longValue()).isEqualTo(created);
  }

  @Test
  void eventsAreCountedOneByOneAndNoneOfARefusedBatchIsStored() throws InterruptedException {
    Merchant merchant = app.merchant("live", null);
    Merchant other = app.merchant("live", null);
    String metric = "steelyard_ingest_refused_total{reason=\"rate_limited\"}";
    double before = metric(metric);
    merchant.call("POST", EVENTS).json(events(merchant, "first", 5 * EVENTS_MAX)).send(202);

    Answer refused = merchant.call("POST", EVENTS).json(events(merchant, "later", 7)).send(429);

    assertThat(refused.problem()).isEqualTo("429 rate_limited []");
    assertThat(Integer.parseInt(refused.header("retry-after"))).isBetween(1, 5);
    assertThat(refused.header("ratelimit-policy"))
        .isEqualTo("\"requests\";q=%d;w=1, \"events\";q=%d;w=1".formatted(REQUESTS, EVENTS_MAX));
    assertThat(refused.header("ratelimit"))
        .matches("\"requests\";r=\\d+;t=1, \"events\";r=0;t=[1-5]");
    assertThat(metric(metric) - before).isEqualTo(7);
    other.call("POST", EVENTS).json(events(other, "later", EVENTS_MAX)).send(202);
    Answer repeated = patiently(merchant.call("POST", EVENTS).json(events(merchant, "later", 7)));
    assertThat(repeated.text()).isEqualTo("{\"accepted\":7,\"duplicates\":0}");
  }

  @Test
  void eventsThatTheServiceCouldNotTakeAreNotCounted() {
    try (TestApp app =
        TestApp.start(
            Map.of("verticles.usage.instances", "0", "limits.eventsPerSecondPerMerchant", "1"))) {
      Merchant merchant = app.merchant("live", null);
      for (int i = 0; i < 3; i++) {
        Answer refused = merchant.call("POST", EVENTS).json(events(merchant, "k", 30)).send(503);

        assertThat(refused.problem()).isEqualTo("503 not_serving []");
        assertThat(refused.header("ratelimit")).isEqualTo("\"events\";r=1;t=0");
      }
    }
  }
}
