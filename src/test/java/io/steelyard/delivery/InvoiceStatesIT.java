package io.steelyard.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.InvoiceStatus;
import io.steelyard.domain.InvoiceTransitions;
import io.steelyard.domain.WireName;
import io.steelyard.support.Merchant;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What an operator may do with an invoice in each of its states, with no delivery running. */
class InvoiceStatesIT {
  private static final Map<String, InvoiceStatus> ENDS =
      Map.of(
          "pay", InvoiceStatus.PAID,
          "void", InvoiceStatus.VOID,
          "uncollectible", InvoiceStatus.UNCOLLECTIBLE);

  /** By change: the states it may be asked in, and what the invoice is then. */
  private static final Map<String, Map<InvoiceStatus, InvoiceStatus>> REQUESTS =
      Map.of(
          "sync",
          Map.of(
              InvoiceStatus.READY_TO_SYNC, InvoiceStatus.READY_TO_SYNC,
              InvoiceStatus.PAUSED, InvoiceStatus.READY_TO_SYNC,
              InvoiceStatus.DELETED_FROM_PAYMENT_GATEWAY, InvoiceStatus.READY_TO_SYNC),
          "send",
          Map.of(
              InvoiceStatus.READY_TO_SEND, InvoiceStatus.READY_TO_SEND,
              InvoiceStatus.ISSUED, InvoiceStatus.SENDING),
          "collect",
          Map.of(
              InvoiceStatus.READY_TO_COLLECT, InvoiceStatus.READY_TO_COLLECT,
              InvoiceStatus.PAYMENT_FAILED, InvoiceStatus.READY_TO_COLLECT));

  private static TestApp app;
  private static Billed billed;
  private static String invoice;

  @BeforeAll
  static void start() {
    app = TestApp.start(Map.of("verticles.delivery.instances", "0"));
    billed = Billed.of(app);
    invoice = billed.invoice("CardGateway");
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static void execute(String sql) {
    try (Connection connection = Tables.connect(app.database())) {
      connection.createStatement().executeUpdate(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void put(InvoiceStatus status) {
    execute("DELETE FROM outbox");
    execute(
        "UPDATE invoice SET external_id = 'in_1', status = '"
            + status.wire()
            + "' WHERE payment_gateway = 'CardGateway'");
  }

  static Stream<Arguments> ends() {
    return ENDS.keySet().stream()
        .flatMap(
            change ->
                Stream.of(InvoiceStatus.values()).map(status -> Arguments.of(change, status)));
  }

  @ParameterizedTest
  @MethodSource("ends")
  void anInvoiceEndsWhereTheTableAllowsItAndNoGatewayIsOnIt(String change, InvoiceStatus from) {
    put(from);
    InvoiceStatus to = ENDS.get(change);
    // nobody can have paid what has no final amount
    boolean unpayable = from == InvoiceStatus.PENDING && to == InvoiceStatus.PAID;
    boolean allowed =
        InvoiceTransitions.allows(from, to)
            && !InvoiceTransitions.inGatewaysHands(from)
            && !unpayable;

    Answer answer = billed.call(invoice, change).send();

    check(answer, from, allowed ? to : null);
  }

  static Stream<Arguments> requests() {
    return REQUESTS.keySet().stream()
        .flatMap(
            change ->
                Stream.of(InvoiceStatus.values()).map(status -> Arguments.of(change, status)));
  }

  @ParameterizedTest
  @MethodSource("requests")
  void aGatewayIsAskedWhereThereIsSomethingToBeDone(String change, InvoiceStatus from) {
    put(from);
    InvoiceStatus to = REQUESTS.get(change).get(from);

    Answer answer = billed.call(invoice, change).send();

    check(answer, from, to);
    assertThat(billed.query("SELECT action FROM outbox"))
        .isEqualTo(to == null ? List.of() : List.of(change));
  }

  private static void check(Answer answer, InvoiceStatus from, InvoiceStatus to) {
    if (to != null) {
      assertThat(answer.status()).as(answer.text()).isEqualTo(200);
      assertThat(answer.<String>at("status")).isEqualTo(to.wire());
      assertThat(answer.<List<?>>at("invoiceLineItems")).hasSize(1);
      assertThat(billed.status(invoice)).isEqualTo(to.wire());
    } else {
      assertThat(answer.status()).as(answer.text()).isEqualTo(409);
      assertThat(answer.<String>at("code")).isEqualTo("illegal_transition");
      String detail = answer.at("detail");
      assertThat(detail).contains("The invoice is " + from.wire() + " ");
      assertThat(InvoiceTransitions.from(from).stream().map(WireName::wire))
          .allMatch(detail::contains);
      assertThat(billed.status(invoice)).isEqualTo(from.wire());
    }
  }

  @Test
  void everyChangeIsRecordedWithWhoAndWhy() {
    String id = billed.invoice("LedgerA");
    billed.call(id, "uncollectible").json(Map.of("reason", "bankrupt")).send(200);
    String requestId =
        billed
            .call(id, "pay")
            .json(Map.of("reference", "wire 4711"))
            .send(200)
            .header("x-request-id");

    Answer page = billed.merchant().operator("GET", "/invoices/" + id + "/transitions").send(200);

    assertThat(page.<Integer>at("count")).isEqualTo(3);
    assertThat(page.<Map<String, Object>>at("results.0"))
        .containsEntry("from", "uncollectible")
        .containsEntry("to", "paid")
        .containsEntry("actor", "operator")
        .containsEntry("reason", "payment recorded: wire 4711")
        .containsEntry("requestId", requestId);
    assertThat(page.<String>at("results.1.reason")).isEqualTo("written off: bankrupt");
    assertThat(page.<Map<String, Object>>at("results.2"))
        .containsEntry("from", "pending")
        .containsEntry("to", "readyToSync")
        .containsEntry("actor", "billing")
        .containsEntry("requestId", null);
    Answer second =
        billed
            .merchant()
            .operator("GET", "/invoices/" + id + "/transitions?pageSize=2&page=2&order=asc")
            .send(200);
    assertThat(second.<String>at("results.0.to")).isEqualTo("paid");
    assertThat(second.<Integer>at("pages")).isEqualTo(2);
  }

  @Test
  void aRepeatedPaymentIsRefused() {
    String id = billed.invoice("LedgerB");
    billed.call(id, "pay").send(200);

    Answer again = billed.call(id, "pay").json(Map.of()).send(409);

    assertThat(again.<String>at("detail")).contains("Nothing follows paid");
    assertThat(billed.history(id)).containsExactly("pending", "readyToSync", "paid");
  }

  @Test
  void ofManyPaymentsAtOnceOneIsRecorded() {
    String id = billed.invoice("LedgerB");

    List<Integer> statuses =
        Merchant.atOnce(6, i -> billed.call(id, "pay").json(Map.of()).send().status());

    assertThat(statuses).containsOnlyOnce(200).containsOnly(200, 409);
    assertThat(billed.history(id)).containsExactly("pending", "readyToSync", "paid");
  }

  @Test
  void whatIsDoneWithAnInvoiceForgetsWhatWasToBeDoneAtItsGateway() {
    String id = billed.invoice("LedgerA", "autoSyncInvoice");
    String uuid = "(SELECT id FROM invoice WHERE status = 'readyToSync' AND auto_sync_invoice)";
    assertThat(billed.query("SELECT action FROM outbox WHERE invoice_id IN " + uuid))
        .containsExactly("sync");

    billed.call(id, "void").json(Map.of("reason", "wrong plan")).send(200);

    assertThat(
            billed.query(
                "SELECT action FROM outbox o JOIN invoice i ON i.id = o.invoice_id"
                    + " WHERE i.status = 'void'"))
        .isEmpty();
  }

  @Test
  void nothingIsSyncedThatHasNoGatewayAndNothingIsSentThatIsNotSynced() {
    String plain = billed.invoice(null);
    execute("UPDATE invoice SET status = 'issued' WHERE payment_gateway IS NULL");
    assertThat(billed.call(plain, "send").send(422).<String>at("code"))
        .isEqualTo("no_payment_gateway");
    execute("UPDATE invoice SET status = 'readyToSync' WHERE payment_gateway IS NULL");
    assertThat(billed.call(plain, "sync").send(422).<String>at("code"))
        .isEqualTo("no_payment_gateway");
    String unsynced = billed.invoice("LedgerB");
    execute(
        "UPDATE invoice SET status = 'issued' WHERE payment_gateway = 'LedgerB'"
            + " AND status = 'readyToSync'");
    assertThat(billed.call(unsynced, "send").send(422).<String>at("code")).isEqualTo("not_synced");
  }

  @Test
  void anotherMerchantsInvoiceIsNotFound() {
    Billed other = Billed.of(app);

    for (String change : Set.of("pay", "void", "uncollectible", "sync", "send", "collect")) {
      assertThat(other.call(invoice, change).send(404).<String>at("code"))
          .isEqualTo("invoice_not_found");
      other.call("x", change).send(404);
    }
    other.merchant().operator("GET", "/invoices/" + invoice).send(404);
    other.merchant().operator("GET", "/invoices/" + invoice + "/transitions").send(404);
  }

  @Test
  void aBodyMayBeLeftOutButNotBeWrong() {
    String id = billed.invoice("LedgerB");

    assertThat(billed.call(id, "pay").json(Map.of("amount", 1)).send(400).faults())
        .containsExactly("/amount unknown_property");
    assertThat(billed.call(id, "void").json(Map.of("reason", "")).send(400).faults())
        .containsExactly("/reason min_length");
    billed.call(id, "void").body(new byte[] {'x'}, "text/plain").send(415);
    billed.call(id, "void").body(new byte[0], "application/json").send(400);
    assertThat(billed.call(id, "void").send(200).<String>at("status")).isEqualTo("void");
  }

  @Test
  void aSubscriptionsEndByItsMerchantIsRecordedToo() {
    Merchant merchant = billed.merchant();
    String subscription =
        (String)
            merchant
                .subscribe(
                    Map.of(
                        "customerId", merchant.customerId("upcoming"),
                        "planId", billed.planId(),
                        "startDate", "2099-01-01T00:00:00Z"))
                .get("id");

    merchant.call("DELETE", "/external/subscriptions/" + subscription).send(204);

    assertThat(
            billed.query(
                "SELECT from_status || ' ' || to_status || ' ' || actor FROM transition"
                    + " WHERE subject = 'subscription'"))
        .containsExactly("pendingActivation deleted merchant");
  }
}
