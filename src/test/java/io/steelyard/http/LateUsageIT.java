package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.CustomerLock;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.Tables;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is counted in a period whose usage is on an invoice already. */
class LateUsageIT extends MeteredCustomer {
  @Test
  void aLateEventIsOfTheLaterInvoiceAlone() throws Exception {
    count(event("use", MID_MARCH, 4));
    invoices.open(1, APRIL, MAY);
    String first = invoices.invoice(1, "arrears", 0);

    count(event("use", MID_MARCH.plusSeconds(1), 3));

    assertThat(rows("SELECT period_index, boundary_index FROM late_event")).containsExactly("0,");
    assertThat(rows("SELECT period_index, usage, fixed, since FROM rebill"))
        .containsExactly("0,t,f,\"2040-03-01 00:00:00+00\"");
    assertThat(values(events(first, "sum"))).isEqualTo(List.of(4));
    invoices.open(2, MAY, MAY.plusSeconds(30 * 86_400));
    String second = invoices.invoice(2, "adjustment", 0);
    take(2);
    assertThat(values(events(first, "sum"))).isEqualTo(List.of(4));
    assertThat(values(events(second, "sum"))).isEqualTo(List.of(4, 3));
    assertThat(quantity(line(second, "sum"))).isEqualByComparingTo("7");
    count(event("use", MID_MARCH.plusSeconds(2), 2));
    assertThat(values(events(second, "sum"))).isEqualTo(List.of(4, 3));
  }

  /** An invoice takes what is late, as the invoice run does. */
  private void take(int boundary) {
    PostgresSupport.execute(
        app.database(),
        "UPDATE late_event SET boundary_index = %d WHERE subscription_id = '%s'"
            .formatted(boundary, invoices.subscription()));
  }

  /** The rows of the subscription, each as PostgreSQL writes it, without its ids. */
  private List<String> rows(String select) {
    return Tables.query(
            app.database(),
            "SELECT row_text FROM (%s WHERE subscription_id = '%s') AS r, CAST(r AS text) AS row_text"
                .formatted(select, invoices.subscription()))
        .stream()
        .map(row -> row.substring(1, row.length() - 1))
        .toList();
  }

  @Test
  void eventsOfTheOpenPeriodAreNotLate() throws Exception {
    count(event("use", MID_MARCH, 4));
    invoices.open(1, APRIL, MAY);
    count(event("use", APRIL, 4));

    assertThat(rows("SELECT period_index FROM late_event")).isEmpty();
    assertThat(rows("SELECT period_index FROM rebill")).isEmpty();
  }

  @Test
  void whatIsCountedAfterASubscriptionHasEndedIsLate() throws Exception {
    count(event("use", MID_MARCH, 4));
    PostgresSupport.execute(
        app.database(),
        "UPDATE subscription SET status = 'ended' WHERE id = '%s'"
            .formatted(invoices.subscription()));
    Map<String, Object> late = event("use", MID_MARCH, 5);
    count(late);

    assertThat(rows("SELECT key FROM late_event"))
        .containsExactly((String) late.get("idempotencyKey"));
    assertThat(rows("SELECT period_index, usage FROM rebill")).containsExactly("0,t");
  }

  @Test
  void aPeriodThatMustBeRebilledForItsFixedPricesIsSoForItsUsageToo() throws Exception {
    invoices.open(1, APRIL, MAY);
    PostgresSupport.execute(
        app.database(),
        """
        INSERT INTO rebill (merchant_id, subscription_id, period_index, usage, fixed, since, ended)
        SELECT merchant_id, id, 0, false, true, '2040-02-01Z', false FROM subscription WHERE id = '%s'
        """
            .formatted(invoices.subscription()));
    count(List.of(event("use", MID_MARCH, 4), event("use", MID_MARCH, 5)));

    assertThat(rows("SELECT usage, fixed, since FROM rebill"))
        .containsExactly("t,t,\"2040-02-01 00:00:00+00\"");
    assertThat(rows("SELECT key FROM late_event")).hasSize(2);
  }

  @Test
  void anEventThatWaitsForTheFoldIsNotYetOfAnyLine() throws Exception {
    count(event("use", MID_MARCH, 4));
    invoices.open(1, APRIL, MAY);
    String invoice = invoices.invoice(1, "arrears", 0);
    try (Connection connection = connect()) {
      CustomerLock.hold(connection, customer); // the fold waits
      send(List.of(event("use", MID_MARCH, 9)));
      assertThat(Tables.query(app.database(), "SELECT events FROM event_batch")).hasSize(1);

      assertThat(values(events(invoice, "sum"))).isEqualTo(List.of(4));
    }
    awaitFold();
    assertThat(values(events(invoice, "sum"))).isEqualTo(List.of(4));
  }
}
