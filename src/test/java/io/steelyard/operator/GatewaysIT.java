package io.steelyard.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.net.URI;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Gateways are connected by the operator and used by the merchant. */
class GatewaysIT {
  private static final String CARD = "/gateway-connections/CardGateway";
  private static final String SECRET = "sk_gateway_51secret";
  private static final Map<String, String> SANDBOX = Map.of("kind", "sandbox");

  private static TestApp app;

  @BeforeAll
  static void start() {
    String key = Base64.getEncoder().encodeToString(new byte[32]);
    app =
        TestApp.start(
            Map.of(
                "security.encryptionKey", key,
                "gateway.attemptsMax", "2",
                "gateway.backoffMs", "10"));
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static Answer connect(Merchant merchant, Map<String, ?> body) {
    return merchant.operator("PUT", CARD).json(body).send();
  }

  private static Map<String, String> http(String baseUrl) {
    return Map.of("kind", "http", "baseUrl", baseUrl, "secret", SECRET);
  }

  private static Answer checkout(Merchant merchant, String externalId, Map<String, ?> body) {
    String path = "/external/customers/external-id/%s/card-gateway/checkout-sessions/setup";
    return merchant.post(path.formatted(externalId), body);
  }

  private static Answer checkout(Merchant merchant, String externalId) {
    return checkout(merchant, externalId, Map.of("successUrl", "https://shop.example/done"));
  }

  private static Answer page(String method, String url) {
    return app.external(method, URI.create(url).getPath()).undocumented().send();
  }

  private static Merchant withSandbox() {
    Merchant merchant = app.merchant("test", null);
    assertThat(connect(merchant, SANDBOX).status()).isEqualTo(200);
    return merchant;
  }

  private static String cardGatewayId(Merchant merchant, Map<String, Object> customer) {
    return merchant.get("/external/customers/" + customer.get("id")).at("cardGatewayId");
  }

  @Test
  void aGatewayIsConnectedReconnectedAndDisconnected() {
    Merchant merchant = app.merchant("test", null);

    Answer first = connect(merchant, SANDBOX);
    Answer second = connect(merchant, http("http://127.0.0.1:1/api"));

    assertThat(first.object()).containsEntry("kind", "sandbox").containsEntry("baseUrl", null);
    assertThat(second.object())
        .containsEntry("gateway", "CardGateway")
        .containsEntry("kind", "http")
        .containsEntry("baseUrl", "http://127.0.0.1:1/api")
        .containsEntry("createdAt", first.at("createdAt"));
    merchant.operator("DELETE", CARD).send(204);
    merchant.operator("DELETE", CARD).send(404);
    merchant.operator("PUT", "/gateway-connections/Other").json(SANDBOX).send(404);
    merchant.operator("PUT", "/gateway-connections/LedgerA").json(SANDBOX).send(200);
    merchant.createCustomer("one");
    assertThat(checkout(merchant, "one").status()).isEqualTo(422);
  }

  @Test
  void everyFaultOfAConnectionIsNamed() {
    Merchant merchant = app.merchant("test", null);

    assertThat(connect(merchant, Map.of("kind", "http")).faults())
        .containsExactlyInAnyOrder("/baseUrl required", "/secret required");
    assertThat(connect(merchant, Map.of("kind", "paper")).faults()).containsExactly("/kind enum");
    for (String url : new String[] {"gateway.example", "ftp://g.example", "http://u:p@g.example"}) {
      Answer refused = connect(merchant, http(url));
      assertThat(refused.status()).as(url).isEqualTo(400);
      assertThat(refused.faults()).singleElement().asString().startsWith("/baseUrl ");
    }
    Map<String, String> mixed = new HashMap<>(http("http://127.0.0.1:1"));
    mixed.put("kind", "sandbox");
    mixed.put("colour", "red");
    assertThat(connect(merchant, mixed).status()).isEqualTo(400);
    merchant.createCustomer("one");
    assertThat(checkout(merchant, "one").status()).isEqualTo(422);
  }

  @Test
  void aSecretIsNeverShownAndStoredEncryptedOnly() {
    Merchant one = app.merchant("test", null);
    Merchant other = app.merchant("test", null);

    Answer connected = connect(one, http("http://127.0.0.1:1"));
    connect(other, http("http://127.0.0.1:1"));

    assertThat(connected.text()).doesNotContain(SECRET).doesNotContain("secret");
    assertThat(
            PostgresSupport.column(
                app.database(), "SELECT c::text FROM gateway_connection c WHERE kind = 'http'"))
        .isNotEmpty()
        .noneMatch(row -> row.contains(SECRET));
    List<String> sealed =
        PostgresSupport.column(
            app.database(),
            "SELECT encode(secret, 'escape') FROM gateway_connection WHERE secret IS NOT NULL");
    assertThat(sealed)
        .hasSizeGreaterThanOrEqualTo(2)
        .doesNotHaveDuplicates()
        .allMatch(text -> !text.contains("sk_gateway"));
  }

  @Test
  void aCustomerGivesACardOnTheSandboxesPageOnce() {
    Merchant merchant = withSandbox();
    Map<String, Object> customer = merchant.createCustomer("one");
    assertThat(customer).containsEntry("cardGatewayId", null);

    Answer session =
        checkout(
            merchant,
            "one",
            Map.of("successUrl", "https://shop.example/done?s={CHECKOUT_SESSION_ID}"));

    assertThat(session.status()).as(session.text()).isEqualTo(201);
    assertThat(session.object())
        .containsEntry("object", "checkout.session")
        .containsEntry("status", "open")
        .containsEntry("mode", "setup")
        .containsEntry("customer", cardGatewayId(merchant, customer));
    assertThat(cardGatewayId(merchant, customer)).isNotEmpty();
    String url = session.at("url");
    assertThat(url).startsWith("http://127.0.0.1:" + app.port() + "/");
    Answer shown = page("GET", url);
    assertThat(shown.status()).isEqualTo(200);
    assertThat(shown.header("content-type")).startsWith("text/html");
    assertThat(shown.text()).contains("open").contains("<form method=\"post\">");
    Answer done = page("POST", url);
    assertThat(done.status()).isEqualTo(303);
    assertThat(done.header("location"))
        .isEqualTo("https://shop.example/done?s=" + session.at("id"));
    assertThat(page("POST", url).status()).isEqualTo(409);
    assertThat(page("GET", url).text()).contains("complete").doesNotContain("<form");
  }

  @Test
  void theOperatorCompletesASandboxSessionWithoutABrowser() {
    Merchant merchant = withSandbox();
    merchant.createCustomer("one");
    String session = checkout(merchant, "one").at("id");
    String path = "/sandbox/checkout-sessions/" + session + "/complete";

    assertThat(merchant.operator("POST", path).send(200).<String>at("status"))
        .isEqualTo("complete");

    merchant.operator("POST", path).send(409);
    merchant.operator("POST", "/sandbox/checkout-sessions/none/complete").send(404);
    withSandbox().operator("POST", path).send(404);
  }

  @Test
  void aSessionsPageBelongsToItsMerchant() {
    Merchant merchant = withSandbox();
    merchant.createCustomer("one");
    String url = checkout(merchant, "one").at("url");

    assertThat(page("GET", url.replace(merchant.id(), withSandbox().id())).status()).isEqualTo(404);
    assertThat(page("POST", url + "0").status()).isEqualTo(404);
  }

  @Test
  void aCustomerWhomTheGatewayKnowsKeepsItsId() {
    Merchant merchant = withSandbox();
    merchant
        .call("POST", "/external/customers")
        .json(Map.of("externalId", "known", "cardGatewayId", "gw_7"))
        .send(201);

    assertThat(checkout(merchant, "known").<String>at("customer")).isEqualTo("gw_7");

    merchant.createCustomer("new");
    String made = checkout(merchant, "new").at("customer");
    assertThat(checkout(merchant, "new").<String>at("customer")).isEqualTo(made);
  }

  @Test
  void aSessionNeedsAConnectionACustomerAndAnAddressToReturnTo() {
    Merchant merchant = app.merchant("test", null);
    merchant.createCustomer("one");
    assertThat(checkout(merchant, "one").<String>at("code")).isEqualTo("gateway_not_connected");
    connect(merchant, SANDBOX);

    assertThat(checkout(merchant, "two").status()).isEqualTo(404);
    assertThat(checkout(merchant, "one", Map.of()).faults())
        .containsExactly("/successUrl required");
    for (String url : new String[] {"/done", "javascript:alert(1)", "http://", "https:shop", " "}) {
      Answer refused = checkout(merchant, "one", Map.of("successUrl", url));
      assertThat(refused.status()).as(url).isEqualTo(400);
      assertThat(refused.faults()).singleElement().asString().startsWith("/successUrl ");
    }
    assertThat(
            checkout(
                    merchant, "one", Map.of("successUrl", "https://a.example", "email", "", "x", 1))
                .faults())
        .contains("/x unknown_property", "/email min_length");
  }

  @Test
  void aSandboxSessionLapsesByTheMerchantsClock() {
    Merchant merchant = withSandbox();
    merchant.createCustomer("one");
    String url = checkout(merchant, "one").at("url");

    merchant.operator("PUT", "/clock").json(Map.of("now", "2090-01-01T00:00:00Z")).send(200);

    assertThat(page("GET", url).text()).contains("expired").doesNotContain("<form");
    assertThat(page("POST", url).status()).isEqualTo(409);
  }

  @Test
  void anHttpGatewayIsAskedOverItsProtocol() throws Exception {
    try (GatewayOverHttp gateway = new GatewayOverHttp()) {
      Merchant merchant = app.merchant("live", null);
      connect(merchant, http(gateway.baseUrl()));
      Map<String, Object> customer = merchant.createCustomer("one");

      Answer first = checkout(merchant, "one");
      Answer second = checkout(merchant, "one");

      assertThat(first.status()).as(first.text()).isEqualTo(201);
      assertThat(first.object())
          .containsEntry("url", "https://pay.example/cs_1")
          .containsEntry("customer", "gw_1")
          .containsEntry("livemode", true);
      assertThat(second.status()).isEqualTo(201);
      assertThat(cardGatewayId(merchant, customer)).isEqualTo("gw_1");
      assertThat(gateway.asked())
          .containsExactly("/v1/customers", "/v1/checkout/sessions", "/v1/checkout/sessions");
      assertThat(gateway.authorizations()).containsOnly("Bearer " + SECRET);
    }
  }

  @Test
  void whatAnHttpGatewayRefusesIsToldWithoutTheSecret() throws Exception {
    try (GatewayOverHttp gateway = new GatewayOverHttp()) {
      Merchant merchant = app.merchant("live", null);
      connect(merchant, http(gateway.baseUrl()));
      merchant.createCustomer("one");
      gateway.refuse(401, "{\"error\":{\"message\":\"No such key: " + SECRET + "\"}}");

      Answer refused = checkout(merchant, "one");

      assertThat(refused.status()).isIn(422, 503);
      assertThat(refused.text()).doesNotContain(SECRET);
    }
  }

  @Test
  void aGatewayThatIsAwayIsAnsweredWith503AndTheCustomerIsAsItWas() throws Exception {
    GatewayOverHttp gateway = new GatewayOverHttp();
    Merchant merchant = app.merchant("live", null);
    connect(merchant, http(gateway.baseUrl()));
    Map<String, Object> customer = merchant.createCustomer("one");
    gateway.close();

    Answer refused = checkout(merchant, "one");

    assertThat(refused.status()).as(refused.text()).isEqualTo(503);
    assertThat(refused.header("retry-after")).matches("[1-9]\\d*");
    assertThat(cardGatewayId(merchant, customer)).isNull();
  }
}
