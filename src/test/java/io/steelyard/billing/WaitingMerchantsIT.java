package io.steelyard.billing;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.db.Endpoint;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Merchants whose due work has to wait, however many, do not keep the others from theirs. */
class WaitingMerchantsIT {
  private static final String CATALOG = Merchant.CATALOG.replace("defaultPlan: pro", "");

  /** More than a round takes, all due for longer than anybody. */
  private static final String[] WAITING = {
    """
    INSERT INTO merchant (id, name, environment, timezone, clock_now, created_at, updated_at)
    SELECT uuidv7(), 'waiting', '{environment}', 'UTC', {clock}, now(), now()
      FROM generate_series(1, 120)
    """,
    """
    INSERT INTO subscription (id, merchant_id, customer_id, plan_id, status, start_date, end_date,
      billing_cadence, currency, allow_customer_changes, auto_charge_invoice,
      auto_sync_invoice, auto_send_invoice, is_trial, due_at, period_index, created_at, updated_at)
    SELECT gen_random_uuid(), m.id, c.id, p.id, 'active', '2001-01-01Z', '2001-02-01Z', 'monthly',
           'USD', false, false, false, false, false, '2001-02-01Z', 0, now(), now()
    FROM merchant m, (SELECT id FROM customer LIMIT 1) c, (SELECT id FROM plan LIMIT 1) p
    WHERE m.name = 'waiting'
    """,
    """
    INSERT INTO event_batch (batch, merchant_id, events, bytes, stored_at, content)
    SELECT 1, id, 1, 1, '2001-01-01Z', '[]' FROM merchant WHERE name = 'waiting'
    """
  };

  /** What keeps their work from being done, without being an error. */
  enum Hold {
    SUBSCRIPTIONS_CLAIMED_BY_ANOTHER("live", "NULL", "subscription"),
    EVENTS_NOT_COUNTED_BEFORE_A_SET_CLOCK("test", "timestamptz '2001-03-01Z'", "event_batch");

    private final String environment;
    private final String clock;
    private final String table;

    Hold(String environment, String clock, String table) {
      this.environment = environment;
      this.clock = clock;
      this.table = table;
    }

    void hold(Connection connection) throws Exception {
      connection.setAutoCommit(false);
      connection
          .createStatement()
          .execute(
              """
              SELECT FROM %s t JOIN merchant m ON m.id = t.merchant_id
               WHERE m.name = 'waiting' FOR UPDATE OF t
              """
                  .formatted(table));
    }
  }

  private static Endpoint databaseWithWaiting(Hold hold) {
    Endpoint database = PostgresSupport.migratedDatabase();
    try (TestApp app = TestApp.start(database, Map.of())) {
      app.merchant("live", CATALOG).customerId("lent");
    }
    for (String statement : WAITING) {
      PostgresSupport.execute(
          database,
          statement.replace("{environment}", hold.environment).replace("{clock}", hold.clock));
    }
    return database;
  }

  @ParameterizedTest
  @EnumSource
  void theOthersHaveTheirTurn(Hold hold) throws Exception {
    Endpoint prepared = databaseWithWaiting(hold);
    try (Connection holder = Tables.connect(prepared)) {
      hold.hold(holder);
      try (TestApp app = TestApp.start(prepared, Map.of("billing.pollMs", "50"))) {
        Merchant merchant = app.merchant("live", CATALOG);
        String id = merchant.startsSoon(CATALOG, "pro");
        assertThat(merchant.statusOnceStarted(id)).isEqualTo("active");
        assertThat(stillDue(prepared)).isEqualTo(List.of("120"));
        assertThat(app.service().metrics().scrape()).contains("steelyard_billing_failed_total 0.0");
      }
    }
  }

  private static List<String> stillDue(Endpoint database) {
    return PostgresSupport.column(
        database, "SELECT count(*) FROM subscription WHERE due_at = '2001-02-01Z'");
  }
}
