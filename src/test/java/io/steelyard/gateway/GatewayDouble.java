package io.steelyard.gateway;

import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A gateway on a free port that notes what it is asked and answers what a test told it to. */
final class GatewayDouble {
  static final String CUSTOMER = "{\"id\":\"cus_9\",\"object\":\"customer\"}";
  static final String SESSION =
      """
      {"id":"cs_1","object":"checkout.session","url":"https://pay.example/cs_1","status":"open",\
      "mode":"setup","customer":"cus_9","success_url":"https://shop.example/done",\
      "setup_intent":"seti_1","payment_status":"no_payment_required","created":1700000000,\
      "expires_at":1700086400,"livemode":true,"currency":"usd","metadata":{"customerId":"c"},\
      "amount_total":null,"payment_method_types":["card"]}""";

  private final List<Asked> asked = Collections.synchronizedList(new ArrayList<>());
  private final Deque<Handler<HttpServerResponse>> answers = new ArrayDeque<>();
  private final List<HttpServerResponse> held = new ArrayList<>();
  private final HttpServer server;
  private volatile int togetherCount;

  /** A request as it arrived; header names in lower case. */
  record Asked(String line, Map<String, String> headers, String body) {
    Map<String, String> form() {
      Map<String, String> form = new LinkedHashMap<>();
      for (String field : body.split("&")) {
        String[] parts = field.split("=", 2);
        form.put(decode(parts[0]), decode(parts[1]));
      }
      return form;
    }

    private static String decode(String text) {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }
  }

  GatewayDouble(Vertx vertx) {
    server = vertx.createHttpServer().requestHandler(this::receive);
    server.listen(0, "127.0.0.1").await();
  }

  String baseUrl() {
    return "http://127.0.0.1:" + server.actualPort();
  }

  List<Asked> asked() {
    return List.copyOf(asked);
  }

  /** The next request not yet spoken for gets this answer; without one it gets the usual. */
  GatewayDouble then(Handler<HttpServerResponse> answer) {
    synchronized (answers) {
      answers.add(answer);
    }
    return this;
  }

  GatewayDouble then(int status, String body) {
    return then(response -> response.setStatusCode(status).end(body));
  }

  /**
   * Holds back customers until {@code count} are asked for, then makes each a new one, as a gateway
   * does that forgot the idempotency key.
   */
  void makeCustomersTogether(int count) {
    togetherCount = count;
  }

  /** The gateway goes away: connections to it are refused. */
  void goAway() {
    server.close().await();
  }

  private void receive(HttpServerRequest request) {
    request.body().onSuccess(body -> answer(request, body));
  }

  private void answer(HttpServerRequest request, Buffer body) {
    Map<String, String> headers = new LinkedHashMap<>();
    request
        .headers()
        .forEach(header -> headers.put(header.getKey().toLowerCase(), header.getValue()));
    asked.add(new Asked(request.method() + " " + request.uri(), headers, body.toString()));
    Handler<HttpServerResponse> told;
    synchronized (answers) {
      told = answers.poll();
    }
    if (told != null) {
      told.handle(request.response());
    } else if (togetherCount > 0 && request.uri().endsWith("/customers")) {
      hold(request.response());
    } else {
      request.response().end(request.uri().endsWith("/customers") ? CUSTOMER : SESSION);
    }
  }

  private void hold(HttpServerResponse response) {
    held.add(response);
    if (held.size() == togetherCount) {
      for (int i = 0; i < held.size(); i++) {
        held.get(i).end("{\"id\":\"cus_" + i + "\"}");
      }
    }
  }
}
