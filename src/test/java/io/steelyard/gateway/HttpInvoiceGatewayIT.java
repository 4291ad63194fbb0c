package io.steelyard.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.steelyard.bus.Call;
import io.steelyard.bus.FailureException;
import io.steelyard.config.Config;
import io.steelyard.domain.CollectionOutcome;
import io.steelyard.domain.Environment;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.gateway.GatewayMessages.Document;
import io.steelyard.gateway.GatewayMessages.DocumentLine;
import io.steelyard.gateway.GatewayMessages.DocumentState;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Invoices over the wire, spoken as Stripe's API is. */
@Timeout(30)
class HttpInvoiceGatewayIT {
  private static final String SECRET = "sk_test_51Secret";
  private static final Id INVOICE = new Id(IdKind.INVOICE, new UUID(5, 6));
  private static final Id CUSTOMER = new Id(IdKind.CUSTOMER, new UUID(3, 4));

  private final Vertx vertx = Vertx.vertx();
  private GatewayDouble server;
  private GatewayHttp http;

  @BeforeEach
  void start() {
    server = new GatewayDouble(vertx);
    http =
        new GatewayHttp(
            vertx, new Config.Gateway(4000, 2, 20, 86_400_000), new SimpleMeterRegistry());
  }

  @AfterEach
  void stop() {
    http.close().await();
    vertx.close().await();
  }

  private InvoiceGateway gateway() {
    Call.Merchant merchant =
        new Call.Merchant(
            new Id(IdKind.MERCHANT, new UUID(1, 2)), Environment.LIVE, ZoneOffset.UTC);
    Call call = new Call("req-1", merchant, System.currentTimeMillis() + 10_000);
    return new HttpInvoiceGateway(
        http,
        PaymentGateway.LEDGER_A,
        new HttpGateway.Account(server.baseUrl() + "/api", SECRET),
        call);
  }

  private static Document document(boolean charged) {
    return new Document(
        INVOICE,
        17,
        CUSTOMER,
        "USD",
        new BigDecimal("48.90"),
        Instant.parse("2026-03-02T23:59:59.999Z"),
        charged,
        List.of(
            new DocumentLine("Pro & more", new BigDecimal("49")),
            new DocumentLine("Given back", new BigDecimal("-0.10"))));
  }

  private static String code(Future<?> answer) {
    return catchThrowableOfType(FailureException.class, answer::await).failure().code();
  }

  @Test
  void aSyncIsThreeQuestionsUnderKeysThatFollowFromItsOwn() {
    server
        .then(200, "{\"id\":\"in_1\",\"status\":\"draft\"}")
        .then(200, "{\"id\":\"in_1\",\"status\":\"draft\"}")
        .then(200, "{\"id\":\"in_1\",\"status\":\"open\"}");

    assertThat(gateway().sync(document(false), "cus_9", "sync:1").await().externalId())
        .isEqualTo("in_1");

    assertThat(server.asked())
        .extracting(asked -> asked.line() + " " + asked.headers().get("idempotency-key"))
        .containsExactly(
            "POST /api/v1/invoices sync:1",
            "POST /api/v1/invoices/in_1/add_lines sync:1:lines",
            "POST /api/v1/invoices/in_1/finalize sync:1:finalize");
    assertThat(server.asked().get(0).form())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "customer", "cus_9",
                "currency", "usd",
                "auto_advance", "false",
                "collection_method", "send_invoice",
                "due_date", "1772495999",
                "metadata[invoiceId]", INVOICE.toString(),
                "metadata[customerId]", CUSTOMER.toString(),
                "metadata[number]", "17"));
    assertThat(server.asked().get(1).form())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "lines[0][description]", "Pro & more",
                "lines[0][amount]", "4900",
                "lines[1][description]", "Given back",
                "lines[1][amount]", "-10"));
  }

  @Test
  void whatIsChargedHasNoDueDate() {
    server
        .then(200, "{\"id\":\"in_1\",\"status\":\"draft\"}")
        .then(200, "{\"status\":\"draft\"}")
        .then(200, "{\"status\":\"open\"}");

    gateway().sync(document(true), null, "k").await();

    assertThat(server.asked().get(0).form())
        .containsEntry("collection_method", "charge_automatically")
        .doesNotContainKeys("due_date", "customer");
  }

  @ParameterizedTest
  @CsvSource({
    "200, '{\"id\":\"in_1\",\"status\":\"open\"}', OPEN",
    "200, '{\"id\":\"in_1\",\"status\":\"uncollectible\"}', OPEN",
    "200, '{\"id\":\"in_1\",\"status\":\"paid\"}', PAID",
    "200, '{\"id\":\"in_1\",\"status\":\"void\"}', DELETED",
    "200, '{\"id\":\"in_1\",\"deleted\":true}', DELETED",
    "404, '{\"error\":{}}', DELETED",
  })
  void aLookChangesNothing(int status, String body, DocumentState state) {
    server.then(status, body);

    assertThat(gateway().find("in_1").await().state()).isEqualTo(state);

    assertThat(server.asked().get(0).line()).isEqualTo("GET /api/v1/invoices/in_1");
    assertThat(server.asked().get(0).headers())
        .containsEntry("authorization", "Bearer " + SECRET)
        .doesNotContainKey("idempotency-key");
  }

  @ParameterizedTest
  @CsvSource({
    "200, '{\"status\":\"paid\"}', SUCCEEDED",
    "402, '{\"error\":{\"code\":\"card_declined\",\"message\":\"no money\"}}', FAILED",
    "402, '{\"error\":{\"code\":\"authentication_required\"}}', ACTION_REQUIRED",
    "402, '{\"error\":{\"code\":\"invoice_payment_intent_requires_action\"}}', ACTION_REQUIRED",
  })
  void aChargeHasOneOfThreeOutcomes(int status, String body, CollectionOutcome outcome) {
    server.then(status, body);

    assertThat(gateway().collect("in_1", "collect:1").await().outcome()).isEqualTo(outcome);

    assertThat(server.asked().get(0).line()).isEqualTo("POST /api/v1/invoices/in_1/pay");
    assertThat(server.asked().get(0).headers()).containsEntry("idempotency-key", "collect:1");
  }

  @Test
  void aChargeThatIsNotPaidIsNoVerdict() {
    server.then(200, "{\"status\":\"open\"}");

    assertThat(code(gateway().collect("in_1", "k"))).isEqualTo("gateway_unavailable");
  }

  @ParameterizedTest
  @ValueSource(ints = {500, 503, 429, 409})
  void whatMayPassIsAskedAgainUnderTheSameKey(int status) {
    server.then(status, "{}").then(200, "{\"status\":\"open\"}");

    gateway().send("in_1", "send:1").await();

    assertThat(server.asked())
        .extracting(asked -> asked.line() + " " + asked.headers().get("idempotency-key"))
        .containsExactly(
            "POST /api/v1/invoices/in_1/send send:1", "POST /api/v1/invoices/in_1/send send:1");
  }

  @Test
  void aRefusalIsOneAndWhatIsGoneIsNotFound() {
    server.then(400, "{\"error\":{\"message\":\"no such " + SECRET + "\"}}").then(404, "{}");

    FailureException refused =
        catchThrowableOfType(FailureException.class, () -> gateway().send("in_1", "k").await());
    assertThat(refused.failure().code()).isEqualTo("gateway_refused");
    assertThat(refused.failure().detail()).startsWith("LedgerA refused: ").doesNotContain(SECRET);
    assertThat(code(gateway().send("in_1", "k"))).isEqualTo("document_not_found");
  }

  @Test
  void anIdOfTheGatewayStaysOneSegmentOfThePath() {
    server.then(200, "{\"status\":\"open\"}");

    gateway().find("in/../1?x").await();

    assertThat(server.asked().get(0).line()).isEqualTo("GET /api/v1/invoices/in%2F..%2F1%3Fx");
  }
}
