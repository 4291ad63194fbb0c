package io.steelyard;

import static io.steelyard.support.Merchant.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.json.Json;
import io.steelyard.support.Merchant;
import io.steelyard.support.RawHttp;
import io.steelyard.support.RawHttp.Response;
import io.steelyard.support.TestApp;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A stop seen from a proxy: told by the readiness, and in time. */
class GracefulStopIT {
  private static final int SENDERS = 8;
  private static final Duration LOOK_EVERY = Duration.ofMillis(500);

  private TestApp app;
  private Merchant merchant;
  private String event;

  @BeforeEach
  void start() {
    app = TestApp.start(Map.of("timeouts.unreadyMs", "4000"));
    merchant = app.merchant("test", Merchant.CATALOG);
    event = Json.encodeText(merchant.event("nobody-yet", "api.request", 1, null));
  }

  @AfterEach
  void stop() {
    app.close();
  }

  @Test
  void requestsAreTakenUntilTheirSenderHasSeenThatTheNodeIsNotReady() throws Exception {
    try (RawHttp kept = RawHttp.connect(app.port());
        RawHttp late = RawHttp.connect(app.port())) {
      assertThat(post(kept).headers()).doesNotContainKey("connection");

      Future<Boolean> stopping = app.service().stop();

      assertThat(ready()).isEqualTo(503);
      Response last = post(kept);
      assertThat(last.status()).isEqualTo(202);
      assertThat(last.header("connection")).isEqualTo("close");
      assertThat(kept.isClosedByServer()).isTrue();
      try (RawHttp fresh = RawHttp.connect(app.port())) {
        assertThat(post(fresh).status()).isEqualTo(202);
        assertThat(fresh.isClosedByServer()).isTrue();
      }
      assertThat(stopping.isComplete()).isFalse();

      assertThat(stopping.await(20, TimeUnit.SECONDS)).isTrue();
      assertThat(late.isClosedByServer()).isTrue();
    }
  }

  @Test
  void underLoadNoRequestIsDropped() throws Exception {
    AtomicInteger sent = new AtomicInteger();
    AtomicInteger accepted = new AtomicInteger();
    try (ExecutorService senders = Executors.newVirtualThreadPerTaskExecutor()) {
      List<CompletableFuture<Void>> loads = new ArrayList<>();
      for (int i = 0; i < SENDERS; i++) {
        loads.add(CompletableFuture.runAsync(() -> sendWhileReady(sent, accepted), senders));
      }
      int before = eventually(accepted::get, count -> count > 20 * SENDERS);

      Future<Boolean> stopping = app.service().stop(); // which ends the senders, too
      assertThat(before).isGreaterThan(20 * SENDERS);

      for (CompletableFuture<Void> load : loads) {
        load.get(20, TimeUnit.SECONDS);
      }
      assertThat(stopping.await(20, TimeUnit.SECONDS)).isTrue();
      assertThat(accepted.get()).isEqualTo(sent.get()).isGreaterThan(before);
    }
  }

  /** As a proxy would: keeps its connection, and looks at the readiness from time to time. */
  private void sendWhileReady(AtomicInteger sent, AtomicInteger accepted) {
    RawHttp connection = RawHttp.connect(app.port());
    try {
      while (ready() == 200) {
        long lookAgain = System.nanoTime() + LOOK_EVERY.toNanos();
        while (System.nanoTime() < lookAgain) {
          sent.incrementAndGet();
          Response answer = post(connection);
          assertThat(answer.status()).isEqualTo(202);
          accepted.incrementAndGet();
          if ("close".equals(answer.header("connection"))) {
            connection.close();
            connection = RawHttp.connect(app.port());
          }
        }
      }
    } finally {
      connection.close();
    }
  }

  private Response post(RawHttp connection) {
    int bytes = event.getBytes(StandardCharsets.UTF_8).length;
    return connection
        .send(
            "POST /external/event HTTP/1.1\nHost: steelyard\nX-Api-Key: %s\nContent-Type: application/json\nContent-Length: %d\n\n%s"
                .formatted(merchant.key(), bytes, event))
        .read();
  }

  private int ready() {
    return app.management("GET", "/health/ready").undocumented().send().status();
  }
}
