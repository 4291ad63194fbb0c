package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.support.Merchant;
import io.steelyard.support.Operations;
import io.steelyard.support.Operations.Operation;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import io.steelyard.support.TestApp.Call;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What attackers put into parameters, bodies and headers, by kind of attack. */
class HostileInputIT {
  private static final List<String> LISTS =
      List.of(
          "/external/customers",
          "/external/subscriptions",
          "/external/customers/external-id/acme/transactions",
          "/operator/merchants",
          "/operator/merchants/{id}/api-keys",
          "/operator/merchants/{id}/invoices");

  private static final List<String> INJECTIONS =
      List.of(
          "createdAt;--",
          "createdAt; DROP TABLE customer",
          "(SELECT pg_sleep(5))",
          "createdAt, (SELECT 1/0)",
          "id) UNION SELECT key_hash FROM api_key --",
          "\"createdAt\"",
          "created_at",
          "createdat",
          "1",
          "asc, id",
          "asc;",
          "ASC NULLS FIRST",
          "' OR '1'='1",
          "$1",
          "\u0000");

  private static final int PER_SECOND = 5;
  private static final int SILENT_MS = 300;

  private static TestApp app;
  private static Merchant merchant;

  @BeforeAll
  static void start() {
    app =
        TestApp.start(
            Map.of("gateway.backoffMs", "50", "limits.requestsPerSecondPerMerchant", "100000"));
    merchant = app.merchant("test", Merchant.CATALOG).connect("CardGateway");
    merchant.createCustomer("acme");
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static Call call(String method, String path) {
    String named = path.replace("{id}", merchant.id());
    return path.startsWith("/operator/")
        ? app.operator(method, named)
        : merchant.call(method, named);
  }

  @ParameterizedTest
  @ValueSource(strings = {"order", "orderBy", "page", "pageSize"})
  void nothingButAListedWordDecidesAnOrderOrAPage(String parameter) {
    for (String list : LISTS) {
      for (String injection : INJECTIONS) {
        if (parameter.startsWith("page") && injection.equals("1")) {
          continue;
        }
        String value = URLEncoder.encode(injection, StandardCharsets.UTF_8);
        Answer answer = call("GET", list + "?" + parameter + "=" + value).send(400);

        assertThat(answer.faults())
            .as("%s %s=%s", list, parameter, injection)
            .hasSize(1)
            .allMatch(fault -> fault.startsWith("?" + parameter + " "));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"externalId", "id", "ledgerAId", "cardGatewayId", "email", "name"})
  void aFilterIsComparedAndNeverRun(String filter) {
    for (String injection : INJECTIONS) {
      if (!injection.equals("\u0000")) { // no text may hold U+0000
        String value = URLEncoder.encode(injection, StandardCharsets.UTF_8);
        assertThat(
                call("GET", "/external/customers?" + filter + "=" + value)
                    .send(200)
                    .<Integer>at("count"))
            .as(injection)
            .isZero();
      }
    }
  }

  static Stream<Operation> operationsWithBodies() {
    return Stream.concat(Operations.external().stream(), Operations.operator().stream())
        .filter(operation -> !operation.examples().isEmpty());
  }

  /** What the service alone decides cannot be set by naming it. */
  @ParameterizedTest
  @MethodSource("operationsWithBodies")
  void nobodySetsWhatHeIsNotAskedFor(Operation operation) {
    List<String> before = stored();
    String path =
        operation.with(
            Map.of(
                "id", operation.path().startsWith("/operator/") ? merchant.id() : "sub_x",
                "externalId", "acme",
                "subscriptionId", "sub_x",
                "customerId", "cus_x",
                "gateway", "LedgerB",
                "invoiceId", "inv_x"));
    for (String member :
        List.of("merchantId", "balance", "createdAt", "isAdmin", "__proto__", "parkedAt")) {
      Answer answer = call(operation.method(), path).json(with(operation, member)).send(400);

      assertThat(answer.faults())
          .as("%s with %s", operation, member)
          .anyMatch(fault -> fault.endsWith("/" + member + " unknown_property"));
    }
    assertThat(stored()).isEqualTo(before);
  }

  private static Object with(Operation operation, String member) {
    Object example = operation.examples().getFirst();
    if (example instanceof List<?> list) {
      List<Object> copy = new ArrayList<>(list);
      copy.set(0, withMember(copy.get(0), member));
      return copy;
    }
    return withMember(example, member);
  }

  private static Object withMember(Object example, String member) {
    Map<Object, Object> copy = new LinkedHashMap<>((Map<?, ?>) example);
    copy.put(member, "mine");
    return copy;
  }

  private static List<String> stored() {
    return Tables.query(
        app.database(),
        """
        SELECT concat_ws(' ', (SELECT count(*) FROM customer), (SELECT count(*) FROM merchant),
          (SELECT count(*) FROM subscription), (SELECT count(*) FROM api_key),
          (SELECT count(*) FROM plan), (SELECT count(*) FROM event_key))
        """);
  }

  /** Neither when it is given, nor when the session is made, nor when it is done. */
  @Test
  void theServiceOpensNoConnectionToASuccessUrl() throws Exception {
    try (ServerSocket internal = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      internal.setSoTimeout(SILENT_MS);
      String url = "http://127.0.0.1:" + internal.getLocalPort() + "/latest/meta-data/";
      Answer session =
          merchant
              .call(
                  "POST",
                  "/external/customers/external-id/acme/card-gateway/checkout-sessions/setup")
              .json(Map.of("successUrl", url))
              .send(201);
      merchant
          .operator("POST", "/sandbox/checkout-sessions/" + session.at("id") + "/complete")
          .send(200);

      assertThatThrownBy(internal::accept).isInstanceOf(SocketTimeoutException.class);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,x",
        "//a.example",
        "gopher://a.example/",
        "https://a.example/\r\nSet-Cookie: a=b",
        "https://a.example/ x",
        "https://",
        "https://a.example:99999/"
      })
  void aSuccessUrlIsAnAbsoluteAddressOfTheWeb(String url) {
    Answer refused =
        merchant
            .call(
                "POST", "/external/customers/external-id/acme/card-gateway/checkout-sessions/setup")
            .json(Map.of("successUrl", url))
            .send(400);

    assertThat(refused.faults()).containsExactly("/successUrl format");
  }

  /** A limit is the key's merchant's, whatever a client says of where it comes from. */
  @Test
  void noHeaderOpensALimit() {
    try (TestApp limited =
        TestApp.start(Map.of("limits.requestsPerSecondPerMerchant", "" + PER_SECOND))) {
      Merchant flooding = limited.merchant("test", null);
      List<Answer> answers =
          Merchant.atOnce(
              20 * PER_SECOND,
              i ->
                  flooding
                      .call("GET", "/external/customers")
                      .header("x-forwarded-for", "10.0.0." + i)
                      .header("x-real-ip", "10.0.1." + i)
                      .header("forwarded", "for=10.0.2." + i)
                      .send());

      assertThat(answers).filteredOn(answer -> answer.status() == 429).hasSizeGreaterThan(50);
    }
  }
}
