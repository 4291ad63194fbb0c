package io.steelyard.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.domain.CollectionOutcome;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.gateway.GatewayHttp.Answer;
import io.steelyard.gateway.GatewayHttp.Question;
import io.steelyard.gateway.GatewayMessages.Collected;
import io.steelyard.gateway.GatewayMessages.Document;
import io.steelyard.gateway.GatewayMessages.DocumentFound;
import io.steelyard.gateway.GatewayMessages.DocumentLine;
import io.steelyard.gateway.GatewayMessages.DocumentState;
import io.steelyard.gateway.GatewayMessages.Sent;
import io.steelyard.gateway.GatewayMessages.Synced;
import io.steelyard.gateway.HttpGateway.Reading;
import io.steelyard.gateway.HttpGateway.UnusableAnswer;
import io.vertx.core.Future;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * A gateway whose invoices are reached over Stripe's REST protocol. A sync is three questions, each
 * under a key of its own that follows from the sync's: repeated, they change nothing.
 */
final class HttpInvoiceGateway implements InvoiceGateway {
  private static final String INVOICES = "/v1/invoices";
  private static final int EXTERNAL_ID_CHARS_MAX = 512;
  private static final int PAYMENT_REQUIRED = 402;
  private static final int NOT_FOUND = 404;
  private static final Set<String> STATUSES =
      Set.of("draft", "open", "paid", "void", "uncollectible");
  private static final Set<String> ACTION_CODES =
      Set.of("authentication_required", "invoice_payment_intent_requires_action");

  private final GatewayHttp http;
  private final PaymentGateway gateway;
  private final HttpGateway.Account account;
  private final Call call;

  HttpInvoiceGateway(
      GatewayHttp http, PaymentGateway gateway, HttpGateway.Account account, Call call) {
    this.http = http;
    this.gateway = gateway;
    this.account = account;
    this.call = call;
  }

  @Override
  public Future<Synced> sync(Document document, String customer, String idempotencyKey) {
    return ask(post(INVOICES, head(document, customer), idempotencyKey), this::externalId)
        .compose(
            id ->
                ask(
                        post(path(id) + "/add_lines", lines(document), idempotencyKey + ":lines"),
                        this::status)
                    .compose(
                        added ->
                            ask(
                                post(
                                    path(id) + "/finalize",
                                    Map.of("auto_advance", "false"),
                                    idempotencyKey + ":finalize"),
                                this::status))
                    .map(finalised -> new Synced(id, false)));
  }

  private static Map<String, String> head(Document document, String customer) {
    Map<String, String> form = new LinkedHashMap<>();
    if (customer != null) {
      form.put("customer", customer);
    }
    form.put("currency", document.currency().toLowerCase(Locale.ROOT));
    form.put("auto_advance", "false");
    form.put("collection_method", document.charged() ? "charge_automatically" : "send_invoice");
    if (!document.charged() && document.dueDate() != null) {
      form.put("due_date", Long.toString(document.dueDate().getEpochSecond()));
    }
    form.put("metadata[invoiceId]", document.invoiceId().toString());
    form.put("metadata[customerId]", document.customerId().toString());
    form.put("metadata[number]", Long.toString(document.number()));
    return form;
  }

  private static Map<String, String> lines(Document document) {
    Map<String, String> form = new LinkedHashMap<>();
    List<DocumentLine> lines = document.lines();
    for (int i = 0; i < lines.size(); i++) {
      form.put("lines[" + i + "][description]", lines.get(i).description());
      form.put("lines[" + i + "][amount]", cents(lines.get(i).amount()));
    }
    return form;
  }

  private static String cents(BigDecimal amount) {
    return amount.movePointRight(2).setScale(0, RoundingMode.UNNECESSARY).toPlainString();
  }

  @Override
  public Future<DocumentFound> find(String externalId) {
    Question question = Question.get(account.baseUrl() + path(externalId), account.secret());
    return http.ask(question, call)
        .compose(
            answer ->
                answer.status() == NOT_FOUND
                    ? Future.succeededFuture(new DocumentFound(DocumentState.DELETED))
                    : read(question, answer, HttpInvoiceGateway::found));
  }

  private static DocumentFound found(JsonNode body) throws UnusableAnswer {
    if (body.path("deleted").asBoolean()) {
      return new DocumentFound(DocumentState.DELETED);
    }
    return new DocumentFound(
        switch (HttpGateway.oneOf(STATUSES, body, "status")) {
          case "paid" -> DocumentState.PAID;
          case "void" -> DocumentState.DELETED;
          default -> DocumentState.OPEN;
        });
  }

  @Override
  public Future<Collected> collect(String externalId, String idempotencyKey) {
    Question question = post(path(externalId) + "/pay", Map.of(), idempotencyKey);
    return http.ask(question, call)
        .compose(
            answer ->
                answer.status() == PAYMENT_REQUIRED
                    ? Future.succeededFuture(declined(answer))
                    : read(question, answer, HttpInvoiceGateway::collected));
  }

  private Collected declined(Answer answer) {
    JsonNode error = answer.body().path("error");
    boolean action = ACTION_CODES.contains(error.path("code").asText());
    return new Collected(
        action ? CollectionOutcome.ACTION_REQUIRED : CollectionOutcome.FAILED,
        HttpGateway.reason(answer.body(), account.secret()),
        false);
  }

  private static Collected collected(JsonNode body) throws UnusableAnswer {
    if (!"paid".equals(HttpGateway.text(body, "status"))) {
      throw new UnusableAnswer("status");
    }
    return new Collected(CollectionOutcome.SUCCEEDED, null, false);
  }

  @Override
  public Future<Sent> send(String externalId, String idempotencyKey) {
    return ask(post(path(externalId) + "/send", Map.of(), idempotencyKey), this::status)
        .map(status -> new Sent(false));
  }

  private Question post(String path, Map<String, String> form, String idempotencyKey) {
    return Question.post(account.baseUrl() + path, account.secret(), form, idempotencyKey);
  }

  private static String path(String externalId) {
    return INVOICES + "/" + URLEncoder.encode(externalId, StandardCharsets.UTF_8);
  }

  private <T> Future<T> ask(Question question, Reading<T> reading) {
    return http.ask(question, call).compose(answer -> read(question, answer, reading));
  }

  private <T> Future<T> read(Question question, Answer answer, Reading<T> reading) {
    if (answer.status() == NOT_FOUND) {
      return FailureException.failed(Failure.notFound("document"));
    }
    if (!answer.accepted()) {
      String reason = HttpGateway.reason(answer.body(), account.secret());
      return FailureException.failed(
          new Failure.Rejected("gateway_refused", gateway.wire() + " refused: " + reason));
    }
    try {
      return Future.succeededFuture(reading.from(answer.body()));
    } catch (UnusableAnswer e) {
      return http.gaveUp(question, call, e.getMessage());
    }
  }

  private String externalId(JsonNode body) throws UnusableAnswer {
    String id = HttpGateway.text(body, "id");
    if (id.codePointCount(0, id.length()) > EXTERNAL_ID_CHARS_MAX) {
      throw new UnusableAnswer("id");
    }
    return id;
  }

  private String status(JsonNode body) throws UnusableAnswer {
    return HttpGateway.oneOf(STATUSES, body, "status");
  }
}
