package io.steelyard;

import static io.steelyard.support.Merchant.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.db.Endpoint;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import io.steelyard.support.TestConfig;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** PostgreSQL is stopped as a crash would stop it, and comes back, while requests go on. */
class DatabaseGoneIT {
  private static final long ANSWERED_WITHIN_MS = 11_000;

  @TempDir Path dir;
  private EmbeddedPostgres postgres;
  private TestApp app;
  private Merchant merchant;
  private String customer;

  @BeforeEach
  void start() throws IOException {
    // kept while nobody listens on it
    postgres = postgres(Integer.parseInt(TestConfig.freePort()));
    app =
        TestApp.start(
            new Endpoint("127.0.0.1", postgres.getPort(), "postgres", "postgres", ""), Map.of());
    merchant = app.merchant("test", Merchant.CATALOG);
    customer = (String) merchant.createCustomer("first").get("id");
  }

  @AfterEach
  void stop() throws IOException {
    app.close();
    postgres.close();
  }

  private EmbeddedPostgres postgres(int port) throws IOException {
    return EmbeddedPostgres.builder()
        .setDataDirectory(dir.resolve("data").toFile())
        .setCleanDataDirectory(false)
        .setServerConfig("synchronous_commit", "on")
        .setPort(port)
        .setPGStartupWait(Duration.ofSeconds(60))
        .start();
  }

  /** SIGQUIT: connections are cut, nothing is written any more. */
  private void crash() throws Exception {
    Path pidFile = dir.resolve("data/postmaster.pid");
    String pid = Files.readAllLines(pidFile).get(0).strip();
    new ProcessBuilder("kill", "-QUIT", pid).start().waitFor();
    ProcessHandle.of(Long.parseLong(pid))
        .ifPresent(
            process ->
                process.onExit().orTimeout(20, java.util.concurrent.TimeUnit.SECONDS).join());
  }

  private void comeBack() throws IOException {
    int port = postgres.getPort();
    postgres.close();
    postgres = postgres(port);
  }

  private Answer post(String key) {
    return merchant.post("/external/event", merchant.event(customer, "api.request", 1, key));
  }

  private int health(String probe) {
    return app.management("GET", "/health/" + probe).undocumented().send().status();
  }

  private static void unavailableInTime(Answer answer, long startedAt) {
    assertThat(answer.status()).as(answer.text()).isEqualTo(503);
    assertThat(answer.header("retry-after")).matches("[1-9]\\d*");
    assertThat(answer.<String>at("code")).isEqualTo("database_unavailable");
    assertThat((System.nanoTime() - startedAt) / 1_000_000).isLessThan(ANSWERED_WITHIN_MS);
  }

  @Test
  void everythingAnswers503AndRecoversWithoutARestart() throws Exception {
    assertThat(post("before").status()).isEqualTo(202);
    crash();

    long startedAt = System.nanoTime();
    unavailableInTime(post("while-away"), startedAt);
    for (String path : new String[] {"/external/customers", "/external/subscriptions"}) {
      startedAt = System.nanoTime();
      unavailableInTime(merchant.get(path), startedAt);
    }
    startedAt = System.nanoTime();
    unavailableInTime(merchant.operator("GET", "/invoices").send(), startedAt);
    assertThat(eventually(() -> health("ready"), status -> status == 503)).isEqualTo(503);
    assertThat(health("live")).isEqualTo(200);
    assertThat(app.management("GET", "/metrics").undocumented().send().text())
        .contains("steelyard_ingest_refused_total");

    comeBack();

    assertThat(eventually(() -> health("ready"), status -> status == 200)).isEqualTo(200);
    assertThat(post("before").object()).isEqualTo(Map.of("accepted", 0, "duplicates", 1));
    assertThat(post("while-away").object()).isEqualTo(Map.of("accepted", 1, "duplicates", 0));
    assertThat(merchant.get("/external/customers").<Object>at("count")).isEqualTo(1);
    merchant.createCustomer("second");
  }

  /** Senders repeat under the same key until they are told yes, over two crashes. */
  @Test
  void nothingAcknowledgedIsLostAndNothingIsStoredTwice() throws Exception {
    Queue<String> acknowledged = new ConcurrentLinkedQueue<>();
    AtomicInteger next = new AtomicInteger();
    AtomicInteger refused = new AtomicInteger();
    AtomicBoolean sending = new AtomicBoolean(true);
    List<Thread> senders =
        List.of(
            sender(next, sending, acknowledged, refused),
            sender(next, sending, acknowledged, refused),
            sender(next, sending, acknowledged, refused));
    for (int i = 0; i < 2; i++) {
      Thread.sleep(500);
      crash();
      Thread.sleep(300);
      comeBack();
    }
    assertThat(eventually(() -> health("ready"), status -> status == 200)).isEqualTo(200);
    int before = acknowledged.size();
    assertThat(eventually(acknowledged::size, size -> size > before + 20))
        .isGreaterThan(before + 20);

    sending.set(false);
    for (Thread sender : senders) {
      sender.join(Duration.ofSeconds(30));
    }

    assertThat(refused.get()).isPositive();
    assertThat(
            PostgresSupport.column(
                app.database(), "SELECT count(*), count(DISTINCT key) FROM event"))
        .containsExactly(Integer.toString(acknowledged.size()));
    assertThat(acknowledged).hasSize(next.get()).doesNotHaveDuplicates();
    for (String key : acknowledged.stream().limit(20).toList()) {
      assertThat(post(key).object()).isEqualTo(Map.of("accepted", 0, "duplicates", 1));
    }
  }

  private Thread sender(
      AtomicInteger next,
      AtomicBoolean sending,
      Queue<String> acknowledged,
      AtomicInteger refused) {
    return Thread.startVirtualThread(
        () -> {
          while (sending.get()) {
            String key = "event-" + next.incrementAndGet();
            while (post(key).status() != 202) {
              refused.incrementAndGet();
            }
            acknowledged.add(key);
          }
        });
  }
}
