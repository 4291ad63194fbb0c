package io.steelyard.integrity;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.sql.Connection;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The check that runs by itself. */
class IntegrityRoundsIT {
  private static final Map<String, String> OFTEN = Map.of("integrity.everyMs", "200");

  private TestApp app;

  @BeforeEach
  void start() {
    app = TestApp.start(OFTEN);
  }

  @AfterEach
  void stop() {
    app.close();
  }

  /** With so little time for each check that one which has to wait fails soon. */
  private void restartInHaste() {
    app.close();
    Map<String, String> settings = new HashMap<>(OFTEN);
    settings.put("integrity.timeoutMs", "1000");
    app = TestApp.start(app.database(), settings);
  }

  private double metric(String name) {
    return app.management("GET", "/metrics")
        .undocumented()
        .send(200)
        .text()
        .lines()
        .filter(line -> line.startsWith(name + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
        .findFirst()
        .orElseThrow();
  }

  private double findings(String check) {
    return metric("steelyard_integrity_findings{check=\"" + check + "\"}");
  }

  @Test
  void aFaultOfAnyMerchantShowsInTheMetricUntilItIsMended() throws Exception {
    Books books = new Books(app);
    new Books(app);
    assertThat(Merchant.eventually(() -> findings("totals"), found -> found == 0)).isZero();
    assertThat(metric("steelyard_integrity_last_run_seconds"))
        .isGreaterThan(Instant.parse("2026-01-01T00:00:00Z").getEpochSecond());

    books.sql("UPDATE invoice SET total = total + 1 WHERE merchant_id = {merchant}");

    assertThat(Merchant.eventually(() -> findings("totals"), found -> found == 2)).isEqualTo(2);
    assertThat(findings("numbers")).isZero();

    books.sql("UPDATE invoice SET total = total - 1 WHERE merchant_id = {merchant}");

    assertThat(Merchant.eventually(() -> findings("totals"), found -> found == 0)).isZero();
  }

  @Test
  void rowsOfAMerchantThatIsNotThereAreFoundByTheRound() throws Exception {
    Books books = new Books(app);
    assertThat(Merchant.eventually(() -> findings("references"), found -> found == 0)).isZero();

    for (String table : List.of("customer", "subscription", "invoice")) {
      books.sql(
          """
          INSERT INTO {table}
          SELECT (json_populate_record(t, json_build_object('id', {stranger},
                  'merchant_id', {stranger}, 'boundary_index', 99))).*
            FROM {table} t ORDER BY id LIMIT 1
          """
              .replace("{table}", table));
    }

    assertThat(Merchant.eventually(() -> findings("references"), found -> found == 3)).isEqualTo(3);
    assertThat(Books.findings(books.check())).isEmpty();
  }

  @Test
  void aMerchantThatCannotBeCheckedIsCountedAndAskedForInVain() throws Exception {
    restartInHaste();
    Books books = new Books(app);
    try (Connection holder = Tables.connect(app.database())) {
      holder.setAutoCommit(false);
      holder.createStatement().execute("LOCK TABLE rebill IN ACCESS EXCLUSIVE MODE");

      assertThat(check(books).status()).isIn(503, 504);
      assertThat(
              Merchant.eventually(
                  () -> metric("steelyard_integrity_failed_total"), failed -> failed > 0))
          .isPositive();
      holder.rollback();
    }
    Answer answer = Merchant.eventually(() -> check(books), it -> it.status() == 200);
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    assertThat(Books.findings(answer)).isEmpty();
  }

  private static Answer check(Books books) {
    return books.merchant.operator("GET", "/integrity").send();
  }
}
