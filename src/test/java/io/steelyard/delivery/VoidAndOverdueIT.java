package io.steelyard.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.db.Pools;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.invoice.OverdueStore;
import io.steelyard.support.Merchant;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.vertx.sqlclient.Pool;
import java.sql.Connection;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A void invoice gives back what it billed, and a late one is overdue. */
class VoidAndOverdueIT {
  private static TestApp app;

  @BeforeAll
  static void start() {
    app = TestApp.start(Map.of("aggregation.pollMs", "20"));
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static List<String> query(String sql) {
    return Tables.query(app.database(), sql);
  }

  private static void execute(String sql) throws Exception {
    try (Connection connection = Tables.connect(app.database())) {
      connection.createStatement().executeUpdate(sql);
    }
  }

  private static UUID uuid(String id, IdKind kind) {
    return Id.parse(kind, id).orElseThrow().uuid();
  }

  @Test
  void aVoidInvoiceFreesItsUsageAndItsUnits() throws Exception {
    Merchant merchant = app.merchant("test", Merchant.CATALOG);
    Map<String, Object> customer = merchant.createCustomer("one");
    merchant
        .call("POST", "/external/event")
        .json(merchant.event((String) customer.get("id"), "tokens", 10_000, "e1"))
        .send(202);
    UUID customerId = uuid((String) customer.get("id"), IdKind.CUSTOMER);
    String remaining =
        "SELECT trim_scale(remaining) FROM allocation_block WHERE customer_id = '"
            + customerId
            + "'";
    assertThat(Merchant.eventually(() -> query(remaining), List.of("980")::equals))
        .containsExactly("980");
    String id = (String) merchant.invoices().getFirst().get("id");
    UUID invoiceId = uuid(id, IdKind.INVOICE);
    // As if it billed the usage of the first period, and of one before.
    execute("UPDATE invoice SET boundary_index = 1 WHERE id = '" + invoiceId + "'");
    execute(
        "UPDATE invoice_line_item SET kind = 'adjustment', period_index = 7 WHERE invoice_id = '"
            + invoiceId
            + "'");

    merchant.operator("POST", "/invoices/" + id + "/void").send(200);

    assertThat(
            query(
                "SELECT period_index || ' ' || usage || ' ' || fixed FROM rebill"
                    + " WHERE merchant_id = '"
                    + uuid(merchant.id(), IdKind.MERCHANT)
                    + "'"
                    + " ORDER BY period_index"))
        .containsExactly("0 true false", "7 true false");
    assertThat(query(remaining)).containsExactly("1000");
    assertThat(
            query(
                "SELECT type || ' ' || trim_scale(amount) FROM credit_transaction"
                    + " WHERE customer_id = '"
                    + customerId
                    + "' ORDER BY id"))
        .containsExactly("planAllocation 1000", "usage -20", "reversal 20");
    assertThat(
            query(
                "SELECT trim_scale(u.drawn) || ' ' || trim_scale(u.released) FROM credit_usage u"
                    + " WHERE merchant_id = '"
                    + uuid(merchant.id(), IdKind.MERCHANT)
                    + "'"))
        .containsExactly("0 20");
    assertThat(query("SELECT trim_scale(drawn) FROM credit_draw")).containsOnly("0");
  }

  @Test
  void anInvoiceOfFixedPricesOnlyFreesNothing() {
    Billed billed = Billed.of(app);
    String id = billed.invoice(null);

    billed.call(id, "void").send(200);

    assertThat(
            query(
                "SELECT 1 FROM rebill WHERE merchant_id = '"
                    + uuid(billed.merchant().id(), IdKind.MERCHANT)
                    + "'"))
        .isEmpty();
  }

  @Test
  void whatIsDueBeforeNowIsOverdueOnceAndInPortions() throws Exception {
    Billed billed = Billed.of(app);
    UUID merchantId = uuid(billed.merchant().id(), IdKind.MERCHANT);
    List<String> ids = List.of(billed.invoice(null), billed.invoice(null), billed.invoice(null));
    execute(
        "UPDATE invoice SET status = 'issued', due_date = '2026-01-01T00:00:00Z'"
            + " WHERE status = 'test' AND merchant_id = '"
            + merchantId
            + "'");
    OverdueStore store = new OverdueStore();
    Pool pool =
        new Pools(app.service().config().database(), app.database()).api(app.service().vertx());
    Instant due = Instant.parse("2026-01-01T00:00:00Z");
    Instant later = due.plusMillis(1);
    try {
      assertThat(
              pool.withTransaction(tx -> store.markOverdue(tx, merchantId, due, 2, later)).await())
          .isZero();
      assertThat(
              pool.withTransaction(tx -> store.markOverdue(tx, merchantId, later, 2, later))
                  .await())
          .isEqualTo(2);
      assertThat(
              pool.withTransaction(tx -> store.markOverdue(tx, merchantId, later, 2, later))
                  .await())
          .isEqualTo(1);
      assertThat(
              pool.withTransaction(tx -> store.markOverdue(tx, merchantId, later, 2, later))
                  .await())
          .isZero();
    } finally {
      pool.close().await();
    }
    for (String id : ids) {
      assertThat(billed.history(id)).endsWith("overdue");
      assertThat(billed.call(id, "pay").send(200).<String>at("status")).isEqualTo("paid");
    }
  }
}
