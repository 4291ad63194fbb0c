package io.steelyard;

import static io.opentelemetry.proto.trace.v1.Span.SpanKind.SPAN_KIND_CLIENT;
import static io.opentelemetry.proto.trace.v1.Span.SpanKind.SPAN_KIND_SERVER;
import static io.opentelemetry.proto.trace.v1.Status.StatusCode.STATUS_CODE_ERROR;
import static io.opentelemetry.proto.trace.v1.Status.StatusCode.STATUS_CODE_UNSET;
import static io.steelyard.support.Merchant.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span;
import io.steelyard.support.Collector;
import io.steelyard.support.Merchant;
import io.steelyard.support.RawHttp;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestConfig;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** A request is followed from HTTP over the bus into SQL. */
class TracingIT {
  private static final String AUTHORIZATION = "Bearer of-the-collector";

  /** A trace that the caller has begun, and wants recorded. */
  private static String parent(char digit) {
    return "00-" + ("" + digit).repeat(32) + "-" + ("" + digit).repeat(16) + "-01";
  }

  private static TestApp start(Collector collector, int percent) {
    return TestApp.start(
        Map.of(
            "tracing.enabled",
            "true",
            "tracing.endpoint",
            collector.endpoint(),
            "tracing.authorization",
            AUTHORIZATION,
            "tracing.samplePercent",
            "" + percent,
            "keys.cacheMs", // so that no question for the key is in the traces looked at
            "5000",
            "verticles.usage.instances",
            "1"));
  }

  private static List<Span> trace(Collector collector, char digit) {
    ByteString id = ByteString.fromHex(("" + digit).repeat(32));
    return collector.spans().stream().filter(span -> span.getTraceId().equals(id)).toList();
  }

  private static Optional<Span> named(List<Span> spans, String name, Span.SpanKind kind) {
    return spans.stream()
        .filter(span -> span.getName().equals(name) && span.getKind() == kind)
        .findFirst();
  }

  private static String attribute(Span span, String key) {
    return span.getAttributesList().stream()
        .filter(each -> each.getKey().equals(key))
        .map(KeyValue::getValue)
        .map(value -> value.hasStringValue() ? value.getStringValue() : value.toString())
        .findFirst()
        .orElse(null);
  }

  /** The spans of a trace once its root is there, which comes last. */
  private static List<Span> whole(Collector collector, char digit, String root) throws Exception {
    Predicate<List<Span>> isThere = spans -> named(spans, root, SPAN_KIND_SERVER).isPresent();
    List<Span> spans = eventually(() -> trace(collector, digit), isThere);
    assertThat(isThere.test(spans)).as("%s", spans).isTrue();
    return spans;
  }

  private static Span child(List<Span> spans, Span parent) {
    List<Span> children =
        spans.stream().filter(span -> span.getParentSpanId().equals(parent.getSpanId())).toList();
    assertThat(children).as("of " + parent.getName()).hasSize(1);
    return children.getFirst();
  }

  @Test
  void aRequestIsFollowedOverTheBusIntoSql() throws Exception {
    try (Collector collector = new Collector();
        TestApp app = start(collector, 0)) {
      Merchant merchant = app.merchant("test", Merchant.CATALOG);
      String id = merchant.customerId("acme");

      merchant
          .call("GET", "/external/customers/" + id)
          .header("traceparent", parent('a'))
          .send(200);

      List<Span> spans = whole(collector, 'a', "GET /external/customers/{id}");
      Span http = named(spans, "GET /external/customers/{id}", SPAN_KIND_SERVER).orElseThrow();
      assertThat(http.getParentSpanId()).isEqualTo(ByteString.fromHex("a".repeat(16)));
      Span asked = child(spans, http);
      assertThat(asked.getName()).isEqualTo("GetCustomer");
      Span answered = child(spans, asked);
      assertThat(answered.getName()).isEqualTo("GetCustomer");
      assertThat(attribute(answered, "messaging.destination.name")).isEqualTo("billing.customer");
      Span sql = child(spans, answered);
      assertThat(attribute(sql, "db.query.text")).contains("JOIN customer c");
      assertThat(spans).hasSize(4);
      assertThat(spans)
          .extracting(span -> span.getStatus().getCode())
          .doesNotContain(STATUS_CODE_ERROR);
      assertThat(collector.authorizations()).containsOnly(AUTHORIZATION);
    }
  }

  @Test
  void anEventIsFollowedIntoTheStatementThatStoresIt() throws Exception {
    try (Collector collector = new Collector();
        TestApp app = start(collector, 0)) {
      Merchant merchant = app.merchant("test", null);
      for (char digit : new char[] {'a', 'b'}) { // the first also asks for the merchant's number
        merchant
            .call("POST", "/external/event")
            .header("traceparent", parent(digit))
            .json(merchant.event("nobody-yet", "n", 1, "key-" + digit))
            .send(202);
      }

      List<Span> spans = whole(collector, 'b', "POST /external/event");
      Span http = named(spans, "POST /external/event", SPAN_KIND_SERVER).orElseThrow();
      Span sql = child(spans, child(spans, child(spans, http)));
      assertThat(attribute(sql, "db.query.text")).contains("INSERT INTO event_key");
      assertThat(spans).hasSize(4);
    }
  }

  @Test
  void whatTheCallerAskedWronglyIsNoErrorOfTheService() throws Exception {
    try (Collector collector = new Collector();
        TestApp app = start(collector, 0)) {
      Merchant merchant = app.merchant("test", null);
      merchant
          .call("GET", "/external/customers/cus_none")
          .header("traceparent", parent('a'))
          .send(404);

      List<Span> spans = whole(collector, 'a', "GET /external/customers/{id}");
      Span asked = named(spans, "GetCustomer", SPAN_KIND_CLIENT).orElseThrow();
      assertThat(attribute(asked, "steelyard.failure")).isEqualTo("customer_not_found");
      assertThat(asked.getStatus().getCode()).isEqualTo(STATUS_CODE_UNSET);
    }
  }

  @Test
  void aShareIsTracedAndWhatTheCallerWantsOrNot() throws Exception {
    try (Collector collector = new Collector();
        TestApp none = start(collector, 0);
        TestApp all = start(collector, 100)) {
      Merchant merchant = none.merchant("test", null);
      merchant.call("GET", "/external/customers").send(200);
      none.management("GET", "/health/ready").undocumented().send();
      Merchant other = all.merchant("test", null);
      all.management("GET", "/health/ready").undocumented().send();
      other
          .call("GET", "/external/customers")
          .header("traceparent", parent('a').replaceAll("01$", "00"))
          .send(200);
      other.call("GET", "/external/subscriptions?pageSize=7").send(200);
      other.call("GET", "/external/nowhere-secret?x-api-key=sk_secret").undocumented().send(404);
      other.call("DELETE", "/external/subscriptions?sk_secret").undocumented().send(405);
      other.call("GET", "/external/customers/sub_secret").send(404);
      try (RawHttp raw = RawHttp.connect(all.port())) {
        raw.send("GET /external/%zz?sk_secret HTTP/1.1\nHost: a\n\n");
        assertThat(raw.read().status()).isEqualTo(400);
      }

      eventually(collector::spans, spans -> !spans.isEmpty());
      assertThat(all.service().stop().await(10, TimeUnit.SECONDS)).isTrue();
      assertThat(collector.spans())
          .filteredOn(span -> span.getParentSpanId().isEmpty())
          .extracting(Span::getName)
          .contains("GET /external/subscriptions", "GET /external/customers/{id}")
          .hasSize(5);
      assertThat(collector.spans().toString()).doesNotContain("pageSize", "secret");
    }
  }

  @Test
  void aCollectorThatIsAwayHoldsNothingUp() throws Exception {
    Map<String, String> nowhere =
        Map.of(
            "tracing.enabled", "true",
            "tracing.endpoint", "http://127.0.0.1:" + TestConfig.freePort() + "/v1/traces",
            "tracing.samplePercent", "100");
    TestApp app = TestApp.start(nowhere);
    Merchant merchant = app.merchant("test", null);
    for (int i = 0; i < 50; i++) {
      merchant.call("GET", "/external/customers").send(200);
    }

    assertThat(app.service().stop().await(10, TimeUnit.SECONDS)).isTrue();
  }
}
