package io.steelyard;

import static io.steelyard.support.Merchant.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import io.vertx.core.Future;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class DrainIT {
  private static final Map<String, String> PATIENT =
      Map.of("database.lockTimeoutMs", "8000", "database.statementTimeoutMs", "9000");

  @Test
  void whatIsInFlightIsAnsweredAndNothingNewIsAccepted() throws Exception {
    TestApp app = TestApp.start(PATIENT);
    Merchant merchant = app.merchant("test", Merchant.CATALOG);
    String customer = (String) merchant.createCustomer("first").get("id");
    Map<String, Object> event = merchant.event(customer, "api.request", 1, "in-flight");
    try (ExecutorService sending = Executors.newVirtualThreadPerTaskExecutor();
        Held tables = Held.lock(app)) {
      CompletableFuture<Answer> created =
          CompletableFuture.supplyAsync(
              () -> merchant.post("/external/customers", Map.of("externalId", "second")), sending);
      CompletableFuture<Answer> ingested =
          CompletableFuture.supplyAsync(() -> merchant.post("/external/event", event), sending);
      assertThat(eventually(() -> waiting(app), count -> count.equals("2"))).isEqualTo("2");

      Future<Boolean> stopping = app.service().stop();

      assertThat(eventually(() -> accepts(app.port()), open -> !open)).isFalse();
      Answer ready = app.management("GET", "/health/ready").undocumented().send();
      assertThat(ready.status()).isEqualTo(503);
      assertThat(ready.object()).containsEntry("database", "up").containsEntry("phase", "draining");
      assertThat(stopping.isComplete()).isFalse();
      assertThat(created).isNotDone();
      assertThat(ingested).isNotDone();

      tables.release();

      assertThat(created.get(10, TimeUnit.SECONDS).status()).isEqualTo(201);
      assertThat(ingested.get(10, TimeUnit.SECONDS).object())
          .isEqualTo(Map.of("accepted", 1, "duplicates", 0));
      assertThat(stopping.await(20, TimeUnit.SECONDS)).isTrue();
      assertThat(accepts(app.managementPort())).isFalse();
    }
    assertThat(PostgresSupport.column(app.database(), "SELECT name FROM event"))
        .containsExactly("api.request");
  }

  /** How many of the service's connections wait for a lock. */
  private static String waiting(TestApp app) {
    return PostgresSupport.column(
            app.database(),
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                + " AND datname = current_database()")
        .get(0);
  }

  private static boolean accepts(int port) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress("127.0.0.1", port), 1000);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Tables that nobody else can write to. */
  private record Held(Connection connection) implements AutoCloseable {
    static Held lock(TestApp app) throws SQLException {
      Connection connection = app.database().connect();
      connection.setAutoCommit(false);
      try (Statement statement = connection.createStatement()) {
        statement.execute("LOCK TABLE customer, event_batch IN SHARE MODE");
      }
      return new Held(connection);
    }

    void release() throws SQLException {
      connection.rollback();
    }

    @Override
    public void close() throws SQLException {
      connection.close();
    }
  }
}
