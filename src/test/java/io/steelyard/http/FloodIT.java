package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.http.EventConnection.Outcome;
import io.steelyard.support.Merchant;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A merchant who floods a buffer that cannot be emptied has a share of it, and no more. */
class FloodIT {
  private static final Map<String, String> SETTINGS =
      Map.of(
          "limits.eventsPerBatch", "200",
          "verticles.usage.instances", "1",
          "ingest.bufferedEventsMax", "200",
          "ingest.bufferedPercentPerMerchant", "50",
          "ingest.flushEventsMax", "1000",
          "ingest.flushesInFlight", "1",
          "database.lockTimeoutMs", "20000",
          "database.statementTimeoutMs", "20000",
          "timeouts.requestMs", "30000");

  private static String events(int count) {
    return IntStream.range(0, count)
        .mapToObj(
            i ->
                "{\"customerId\":\"c\",\"eventName\":\"n\",\"generatedAt\":\"2026-01-01T00:00:00Z\""
                    + ",\"idempotencyKey\":\"%s\"}".formatted(UUID.randomUUID()))
        .toList()
        .toString();
  }

  private static EventConnection sending(TestApp app, Merchant merchant, int count) {
    EventConnection connection = new EventConnection(app.port());
    connection.write(merchant, events(count), 1);
    return connection;
  }

  private static void awaitBuffered(TestApp app, int events) throws Exception {
    String line = "steelyard_ingest_buffered " + events + ".0";
    assertThat(
            Merchant.eventually(
                () -> app.service().metrics().scrape(), scrape -> scrape.contains(line)))
        .contains(line);
  }

  private static void assertRefused(Merchant merchant) {
    Answer refused = merchant.call("POST", "/external/event").json(events(40)).send(503);
    assertThat(refused.<String>at("code")).isEqualTo("ingest_overloaded");
    assertThat(refused.header("retry-after")).isEqualTo("1");
  }

  @Test
  void whoFloodsIsRefusedWhileAnotherIsTaken() throws Exception {
    try (TestApp app = TestApp.start(SETTINGS);
        Connection lock = Tables.connect(app.database())) {
      Merchant flooding = app.merchant("test", null);
      Merchant other = app.merchant("test", null);
      // Both are known from here on, so that nothing but the lock can hold them up.
      flooding.call("POST", "/external/event").json(events(1)).send(202);
      other.call("POST", "/external/event").json(events(1)).send(202);
      lock.setAutoCommit(false);
      lock.createStatement().execute("LOCK TABLE event_key IN SHARE MODE");

      List<EventConnection> taken = new ArrayList<>();
      taken.add(sending(app, flooding, 40)); // under way, and not of the share
      awaitBuffered(app, 40);
      taken.add(sending(app, flooding, 50));
      awaitBuffered(app, 90);
      taken.add(sending(app, flooding, 50));
      awaitBuffered(app, 140);
      assertRefused(flooding);
      taken.add(sending(app, other, 30));
      awaitBuffered(app, 170);
      assertRefused(flooding);
      assertRefused(other); // of whom there is room for less than that
      lock.rollback();

      assertThat(taken)
          .extracting(connection -> connection.read().outcome())
          .containsExactly(
              new Outcome(40, 0), new Outcome(50, 0), new Outcome(50, 0), new Outcome(30, 0));
      taken.forEach(EventConnection::close);
      awaitBuffered(app, 0);
      assertThat(Tables.query(app.database(), "SELECT count(*) FROM event")).containsExactly("172");
      assertThat(app.service().metrics().scrape())
          .contains("steelyard_ingest_refused_total{reason=\"ingest_overloaded\"} 120.0");
      flooding.call("POST", "/external/event").json(events(40)).send(202);
    }
  }
}
