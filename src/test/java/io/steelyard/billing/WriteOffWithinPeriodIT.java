package io.steelyard.billing;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.support.Merchant;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Units that end while usage of their time waits for units that are allocated within its period.
 */
class WriteOffWithinPeriodIT {
  private static final String MONTHLY_UNITS =
      Account.CATALOG.stripTrailing()
          + "\n    allocations:"
          + " [{customPricingUnit: credits, amount: 100, billingCadence: monthly}]\n";

  private static final String BEFORE_THE_SECOND_UNITS = "2040-02-20T00:00:00Z";
  private static final String SECOND_UNITS = "2040-02-29 12:00:00+00";
  private static final String END = "2040-03-15T00:00:00Z";

  private static TestApp app;

  private final Account account = Account.of(app, MONTHLY_UNITS);

  /** One after the other: periods are passed, then units written off, in one run. */
  @BeforeAll
  static void start() {
    app =
        TestApp.start(
            Map.of("billing.lanes", "1", "billing.pollMs", "60000", "aggregation.pollMs", "20"));
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private List<String> query(String sql) {
    UUID merchant = Id.parse(IdKind.MERCHANT, account.merchant().id()).orElseThrow().uuid();
    return Tables.query(app.database(), sql.replace(":merchant", "'" + merchant + "'"));
  }

  private void allocate(String customer, String amount) {
    String unit = account.merchant().unitId(MONTHLY_UNITS);
    assertThat(account.merchant().allocate(customer, unit, amount, END).status()).isEqualTo(201);
  }

  /** {@code 50 20 -20}: what was allocated, is left and was written off of each that ends then. */
  private List<String> ended() {
    return query(
        """
        SELECT concat_ws(' ', trim_scale(b.amount), trim_scale(b.remaining),
                         (SELECT trim_scale(sum(t.amount)) FROM credit_transaction t
                           WHERE t.allocation_block_id = b.id AND t.type = 'expiration'))
          FROM allocation_block b
         WHERE b.merchant_id = :merchant AND b.expires_at = '%s'
         ORDER BY b.amount
        """
            .formatted(END));
  }

  private List<String> allocatedInMarch() {
    return query(
        "SELECT trim_scale(remaining) FROM allocation_block WHERE merchant_id = :merchant"
            + " AND effective_at = '"
            + SECOND_UNITS
            + "'");
  }

  @Test
  void areNotWrittenOffBeforeItIsCounted() throws Exception {
    String other = account.merchant().customerId("other");
    allocate(account.customer(), "50");
    allocate(other, "7");
    account.subscribe("billingCadence", "annually");
    account.at(BEFORE_THE_SECOND_UNITS);
    account.use("token", 30, "2040-03-10T00:00:00Z");
    String held =
        "SELECT 1 FROM subscription_period WHERE merchant_id = :merchant AND ready_until = '"
            + SECOND_UNITS
            + "'";
    assertThat(Merchant.eventually(() -> query(held), found -> !found.isEmpty())).hasSize(1);

    CompletableFuture<Void> set;
    try (Connection connection = Tables.connect(app.database())) {
      connection.setAutoCommit(false);
      connection
          .createStatement()
          .execute("SELECT FROM subscription_period FOR NO KEY UPDATE"); // no backfill
      set = CompletableFuture.runAsync(() -> account.at("2040-03-20T00:00:00Z"));
      assertThat(Merchant.eventually(this::ended, found -> found.contains("7 0 -7")))
          .as("what nobody's usage waits for")
          .containsExactly("7 0 -7", "50 50");
      assertThat(allocatedInMarch()).containsExactly("100");
    }
    set.get(60, TimeUnit.SECONDS);

    assertThat(ended()).containsExactly("7 0 -7", "50 0 -20");
    assertThat(allocatedInMarch()).containsExactly("100");
  }
}
