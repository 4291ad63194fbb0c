package io.steelyard.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.merchant.ApiKeys;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MerchantsIT {
  private static final String CUSTOMERS = "/external/customers";

  private static TestApp app;

  @BeforeAll
  static void start() {
    app = TestApp.start();
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static Answer create(Map<String, ?> body) {
    return app.operator("POST", "/operator/merchants").json(body).send();
  }

  private static int statusWith(String key) {
    return app.external("GET", CUSTOMERS).key(key).send().status();
  }

  @Test
  void aMerchantComesWithASecretKeyThatWorksAtOnce() {
    Answer created =
        create(Map.of("name", "Acme", "environment", "live", "timezone", "Europe/Paris"));

    assertThat(created.status()).isEqualTo(201);
    assertThat(created.object())
        .containsEntry("name", "Acme")
        .containsEntry("environment", "live")
        .containsEntry("timezone", "Europe/Paris");
    assertThat(created.<String>at("id")).startsWith("mer_");
    assertThat(created.<String>at("apiKey.type")).isEqualTo("secret");
    assertThat(created.<String>at("apiKey.key")).startsWith("sk_live_");
    assertThat(statusWith(created.at("apiKey.key"))).isEqualTo(200);
  }

  @Test
  void aMerchantThatNamesNoZoneLivesInUtc() {
    assertThat(create(Map.of("name", "Acme", "environment", "test")).<String>at("timezone"))
        .isIn("UTC", "Z");
  }

  @Test
  void theMidnightOfADateIsThatOfTheMerchantsZone() {
    Answer created =
        create(Map.of("name", "A", "environment", "test", "timezone", "America/New_York"));
    Merchant merchant = new Merchant(app, created.at("id"), created.at("apiKey.key"));
    String plan = merchant.planId(Merchant.CATALOG, "lite");
    String customer = (String) merchant.createCustomer("one").get("id");

    Answer subscribed =
        merchant.post(
            "/external/subscriptions/bulk",
            List.of(Map.of("customerId", customer, "planId", plan, "startDate", "2030-01-15")));

    assertThat(subscribed.<String>at("0.startDate")).isEqualTo("2030-01-15T05:00:00.000Z");
  }

  @Test
  void merchantsAreListedInTheOrderTheyCameIn() {
    List<Object> ids =
        List.of(
            create(Map.of("name", "First", "environment", "test")).at("id"),
            create(Map.of("name", "Second", "environment", "live")).at("id"));
    int count = app.operator("GET", "/operator/merchants").send(200).at("count");

    Answer newest = app.operator("GET", "/operator/merchants?pageSize=2").send(200);
    Answer last =
        app.operator("GET", "/operator/merchants?pageSize=1&order=asc&page=" + count).send(200);
    Answer beyond =
        app.operator("GET", "/operator/merchants?pageSize=1&page=" + (count + 1)).send(200);

    assertThat(newest.<Object>at("results.0.id")).isEqualTo(ids.get(1));
    assertThat(newest.<Object>at("results.1.id")).isEqualTo(ids.get(0));
    assertThat(newest.<String>at("results.0.name")).isEqualTo("Second");
    assertThat(last.<Object>at("results.0.id")).isEqualTo(ids.get(1));
    assertThat(beyond.<List<?>>at("results")).isEmpty();
    assertThat(newest.text()).doesNotContain("apiKey", "sk_");
    assertThat(app.operator("GET", "/operator/merchants?orderBy=name").send(400).faults())
        .containsExactly("?orderBy unknown_parameter");
  }

  @Test
  void aKeyIsStoredOnlyAsItsHash() {
    Merchant merchant = app.merchant("test", null);

    String hex = HexFormat.of().formatHex(ApiKeys.hash(merchant.key()));
    assertThat(
            PostgresSupport.column(app.database(), "SELECT encode(key_hash, 'hex') FROM api_key"))
        .contains(hex);
    assertThat(
            PostgresSupport.column(
                app.database(),
                "SELECT k::text FROM api_key k UNION ALL SELECT m::text FROM merchant m"))
        .isNotEmpty()
        .noneMatch(row -> row.contains(merchant.key()));
  }

  @Test
  void everyFaultOfANewMerchantIsNamed() {
    Answer refused =
        create(Map.of("name", "", "environment", "staging", "colour", "red", "timezone", 7));

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.faults())
        .containsExactlyInAnyOrder(
            "/name min_length", "/environment enum", "/colour unknown_property", "/timezone type");
    assertThat(create(Map.of()).faults())
        .containsExactlyInAnyOrder("/name required", "/environment required");
  }

  @ParameterizedTest
  @ValueSource(strings = {"Mars/Olympus", "Europe", "../etc", "+99:00"})
  void aZoneThatIsNoneIsAFaultAtItsPlace(String zone) {
    Answer refused = create(Map.of("name", "A", "environment", "test", "timezone", zone));

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.faults()).containsExactly("/timezone timezone");
  }

  @Test
  void anotherSecretKeyWorksUntilItIsRevoked() {
    Merchant merchant = app.merchant("test", null);
    Answer created =
        merchant.operator("POST", "/api-keys").json(Map.of("type", "secret", "name", "b")).send();
    assertThat(created.status()).isEqualTo(201);
    String key = created.at("key");
    assertThat(statusWith(key)).isEqualTo(200);

    String path = "/api-keys/" + created.at("id");
    assertThat(merchant.operator("DELETE", path).send().status()).isEqualTo(204);

    assertThat(statusWith(key)).isEqualTo(401);
    assertThat(statusWith(merchant.key())).isEqualTo(200);
    assertThat(merchant.operator("DELETE", path).send().status()).isEqualTo(204);
  }

  @Test
  void aPublishableKeyIsKnownAndForbidden() {
    Merchant merchant = app.merchant("test", null);
    String key =
        merchant
            .operator("POST", "/api-keys")
            .json(Map.of("type", "publishable"))
            .send(201)
            .at("key");

    Answer refused = app.external("GET", CUSTOMERS).key(key).send(403);

    assertThat(key).startsWith("pk_test_");
    assertThat(refused.<String>at("code")).isEqualTo("wrong_key_type");
  }

  @Test
  void aKeyIsRevokedByItsOwnMerchantOnly() {
    Merchant one = app.merchant("test", null);
    Merchant other = app.merchant("test", null);
    Answer created = one.operator("POST", "/api-keys").json(Map.of("type", "secret")).send(201);

    String path = "/api-keys/" + created.at("id");
    assertThat(other.operator("DELETE", path).send().status()).isEqualTo(404);
    assertThat(one.operator("DELETE", "/api-keys/none").send().status()).isEqualTo(404);

    assertThat(statusWith(created.at("key"))).isEqualTo(200);
  }

  @Test
  void aMerchantThatIsNoneIsNotFoundByAnyCall() {
    for (String id : new String[] {"none", "mer_01jd3c5m8ym9s346q3d25vt4f5", "cus_1"}) {
      Merchant nobody = new Merchant(app, id, "");
      Map<String, String> answers =
          Map.of(
              "keys",
              nobody
                  .operator("POST", "/api-keys")
                  .json(Map.of("type", "secret"))
                  .send(404)
                  .at("code"),
              "export",
              nobody.operator("GET", "/catalog").send(404).at("code"),
              "clock",
              nobody
                  .operator("PUT", "/clock")
                  .json(Map.of("now", "2030-01-01T00:00:00Z"))
                  .send(404)
                  .at("code"),
              "invoices",
              nobody.operator("GET", "/invoices").send(404).at("code"));
      assertThat(answers.values()).containsOnly("merchant_not_found");
    }
  }

  @Test
  void onlyTheOperatorsTokenOpensTheOperatorApi() {
    for (String given :
        new String[] {
          "Bearer wrong",
          "Bearer " + TestApp.OPERATOR_TOKEN + "x",
          TestApp.OPERATOR_TOKEN,
          "Basic " + TestApp.OPERATOR_TOKEN
        }) {
      Answer refused =
          app.management("POST", "/operator/merchants")
              .header("authorization", given)
              .json(Map.of("name", "A", "environment", "test"))
              .send(401);
      assertThat(refused.header("www-authenticate")).isEqualTo("Bearer");
    }
    app.management("POST", "/operator/merchants").json(Map.of()).send(401);
  }

  @Test
  void theExternalPortHasNeitherTheOperatorApiNorMetricsNorHealth() {
    Merchant merchant = app.merchant("test", null);
    for (String path :
        new String[] {
          "/operator/merchants", "/metrics", "/health/ready", "/operator/merchants/x/catalog"
        }) {
      assertThat(
              app.external("GET", path)
                  .key(merchant.key())
                  .header("authorization", "Bearer " + TestApp.OPERATOR_TOKEN)
                  .undocumented()
                  .send()
                  .status())
          .as(path)
          .isEqualTo(404);
    }
  }
}
