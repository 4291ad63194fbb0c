package io.steelyard.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.bus.Bus;
import io.steelyard.bus.Call;
import io.steelyard.bus.FailureException;
import io.steelyard.delivery.DeliveryMessages.RunDueDeliveries;
import io.steelyard.domain.Environment;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import java.sql.Connection;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Workers that die between a gateway's answer and its settlement, and workers that compete. */
class LostWorkerIT {
  private static final Map<String, String> SETTINGS =
      Map.of(
          "delivery.pollMs", "20",
          "delivery.backoffMs", "10",
          "delivery.backoffMaxMs", "20",
          "gateway.callTimeoutMs", "500",
          "gateway.attemptsMax", "1");

  private static TestApp app(io.steelyard.db.Endpoint database, Map<String, String> more) {
    Map<String, String> settings = new HashMap<>(SETTINGS);
    settings.putAll(more);
    return TestApp.start(database, settings);
  }

  private static void execute(io.steelyard.db.Endpoint database, String sql) throws Exception {
    try (Connection connection = Tables.connect(database)) {
      connection.createStatement().executeUpdate(sql);
    }
  }

  private static Call call(Billed billed) {
    Id id = Id.parse(IdKind.MERCHANT, billed.merchant().id()).orElseThrow();
    return Call.within("test", new Call.Merchant(id, Environment.TEST, ZoneOffset.UTC), 10_000);
  }

  /** The row, as the worker left it who asked the gateway and never settled. */
  @ParameterizedTest
  @CsvSource({
    "CardGateway, autoChargeInvoice, collect, pendingPayment, paid, 1 0",
    "LedgerA, autoSendInvoice, send, sending, issued, 0 1",
    "LedgerB, autoSyncInvoice, sync, syncing, issued, 0 0",
  })
  void whatAKilledWorkerDidIsRepeatedUnderItsKey(
      String gateway, String flag, String action, String underWay, String end, String effects)
      throws Exception {
    io.steelyard.db.Endpoint database = PostgresSupport.migratedDatabase();
    String id;
    Billed billed;
    try (TestApp app = app(database, Map.of("gateway.callTimeoutMs", "15000"))) {
      billed = Billed.of(app);
      billed.behave(gateway, Map.of(action, "timeout"));
      id = billed.invoice(gateway, flag);
      assertThat(billed.becomes(id, underWay)).isEqualTo(underWay);
      Billed asked = billed;
      String known =
          "SELECT count(*) FROM sandbox_request WHERE idempotency_key LIKE '" + action + ":%'";
      assertThat(
              io.steelyard.support.Merchant.eventually(
                  () -> asked.query(known), List.of("1")::equals))
          .containsExactly("1");
    }
    assertThat(
            Tables.query(database, "SELECT status FROM invoice WHERE payment_gateway IS NOT NULL"))
        .containsExactly(underWay);

    try (TestApp app = app(database, Map.of())) {
      Billed again =
          new Billed(
              new io.steelyard.support.Merchant(
                  app, billed.merchant().id(), billed.merchant().key()),
              billed.planId());
      again.behave(gateway, Map.of());
      assertThat(again.status(id)).as("the lease holds").isEqualTo(underWay);
      execute(database, "UPDATE outbox SET leased_until = now() - interval '1 second'");

      assertThat(again.becomes(id, end)).isEqualTo(end);

      assertThat(again.chargesAndSends(id)).isEqualTo(effects);
      assertThat(again.query("SELECT count(*) FROM sandbox_invoice")).containsExactly("1");
      assertThat(again.history(id)).containsOnlyOnce(underWay).endsWith(underWay, end);
    }
  }

  @Test
  void twoWorkersChargeEachInvoiceOnceAndTheClockCallWaitsForAll() {
    io.steelyard.db.Endpoint database = PostgresSupport.migratedDatabase();
    Map<String, String> slow = Map.of("delivery.pollMs", "3600000", "delivery.claimMax", "3");
    try (TestApp one = app(database, slow);
        TestApp other = app(database, slow)) {
      Billed billed = Billed.of(one);
      List<String> ids = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        ids.add(billed.invoice("CardGateway", "autoChargeInvoice"));
      }

      io.vertx.core.Future.join(
              new Bus(one.service().vertx(), true).ask(new RunDueDeliveries(), call(billed)),
              new Bus(other.service().vertx(), true).ask(new RunDueDeliveries(), call(billed)))
          .await();

      for (String id : ids) {
        assertThat(billed.status(id)).isEqualTo("paid");
        assertThat(billed.chargesAndSends(id)).isEqualTo("1 0");
      }
      assertThat(billed.query("SELECT DISTINCT received FROM sandbox_request"))
          .containsExactly("1");
      assertThat(billed.query("SELECT 1 FROM outbox")).isEmpty();
    }
  }

  @Test
  void whoWaitsForDeliveriesIsToldWhenTheTimeIsUp() throws Exception {
    io.steelyard.db.Endpoint database = PostgresSupport.migratedDatabase();
    try (TestApp app = app(database, Map.of("delivery.pollMs", "3600000"))) {
      Billed billed = Billed.of(app);
      billed.invoice("LedgerA", "autoSyncInvoice");
      execute(database, "UPDATE outbox SET leased_until = now() + interval '1 hour'");
      Call brief = Call.within("test", call(billed).merchant(), 200);

      org.assertj.core.api.Assertions.assertThatThrownBy(
              () -> new Bus(app.service().vertx(), true).ask(new RunDueDeliveries(), brief).await())
          .isInstanceOf(FailureException.class);
      assertThat(billed.query("SELECT attempts FROM outbox")).containsExactly("0");
    }
  }
}
