package io.steelyard.gateway;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.db.Ids;
import io.steelyard.gateway.GatewayHttp.Answer;
import io.steelyard.gateway.GatewayHttp.Question;
import io.steelyard.gateway.GatewayMessages.CheckoutSession;
import io.steelyard.json.Json;
import io.vertx.core.Future;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** A card gateway that speaks Stripe's REST protocol. */
final class HttpGateway implements CardGateway {
  private static final int MESSAGE_CHARS_MAX = 200;

  /** As long as a customer's cardGatewayId may be. */
  private static final int CUSTOMER_ID_CHARS_MAX = 512;

  private static final Set<String> STATUSES = Set.of("open", "complete", "expired");
  private static final Set<String> MODES = Set.of("setup");
  private static final Set<String> PAYMENT_STATUSES =
      Set.of("unpaid", "paid", "no_payment_required");
  private static final Set<String> OBJECTS = Set.of("checkout.session");

  private final GatewayHttp http;
  private final Account account;
  private final Call call;

  /**
   * The merchant's account at the gateway.
   *
   * @param baseUrl without a slash at its end
   */
  record Account(String baseUrl, String secret) {
    /** Without the secret, for logs. */
    @Override
    public String toString() {
      return "Account[baseUrl=" + baseUrl + "]";
    }
  }

  static final class UnusableAnswer extends Exception {
    private static final long serialVersionUID = 1L;

    UnusableAnswer(String field) {
      super("an answer without a usable " + field, null, false, false);
    }
  }

  interface Reading<T> {
    T from(JsonNode body) throws UnusableAnswer;
  }

  HttpGateway(GatewayHttp http, Account account, Call call) {
    this.http = http;
    this.account = account;
    this.call = call;
  }

  @Override
  public Future<String> createCustomer(CustomerDetails details, String idempotencyKey) {
    Map<String, String> form = new LinkedHashMap<>();
    if (details.email() != null) {
      form.put("email", details.email());
    }
    if (details.name() != null) {
      form.put("name", details.name());
    }
    form.put("metadata[customerId]", details.customerId().toString());
    Question question = question("/v1/customers", form, idempotencyKey);
    return http.ask(question, call)
        .compose(
            answer ->
                isKeyOfOtherDetails(answer)
                    ? ask(withKeyOfItsOwn(question), HttpGateway::customerId)
                    : read(question, answer, HttpGateway::customerId));
  }

  @Override
  public Future<CheckoutSession> createSetupSession(SetupRequest request, String idempotencyKey) {
    Map<String, String> form = new LinkedHashMap<>();
    form.put("mode", "setup");
    form.put("currency", "usd");
    form.put("payment_method_types[0]", "card");
    form.put("customer", request.customer());
    form.put("success_url", request.successUrl());
    form.put("metadata[customerId]", request.customerId().toString());
    return ask(question("/v1/checkout/sessions", form, idempotencyKey), HttpGateway::session);
  }

  /**
   * A gateway refuses a key it knows from a request with other fields. A customer's name or e-mail
   * may well have changed since an attempt whose outcome was never stored.
   */
  private static boolean isKeyOfOtherDetails(Answer answer) {
    return "idempotency_error".equals(answer.body().path("error").path("type").asText());
  }

  private static Question withKeyOfItsOwn(Question question) {
    String key = question.idempotencyKey() + ":" + Ids.operation(question.form().toString());
    return Question.post(question.url(), question.secret(), question.form(), key);
  }

  private Question question(String path, Map<String, String> form, String idempotencyKey) {
    return Question.post(account.baseUrl() + path, account.secret(), form, idempotencyKey);
  }

  private <T> Future<T> ask(Question question, Reading<T> reading) {
    return http.ask(question, call).compose(answer -> read(question, answer, reading));
  }

  private <T> Future<T> read(Question question, Answer answer, Reading<T> reading) {
    if (!answer.accepted()) {
      return FailureException.failed(
          new Failure.Rejected(
              "gateway_refused",
              "The card gateway refused: " + reason(answer.body(), account.secret())));
    }
    try {
      return Future.succeededFuture(reading.from(answer.body()));
    } catch (UnusableAnswer e) {
      return http.gaveUp(question, call, e.getMessage());
    }
  }

  /** The gateway's own words, without what must not be shown. */
  static String reason(JsonNode body, String secret) {
    String message = body.path("error").path("message").asText();
    if (message.isBlank()) {
      return "it gave no reason.";
    }
    String safe = message.replace(secret, "[secret]").replaceAll("[\\p{Cntrl}\\p{Cs}]", " ");
    return safe.codePointCount(0, safe.length()) <= MESSAGE_CHARS_MAX
        ? safe
        : safe.substring(0, safe.offsetByCodePoints(0, MESSAGE_CHARS_MAX));
  }

  private static String customerId(JsonNode body) throws UnusableAnswer {
    String id = text(body, "id");
    if (id.codePointCount(0, id.length()) > CUSTOMER_ID_CHARS_MAX) {
      throw new UnusableAnswer("id");
    }
    return id;
  }

  private static CheckoutSession session(JsonNode body) throws UnusableAnswer {
    return new CheckoutSession(
        text(body, "id"),
        oneOf(OBJECTS, body, "object"),
        page(body),
        oneOf(STATUSES, body, "status"),
        oneOf(MODES, body, "mode"),
        text(body, "customer"),
        textOrNull(body, "success_url"),
        textOrNull(body, "setup_intent"),
        oneOf(PAYMENT_STATUSES, body, "payment_status"),
        seconds(body, "created"),
        seconds(body, "expires_at"),
        bool(body, "livemode"),
        textOrNull(body, "currency"),
        metadata(body));
  }

  static String oneOf(Set<String> allowed, JsonNode body, String field) throws UnusableAnswer {
    String value = text(body, field);
    if (!allowed.contains(value)) {
      throw new UnusableAnswer(field);
    }
    return value;
  }

  private static String page(JsonNode body) throws UnusableAnswer {
    String url = text(body, "url");
    if (!WebAddress.isAbsolute(url)) {
      throw new UnusableAnswer("url");
    }
    return url;
  }

  static String text(JsonNode body, String field) throws UnusableAnswer {
    String value = textOrNull(body, field);
    if (value == null || value.isEmpty()) {
      throw new UnusableAnswer(field);
    }
    return value;
  }

  static String textOrNull(JsonNode body, String field) throws UnusableAnswer {
    JsonNode value = body.path(field);
    if (value.isMissingNode() || value.isNull()) {
      return null;
    }
    if (!value.isTextual()) {
      throw new UnusableAnswer(field);
    }
    return value.textValue();
  }

  private static long seconds(JsonNode body, String field) throws UnusableAnswer {
    JsonNode value = body.path(field);
    if (!value.isIntegralNumber() || !value.canConvertToLong()) {
      throw new UnusableAnswer(field);
    }
    return value.longValue();
  }

  private static boolean bool(JsonNode body, String field) throws UnusableAnswer {
    JsonNode value = body.path(field);
    if (!value.isBoolean()) {
      throw new UnusableAnswer(field);
    }
    return value.booleanValue();
  }

  private static Map<String, Object> metadata(JsonNode body) throws UnusableAnswer {
    JsonNode value = body.path("metadata");
    if (value.isMissingNode() || value.isNull()) {
      return Map.of();
    }
    if (!value.isObject()) {
      throw new UnusableAnswer("metadata");
    }
    return Json.MAPPER.convertValue(value, new TypeReference<Map<String, Object>>() {});
  }
}
