package io.steelyard.billing;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Merchants whose due work cannot be done do not keep the others from theirs. */
class FailingMerchantsIT {
  private static final String CATALOG = Merchant.CATALOG.replace("defaultPlan: pro", "");

  /** As many as a round takes, all due for longer than anybody, refused when they commit. */
  private static final String[] FAILING = {
    """
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'refused'; END $$
    """,
    """
    CREATE CONSTRAINT TRIGGER refusal AFTER UPDATE ON subscription
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.start_date = '2001-01-01Z') EXECUTE FUNCTION refuse()
    """,
    """
    INSERT INTO merchant (id, name, environment, timezone, created_at, updated_at)
    SELECT gen_random_uuid(), 'failing', 'live', 'UTC', now(), now() FROM generate_series(1, 50)
    """,
    "INSERT INTO invoice_number SELECT id, 0 FROM merchant WHERE name = 'failing'",
    """
    INSERT INTO subscription (id, merchant_id, customer_id, plan_id, status, start_date, end_date,
      billing_cadence, currency, allow_customer_changes, auto_charge_invoice,
      auto_sync_invoice, auto_send_invoice, is_trial, due_at, period_index, created_at, updated_at)
    SELECT gen_random_uuid(), m.id, c.id, p.id, 'active', '2001-01-01Z', '2001-02-01Z', 'monthly',
           'USD', false, false, false, false, false, '2001-02-01Z', 0, now(), now()
    FROM merchant m, (SELECT id FROM customer LIMIT 1) c, (SELECT id FROM plan LIMIT 1) p
    WHERE m.name = 'failing'
    """
  };

  @Test
  void theOthersHaveTheirTurnAndOnlyWhatIsCommittedIsCounted() throws Exception {
    try (TestApp app = TestApp.start(Map.of("billing.pollMs", "50"))) {
      app.merchant("live", CATALOG).customerId("lent");
      PostgresSupport.execute(app.database(), FAILING);
      Merchant merchant = app.merchant("live", CATALOG);
      String id = merchant.startsSoon(CATALOG, "pro");
      assertThat(merchant.statusOnceStarted(id)).isEqualTo("active");
      assertThat(
              Merchant.eventually(
                  () -> app.service().metrics().scrape(), // what is committed is counted next
                  scrape -> !scrape.contains("steelyard_billing_started_total 0.0")))
          .contains("steelyard_billing_ended_total 0.0", "steelyard_billing_started_total 1.0")
          .doesNotContain("steelyard_billing_failed_total 0.0");
    }
  }
}
