package io.steelyard.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.db.Endpoint;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.RawHttp;
import io.steelyard.support.RawHttp.Response;
import io.steelyard.support.TableLock;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import java.sql.Connection;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Setting a clock may take longer than other requests may, and than a connection may be silent. */
class SlowAnswersIT {
  private static final int USUAL_MS = 300;
  private static Merchant merchant;
  private static TestApp app;

  @BeforeAll
  static void start() {
    Endpoint database = PostgresSupport.migratedDatabase();
    try (TestApp patient = TestApp.start(database, Map.of())) {
      merchant = patient.merchant("test", Merchant.CATALOG);
    }
    app =
        TestApp.start(
            database,
            Map.of(
                "timeouts.requestMs",
                String.valueOf(USUAL_MS),
                "timeouts.idleMs",
                String.valueOf(3 * USUAL_MS),
                "timeouts.clockMs",
                "30000",
                "database.lockTimeoutMs",
                "30000"));
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  @Test
  void aClockIsWaitedForBeyondTheUsualTimes() throws Exception {
    try (RawHttp connection = RawHttp.connect(app.managementPort());
        Connection holder = holdingClocks()) {
      connection.send(setClock());
      TableLock.awaitWaiting(app.database(), 1);
      Thread.sleep(6 * USUAL_MS);
      holder.rollback();

      Response answer = connection.read();

      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.body()).contains("2031-01-01T00:00:00.000Z");
      assertThat(connection.isClosedByServer()).isTrue(); // silent, with nothing to wait for
    }
  }

  @Test
  void otherRequestsAreNot() throws Exception {
    Merchant impatient = new Merchant(app, merchant.id(), merchant.key());
    try (Connection holder = Tables.connect(app.database())) {
      holder.setAutoCommit(false);
      holder.createStatement().execute("LOCK TABLE customer");

      assertThat(impatient.post("/external/customers", Map.of("externalId", "a")).problem())
          .startsWith("504 timeout");
      holder.rollback();
    }
  }

  private static Connection holdingClocks() throws Exception {
    Connection holder = Tables.connect(app.database());
    holder.setAutoCommit(false);
    holder.createStatement().execute("SELECT 1 FROM merchant FOR UPDATE");
    return holder;
  }

  private static String setClock() {
    String body = "{\"now\":\"2031-01-01T00:00:00Z\"}";
    return """
        PUT /operator/merchants/%s/clock HTTP/1.1
        Host: test
        Authorization: Bearer %s
        Content-Type: application/json
        Content-Length: %d

        %s"""
        .formatted(merchant.id(), TestApp.OPERATOR_TOKEN, body.length(), body);
  }
}
