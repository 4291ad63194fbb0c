package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.steelyard.support.Merchant;
import io.steelyard.support.RawHttp;
import io.steelyard.support.TableLock;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** What a client does wrong is told to it, not to whoever reads the log for faults of ours. */
@Isolated("it reads the log of the whole process")
class ClientFaultsIT {
  private static TestApp app;
  private static Merchant merchant;
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();

  @BeforeAll
  static void start() {
    app = TestApp.start(Map.of("verticles.http.instances", "1"));
    merchant = app.merchant("live", null);
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  @BeforeEach
  void listen() {
    log.start();
    root().addAppender(log);
  }

  @AfterEach
  void noErrorWasLogged() {
    root().detachAppender(log);
    assertThat(List.copyOf(log.list))
        .filteredOn(event -> event.getLevel().isGreaterOrEqual(Level.ERROR))
        .extracting(ILoggingEvent::getFormattedMessage)
        .isEmpty();
  }

  private static Logger root() {
    return (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/%",
        "/%zz",
        "/docs/%zz",
        "/external/customers/%zz/more",
        "/sandbox/checkout/%zz/x",
        "/sandbox/checkout/%c3/%",
        "/openapi.json%",
        "http://127.0.0.1/%zz",
      })
  void aPathWithABrokenEscapeIsRefusedWithoutAnError(String path) {
    for (int port : List.of(app.port(), app.managementPort())) {
      try (RawHttp http = RawHttp.connect(port)) {
        http.send("GET " + path + " HTTP/1.1\nHost: 127.0.0.1\n\n");

        RawHttp.Response answer = http.read();

        assertThat(answer.status()).as(answer.body()).isEqualTo(400);
        assertThat(answer.body()).contains("\"code\":\"malformed_request\"");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /%ff",
        "GET /external/%e0%80",
        "GET /sandbox/checkout/mrc_1/%ff",
        "POST /sandbox/checkout/%ff/%00",
        "PATCH /docs",
        "OPTIONS *",
        "TRACE /openapi.json",
        "GET /../%2e%2e/%2E",
        "GET ?a=%zz",
        "GET //",
      })
  void anOddRequestIsRefusedWithoutAnError(String line) {
    for (int port : List.of(app.port(), app.managementPort())) {
      try (RawHttp http = RawHttp.connect(port)) {
        http.send(line + " HTTP/1.1\nHost: 127.0.0.1\n\n");

        assertThat(http.read().status()).isBetween(400, 499);
      }
    }
  }

  @Test
  void aClientThatLeavesIsCountedAsGoneAndNotAsServed() throws Exception {
    try (Connection connection = Tables.connect(app.database())) {
      connection.setAutoCommit(false);
      connection.createStatement().execute("LOCK TABLE customer IN ACCESS EXCLUSIVE MODE");
      merchant
          .call("GET", "/external/invoices/inv_1/with-line-items")
          .send(404); // its key is known
      List<String> before = connections();
      try (RawHttp http = RawHttp.connect(app.port())) {
        http.send(
            "GET /external/customers HTTP/1.1\nHost: 127.0.0.1\nx-api-key: "
                + merchant.key()
                + "\n\n");
        TableLock.awaitWaiting(app.database(), 1);
      }
      until(() -> connections().equals(before)); // the server has seen the end
      connection.rollback();
    }

    until(() -> !counted().isEmpty());
    assertThat(counted()).singleElement().asString().contains("status=\"gone\"");
  }

  private static List<String> counted() {
    return metrics("steelyard_http_requests_seconds_count")
        .filter(line -> line.contains("route=\"/external/customers\""))
        .toList();
  }

  private static List<String> connections() {
    return metrics("steelyard_http_connections{").toList();
  }

  private static Stream<String> metrics(String beginning) {
    return app.service().metrics().scrape().lines().filter(line -> line.startsWith(beginning));
  }

  private static void until(Callable<Boolean> reached) throws Exception {
    long deadline = System.nanoTime() + 10_000_000_000L;
    while (!reached.call()) {
      assertThat(System.nanoTime()).isLessThan(deadline);
      Thread.sleep(10);
    }
  }
}
