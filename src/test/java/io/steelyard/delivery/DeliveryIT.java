package io.steelyard.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Final invoices go to their gateways as their flags say, whatever the gateway does. */
class DeliveryIT {
  private static final String CARD = "CardGateway";
  private static final String CHARGE = "autoChargeInvoice";
  private static final String SYNC = "autoSyncInvoice";
  private static final String SEND = "autoSendInvoice";

  static final Map<String, String> SETTINGS =
      Map.of(
          "delivery.pollMs", "20",
          "delivery.attemptsMax", "3",
          "delivery.backoffMs", "10",
          "delivery.backoffMaxMs", "20",
          "gateway.callTimeoutMs", "100",
          "gateway.attemptsMax", "1");

  private static TestApp app;
  private Billed billed;

  @BeforeAll
  static void start() {
    app = TestApp.start(SETTINGS);
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  @BeforeEach
  void merchant() {
    billed = Billed.of(app);
  }

  @ParameterizedTest
  @CsvSource({
    "CardGateway, autoSyncInvoice, pending readyToSync syncing issued, 0 0",
    "LedgerA, autoSyncInvoice, pending readyToSync syncing issued, 0 0",
    "LedgerB, autoSendInvoice," + " pending readyToSync syncing readyToSend sending issued, 0 1",
    "CardGateway, autoSendInvoice,"
        + " pending readyToSync syncing readyToSend sending issued, 0 1",
    "CardGateway, autoChargeInvoice,"
        + " pending readyToSync syncing readyToCollect pendingPayment paid, 1 0",
  })
  void theFlagsLeadTheWay(String gateway, String flag, String path, String chargesAndSends)
      throws Exception {
    String id = billed.invoice(gateway, flag);

    List<String> states = List.of(path.split(" "));
    assertThat(billed.becomes(id, states.getLast())).isEqualTo(states.getLast());

    assertThat(billed.history(id)).isEqualTo(states);
    assertThat(billed.chargesAndSends(id)).isEqualTo(chargesAndSends);
    assertThat(
            billed.query(
                "SELECT 1 FROM outbox o JOIN invoice i ON i.id = o.invoice_id"
                    + " WHERE i.external_id = '"
                    + billed.get(id).at("externalId")
                    + "'"))
        .isEmpty();
  }

  @Test
  void withoutAFlagAnInvoiceWaitsForTheOperator() throws Exception {
    String id = billed.invoice(CARD);
    assertThat(billed.status(id)).isEqualTo("readyToSync");
    assertThat(billed.query("SELECT id FROM outbox o WHERE attempts = 0 AND action = 'send'"))
        .isEmpty();

    billed.call(id, "sync").send(200);
    billed.becomes(id, "issued");
    billed.call(id, "send").send(200);

    assertThat(billed.becomes(id, "issued")).isEqualTo("issued");
    assertThat(Merchant.eventually(() -> billed.chargesAndSends(id), "0 1"::equals))
        .isEqualTo("0 1");
    assertThat(billed.history(id))
        .containsExactly("pending", "readyToSync", "syncing", "issued", "sending", "issued");
  }

  @Test
  void aDeclinedChargeFailsAndIsTriedAgainWhenTheOperatorSaysSo() throws Exception {
    billed.behave(CARD, Map.of("collect", "decline"));
    String id = billed.invoice(CARD, CHARGE);
    assertThat(billed.becomes(id, "paymentFailed")).isEqualTo("paymentFailed");
    assertThat(billed.chargesAndSends(id)).isEqualTo("0 0");

    billed.behave(CARD, Map.of());
    billed.call(id, "collect").send(200);

    assertThat(billed.becomes(id, "paid")).isEqualTo("paid");
    assertThat(billed.chargesAndSends(id)).isEqualTo("1 0");
    billed.call(id, "collect").send(409);
  }

  @ParameterizedTest
  @CsvSource({"succeeded, paid, 1 0", "failed, paymentFailed, 0 0"})
  void aDemandedActionEndsTheWayTheCustomerEndsIt(String outcome, String status, String charges)
      throws Exception {
    billed.behave(CARD, Map.of("collect", "requireAction"));
    String id = billed.invoice(CARD, CHARGE);
    assertThat(billed.becomes(id, "paymentActionRequired")).isEqualTo("paymentActionRequired");

    Answer done = billed.call(id, "sandbox-payment").json(Map.of("outcome", outcome)).send(200);

    assertThat(done.<String>at("status")).isEqualTo(status);
    assertThat(billed.chargesAndSends(id)).isEqualTo(charges);
    assertThat(billed.history(id)).endsWith("pendingPayment", "paymentActionRequired", status);
  }

  @Test
  void aPaymentThatIsReportedTwiceIsOne() throws Exception {
    billed.behave(CARD, Map.of("collect", "requireAction"));
    String id = billed.invoice(CARD, CHARGE);
    billed.becomes(id, "paymentActionRequired");

    for (int i = 0; i < 2; i++) {
      billed.call(id, "sandbox-payment").json(Map.of("outcome", "succeeded")).send(200);
    }

    assertThat(billed.chargesAndSends(id)).isEqualTo("1 0");
    assertThat(billed.history(id)).endsWith("paymentActionRequired", "paid");
  }

  @Test
  void noPaymentIsCompletedThatNobodyDemanded() {
    String id = billed.invoice(CARD);

    Answer refused = billed.call(id, "sandbox-payment").json(Map.of("outcome", "failed")).send(409);

    assertThat(refused.<String>at("code")).isEqualTo("no_action_required");
    billed.call("x", "sandbox-payment").json(Map.of("outcome", "failed")).send(404);
    billed.call(id, "sandbox-payment").json(Map.of("outcome", "maybe")).send(400);
  }

  @Test
  void anAnswerThatComesTwiceHasItsEffectOnce() throws Exception {
    Map<String, String> twice =
        Map.of("sync", "duplicate", "collect", "duplicate", "send", "duplicate");
    billed.behave(CARD, twice);
    billed.behave("LedgerA", twice);

    String charged = billed.invoice(CARD, CHARGE);
    String sent = billed.invoice("LedgerA", SEND);

    assertThat(billed.becomes(charged, "paid")).isEqualTo("paid");
    assertThat(billed.becomes(sent, "issued")).isEqualTo("issued");
    assertThat(billed.chargesAndSends(charged)).isEqualTo("1 0");
    assertThat(billed.chargesAndSends(sent)).isEqualTo("0 1");
    assertThat(billed.history(charged))
        .containsExactly(
            "pending", "readyToSync", "syncing", "readyToCollect", "pendingPayment", "paid");
    assertThat(billed.history(sent))
        .containsExactly("pending", "readyToSync", "syncing", "readyToSend", "sending", "issued");
  }

  @Test
  void anAnswerThatNeverCameIsFoundOutBeforeTheNextCharge() throws Exception {
    billed.behave(CARD, Map.of("collect", "timeout"));
    String id = billed.invoice(CARD, CHARGE);

    assertThat(billed.becomes(id, "paid")).isEqualTo("paid");

    assertThat(billed.chargesAndSends(id)).isEqualTo("1 0");
    assertThat(billed.history(id))
        .containsExactly(
            "pending",
            "readyToSync",
            "syncing",
            "readyToCollect",
            "pendingPayment",
            "readyToCollect",
            "pendingPayment",
            "paid");
  }

  @Test
  void aSyncWithoutAnswerIsRepeatedAsOne() throws Exception {
    billed.behave("LedgerB", Map.of("sync", "timeout"));
    String id = billed.invoice("LedgerB", SYNC);
    assertThat(billed.becomes(id, "paused")).isEqualTo("paused");
    assertThat(billed.query("SELECT attempts FROM outbox WHERE next_attempt_at IS NULL"))
        .contains("3");

    billed.behave("LedgerB", Map.of());
    billed.call(id, "sync").send(200);

    assertThat(billed.becomes(id, "issued")).isEqualTo("issued");
    assertThat(billed.history(id)).containsSubsequence("paused", "pending", "readyToSync");
    String uuid =
        billed
            .query(
                "SELECT id FROM invoice WHERE external_id = '"
                    + billed.get(id).at("externalId")
                    + "'")
            .get(0);
    assertThat(
            billed.query(
                "SELECT external_id FROM sandbox_invoice WHERE invoice_id = '" + uuid + "'"))
        .as("one document, whatever happened to the answers")
        .hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"unavailable", "decline"})
  void whatCannotBeSentWaitsForTheOperator(String behavior) throws Exception {
    billed.behave("LedgerA", Map.of("send", behavior));
    String id = billed.invoice("LedgerA", SEND);
    assertThat(
            Merchant.eventually(
                () -> billed.history(id).size(),
                size -> size >= (behavior.equals("decline") ? 6 : 10)))
        .isGreaterThanOrEqualTo(6);
    assertThat(billed.becomes(id, "readyToSend")).isEqualTo("readyToSend");

    billed.behave("LedgerA", Map.of());
    billed.call(id, "send").send(200);

    assertThat(billed.becomes(id, "issued")).isEqualTo("issued");
    assertThat(billed.chargesAndSends(id)).isEqualTo("0 1");
  }

  @Test
  void aRefusedSyncPausesTheInvoiceAndSaysWhy() throws Exception {
    billed.behave(CARD, Map.of("sync", "decline"));
    String id = billed.invoice(CARD, CHARGE);

    assertThat(billed.becomes(id, "paused")).isEqualTo("paused");
    assertThat(
            billed
                .merchant()
                .operator("GET", "/invoices/" + id + "/transitions")
                .send(200)
                .<String>at("results.0.reason"))
        .contains("refused");
    assertThat(billed.query("SELECT paused_reason FROM invoice WHERE status = 'paused'"))
        .anyMatch(reason -> reason.contains("refused"));
  }

  @Test
  void anInvoiceThatTheGatewayLostIsSyncedAnew() throws Exception {
    billed.behave(CARD, Map.of("collect", "decline"));
    String id = billed.invoice(CARD, CHARGE);
    billed.becomes(id, "paymentFailed");
    String first = billed.get(id).at("externalId");
    execute("UPDATE sandbox_invoice SET status = 'deleted' WHERE external_id = '" + first + "'");
    billed.behave(CARD, Map.of());

    billed.call(id, "collect").send(200);
    assertThat(billed.becomes(id, "deletedFromPaymentGateway"))
        .isEqualTo("deletedFromPaymentGateway");
    billed.call(id, "sync").send(200);

    assertThat(billed.becomes(id, "paid")).isEqualTo("paid");
    assertThat(billed.get(id).<String>at("externalId")).isNotEqualTo(first);
    assertThat(billed.chargesAndSends(id)).isEqualTo("1 0");
  }

  @Test
  void withoutAConnectionAnInvoiceIsPausedUntilThereIsOne() throws Exception {
    billed.merchant().operator("DELETE", "/gateway-connections/LedgerA").send(204);
    String id = billed.invoice("LedgerA", SYNC);
    assertThat(billed.becomes(id, "paused")).isEqualTo("paused");

    billed.merchant().connect("LedgerA");
    billed.call(id, "sync").send(200);

    assertThat(billed.becomes(id, "issued")).isEqualTo("issued");
  }

  @Test
  void aSandboxIsToldOnlyWhatItKnows() {
    String path = "/gateway-connections/CardGateway/sandbox-behavior";

    assertThat(
            billed
                .merchant()
                .operator("PUT", path)
                .json(Map.of("sync", "requireAction"))
                .send(400)
                .faults())
        .containsExactly("/sync enum");
    billed.merchant().operator("DELETE", "/gateway-connections/CardGateway").send(204);
    billed.merchant().operator("PUT", path).json(Map.of()).send(404);
  }

  private static void execute(String sql) throws Exception {
    try (java.sql.Connection connection = io.steelyard.support.Tables.connect(app.database())) {
      connection.createStatement().executeUpdate(sql);
    }
  }
}
