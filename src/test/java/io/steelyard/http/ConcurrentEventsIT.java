package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.http.EventConnection.Outcome;
import io.steelyard.support.Merchant;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The same events from many sides at once, by two processes with two buffers each. */
class ConcurrentEventsIT {
  private static final Map<String, String> SETTINGS =
      Map.of("verticles.usage.instances", "2", "ingest.flushEventsMax", "100");

  private static TestApp app;
  private static TestApp other;
  private Merchant merchant;
  private String customer;

  @BeforeAll
  static void start() {
    app = TestApp.start(SETTINGS);
    other = TestApp.start(app.database(), SETTINGS);
  }

  @AfterAll
  static void stop() {
    other.close();
    app.close();
  }

  @BeforeEach
  void newMerchant() {
    merchant = app.merchant("test", Merchant.CATALOG);
    customer = merchant.customerId("acme");
  }

  private static EventConnection connection(int i) {
    return new EventConnection((i % 2 == 0 ? app : other).port());
  }

  private String events(List<String> keys) {
    String at = Instant.now().toString();
    StringBuilder body = new StringBuilder("[");
    for (String key : keys) {
      body.append(body.length() > 1 ? "," : "")
          .append("{\"customerId\":\"%s\",\"eventName\":\"api.request\"".formatted(customer))
          .append(",\"generatedAt\":\"%s\",\"data\":{\"count\":1}".formatted(at))
          .append(",\"idempotencyKey\":\"%s\"}".formatted(key));
    }
    return body.append(']').toString();
  }

  private void assertCounted(int events) throws Exception {
    String counters =
        "SELECT events || ' ' || sum FROM usage_counter WHERE merchant_id ="
            + " (SELECT merchant_id FROM customer WHERE external_id = 'acme'"
            + " ORDER BY created_at DESC LIMIT 1)";
    List<String> expected = List.of(events + " " + events);
    assertThat(Merchant.eventually(() -> Tables.query(app.database(), counters), expected::equals))
        .isEqualTo(expected);
    assertThat(Tables.query(app.database(), "SELECT 1 FROM event_batch")).isEmpty();
    assertThat(merchant.operator("GET", "/integrity").send(200).<Boolean>at("clean")).isTrue();
  }

  @Test
  void aThousandSendsOfOneKeyOverFiftyConnectionsCountOnce() throws Exception {
    int connections = 50;
    int requests = 20;
    String body = events(List.of(UUID.randomUUID().toString()));
    CyclicBarrier start = new CyclicBarrier(connections);

    List<Outcome> outcomes =
        Merchant.atOnce(
                connections,
                i -> {
                  try (EventConnection connection = connection(i)) {
                    await(start);
                    connection.write(merchant, body, requests);
                    return IntStream.range(0, requests)
                        .mapToObj(request -> connection.read().outcome())
                        .toList();
                  }
                })
            .stream()
            .flatMap(List::stream)
            .toList();

    assertThat(outcomes).hasSize(connections * requests);
    assertThat(outcomes).filteredOn(new Outcome(1, 0)::equals).hasSize(1);
    assertThat(outcomes).filteredOn(new Outcome(0, 1)::equals).hasSize(outcomes.size() - 1);
    assertCounted(1);
  }

  @Test
  void bodiesThatShareKeysInAnyOrderNeitherDeadlockNorDouble() throws Exception {
    int connections = 8;
    int rounds = 30;
    int keysOfARound = 150; // more than a flush, so that bodies meet in several
    CyclicBarrier round = new CyclicBarrier(connections);
    List<List<String>> keys = new ArrayList<>();
    for (int i = 0; i < rounds; i++) {
      keys.add(
          IntStream.range(0, keysOfARound).mapToObj(k -> UUID.randomUUID().toString()).toList());
    }

    List<Integer> accepted =
        Merchant.atOnce(
            connections,
            i -> {
              try (EventConnection connection = connection(i / 2)) {
                int sum = 0;
                for (List<String> each : keys) {
                  String body = events(inAnOrder(each, i));
                  await(round);
                  Outcome outcome = connection.post(merchant, body);
                  assertThat(outcome.accepted() + outcome.duplicates()).isEqualTo(each.size());
                  sum += outcome.accepted();
                }
                return sum;
              }
            });

    int distinct = rounds * keysOfARound;
    assertThat(accepted.stream().mapToInt(Integer::intValue).sum()).isEqualTo(distinct);
    assertCounted(distinct);
    assertThat(
            Tables.query(
                app.database(),
                "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"))
        .containsExactly("0");
  }

  /** As it is, reversed, or shuffled. */
  private static List<String> inAnOrder(List<String> keys, int connection) {
    List<String> ordered = new ArrayList<>(keys);
    if (connection % 4 == 1) {
      Collections.reverse(ordered);
    } else if (connection % 4 > 1) {
      Collections.shuffle(ordered);
    }
    return ordered;
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await(60, TimeUnit.SECONDS); // one that has failed does not come
    } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
      throw new IllegalStateException(e);
    }
  }
}
