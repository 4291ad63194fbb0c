package io.steelyard.operator;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A card gateway on a port of its own that makes one customer and one session. */
final class GatewayOverHttp implements AutoCloseable {
  private static final String CUSTOMER = "{\"id\":\"gw_1\",\"object\":\"customer\"}";
  private static final String SESSION =
      """
      {"id":"cs_1","object":"checkout.session","url":"https://pay.example/cs_1","status":"open",
       "mode":"setup","customer":"gw_1","success_url":"https://shop.example/done",
       "setup_intent":"seti_1","payment_status":"no_payment_required","created":1700000000,
       "expires_at":1700086400,"livemode":true,"currency":"usd","metadata":{}}
      """;

  private final HttpServer server;
  private final List<String> asked = new CopyOnWriteArrayList<>();
  private final List<String> authorizations = new CopyOnWriteArrayList<>();
  private volatile int refusalStatus;
  private volatile String refusal;

  GatewayOverHttp() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), 16);
    server.createContext("/", this::answer);
    server.start();
  }

  String baseUrl() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  List<String> asked() {
    return List.copyOf(asked);
  }

  List<String> authorizations() {
    return List.copyOf(authorizations);
  }

  void refuse(int status, String body) {
    refusal = body;
    refusalStatus = status;
  }

  private void answer(HttpExchange exchange) throws IOException {
    exchange.getRequestBody().readAllBytes();
    String path = exchange.getRequestURI().getPath();
    asked.add(path);
    authorizations.add(exchange.getRequestHeaders().getFirst("authorization"));
    String made = path.endsWith("/customers") ? CUSTOMER : SESSION;
    byte[] body = (refusal == null ? made : refusal).getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(refusal == null ? 200 : refusalStatus, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
