package io.steelyard.gateway;

import static io.opentelemetry.proto.trace.v1.Span.SpanKind.SPAN_KIND_CLIENT;
import static io.steelyard.support.Merchant.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span;
import io.steelyard.support.Collector;
import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import io.vertx.core.Vertx;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Attempts at a gateway are in the trace of the request that they are made for. */
class GatewayTracingIT {
  private static final String SECRET = "sk_gateway_51secret";
  private static final String TRACE = "a".repeat(32);

  private final Vertx vertx = Vertx.vertx();
  private final GatewayDouble gateway = new GatewayDouble(vertx);

  @AfterEach
  void close() {
    vertx.close().await();
  }

  private static TestApp start(Collector collector) {
    return TestApp.start(
        Map.of(
            "tracing.enabled", "true",
            "tracing.endpoint", collector.endpoint(),
            "tracing.samplePercent", "0",
            "security.encryptionKey", Base64.getEncoder().encodeToString(new byte[32]),
            "gateway.backoffMs", "10"));
  }

  private static List<Span> calls(Collector collector) {
    return collector.spans().stream()
        .filter(span -> span.getTraceId().equals(ByteString.fromHex(TRACE)))
        .filter(span -> span.getKind() == SPAN_KIND_CLIENT && span.getName().equals("POST"))
        .toList();
  }

  private static Map<String, String> attributes(Span span) {
    return span.getAttributesList().stream()
        .collect(Collectors.toMap(KeyValue::getKey, each -> text(each.getValue())));
  }

  /** The status, and what else happened: an attempt without a verdict is told as an exception. */
  private static String outcome(Span call) {
    return attributes(call).get("http.response.status_code")
        + " "
        + call.getEventsList().stream().map(Span.Event::getName).toList();
  }

  private static String text(AnyValue value) {
    return value.hasStringValue() ? value.getStringValue() : String.valueOf(value.getIntValue());
  }

  @Test
  void everyAttemptIsASpanWithoutAnythingOfItsPathOrItsSecret() throws Exception {
    gateway.then(503, "").then(200, GatewayDouble.CUSTOMER).then(200, GatewayDouble.SESSION);
    try (Collector collector = new Collector();
        TestApp app = start(collector)) {
      Merchant merchant = app.merchant("test", Merchant.CATALOG);
      merchant
          .operator("PUT", "/gateway-connections/CardGateway")
          .json(Map.of("kind", "http", "baseUrl", gateway.baseUrl(), "secret", SECRET))
          .send(200);
      merchant.customerId("acme");

      Answer session =
          merchant
              .call(
                  "POST",
                  "/external/customers/external-id/acme/card-gateway/checkout-sessions/setup")
              .header("traceparent", "00-" + TRACE + "-" + "b".repeat(16) + "-01")
              .json(Map.of("successUrl", "https://shop.example/done"))
              .send();
      assertThat(session.status()).as(session.text()).isIn(200, 201);

      List<Span> calls = eventually(() -> calls(collector), all -> all.size() == 3);
      assertThat(calls).hasSize(3);
      int port = Integer.parseInt(gateway.baseUrl().replaceAll(".*:", ""));
      assertThat(calls)
          .allSatisfy(
              call ->
                  assertThat(attributes(call))
                      .containsEntry("http.request.method", "POST")
                      .containsEntry("server.address", "127.0.0.1")
                      .containsEntry("server.port", "" + port));
      assertThat(calls)
          .extracting(GatewayTracingIT::outcome)
          .containsExactlyInAnyOrder("503 [exception]", "200 []", "200 []");
      Span verticle =
          eventually(collector::spans, all -> parent(all, calls.getFirst()) != null).stream()
              .filter(span -> span.getSpanId().equals(calls.getFirst().getParentSpanId()))
              .findFirst()
              .orElseThrow();
      assertThat(attributes(verticle))
          .containsEntry("messaging.destination.name", "billing.gateway");
      assertThat(calls).extracting(Span::getParentSpanId).containsOnly(verticle.getSpanId());
      assertThat(calls.toString())
          .doesNotContain(SECRET, "/customers", "/checkout", "cus_9", "cs_1");
      assertThat(gateway.asked())
          .hasSize(3)
          .allSatisfy(asked -> assertThat(asked.headers()).doesNotContainKey("traceparent"));
    }
  }

  private static Span parent(List<Span> all, Span of) {
    return all.stream()
        .filter(span -> span.getSpanId().equals(of.getParentSpanId()))
        .findFirst()
        .orElse(null);
  }
}
