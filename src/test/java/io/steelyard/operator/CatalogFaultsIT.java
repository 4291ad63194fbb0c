package io.steelyard.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A catalogue with a fault is refused whole, and the answer says where each fault is. */
class CatalogFaultsIT {
  private static TestApp app;
  private static Merchant merchant;
  private static Object untouched;

  @BeforeAll
  static void start() {
    app = TestApp.start();
    merchant = app.merchant("test", Merchant.CATALOG);
    untouched = export();
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static Object export() {
    return merchant.operator("GET", "/catalog").send(200).tree();
  }

  private static Answer put(String type, byte[] document) {
    return merchant.operator("PUT", "/catalog").body(document, type).send();
  }

  /** Refused, and nothing of it kept. */
  private static List<String> faults(String type, byte[] document) {
    Answer refused = put(type, document);
    assertThat(refused.status()).as(refused.text()).isEqualTo(400);
    assertThat(export()).isEqualTo(untouched);
    return refused.faults();
  }

  private static List<String> yamlFaults(String document) {
    return faults("application/yaml", document.getBytes(StandardCharsets.UTF_8));
  }

  private static List<String> jsonFaults(String document) {
    return faults("application/json", document.getBytes(StandardCharsets.UTF_8));
  }

  private static final String API_PRICE =
      """
            - {name: API requests, billable: api-requests, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 0.002}, limit: 100, maxUsage: 500, blockOverage: true}
      """;

  private static Arguments price(String price, String... faults) {
    String indented = "      - " + price + "\n";
    return arguments(Merchant.CATALOG.replace(API_PRICE, indented), List.of(faults));
  }

  private static Arguments with(String target, String replacement, String... faults) {
    assertThat(Merchant.CATALOG).contains(target);
    return arguments(Merchant.CATALOG.replace(target, replacement), List.of(faults));
  }

  static Stream<Arguments> faulty() {
    return Stream.of(
        price(
            "{name: Nothing, billingMode: arrears, priceType: unit, rules: {quantity: 1}}",
            "/plans/0/prices/0/billable required",
            "/plans/0/prices/0/rules/price required"),
        price(
            "{name: T, billable: api-requests, billingMode: arrears, priceType: tiered, rules: "
                + "{quantity: 1, tiers: [{upTo: 10, price: 2}, {upTo: 10, price: 1}, {price: 0}]}}",
            "/plans/0/prices/0/rules/tiers/1/upTo not_ascending"),
        price(
            "{name: T, billable: api-requests, billingMode: arrears, priceType: volume, rules: "
                + "{quantity: 1, tiers: [{price: 2}, {upTo: 10, price: 1}]}}",
            "/plans/0/prices/0/rules/tiers/0/upTo required",
            "/plans/0/prices/0/rules/tiers/1/upTo not_allowed"),
        price(
            "{name: T, billable: api-requests, billingMode: arrears, priceType: tiered, rules: "
                + "{quantity: 1, tiers: []}}",
            "/plans/0/prices/0/rules/tiers min_items"),
        price(
            "{name: A, billable: nothing, billingMode: arrears, priceType: unit, rules: "
                + "{quantity: 1, price: 1}}",
            "/plans/0/prices/0/billable unknown_billable"),
        price(
            "{name: A, billable: api-requests, billingMode: arrears, priceType: unit, rules: "
                + "{quantity: 0, price: -1}}",
            "/plans/0/prices/0/rules/quantity minimum",
            "/plans/0/prices/0/rules/price minimum"),
        price(
            "{name: A, billable: api-requests, billingMode: arrears, priceType: unit, rules: "
                + "{quantity: 1, price: 1}, limit: 10, maxUsage: 5}",
            "/plans/0/prices/0/limit above_max_usage"),
        with(
            "customPricingUnit: credits, amount",
            "customPricingUnit: coins, amount",
            "/plans/0/allocations/0/customPricingUnit unknown_custom_pricing_unit"),
        with(
            "slug: tokens",
            "slug: api-requests",
            "/billables/1/slug duplicate",
            "/plans/0/prices/1/billable unknown_billable"),
        with("externalId: lite", "externalId: pro", "/plans/1/externalId duplicate"),
        with("defaultPlan: pro", "defaultPlan: max", "/defaultPlan unknown_plan"),
        with("description: For teams", "isPrivate: true", "/defaultPlan private_plan"),
        with("netTerms: net30", "netTerms: net45", "/plans/0/netTerms enum"),
        with(
            "description: For teams",
            "descripton: For teams",
            "/plans/0/descripton unknown_property"),
        with(
            "calculation: sum\n      overProperty: data.count\n  - slug",
            "calculation: sum\n      overProperties: data.count\n  - slug",
            "/billables/0/eventQueryRules/overProperties unknown_property",
            "/billables/0/eventQueryRules/overProperty required"),
        with(
            "rules: {quantity: 1000,",
            "rules: {per: 1000,",
            "/plans/0/prices/1/rules/per unknown_property",
            "/plans/0/prices/1/rules/quantity required"),
        with(
            "rule: matches, value: tokens",
            "rule: resembles, value: tokens",
            "/billables/1/eventQueryRules/conditions/0/0/rule enum"),
        with("monthly: 49", "monthly: 1e400", "/plans/0/basePrices/monthly malformed_yaml"),
        with("monthly: 49", "monthly: '49'", "/plans/0/basePrices/monthly type"),
        with("monthly: 49", "monthly: -1", "/plans/0/basePrices/monthly minimum"));
  }

  @ParameterizedTest
  @MethodSource("faulty")
  void everyFaultIsNamedAndNothingIsChanged(String document, List<String> faults) {
    assertThat(document).isNotEqualTo(Merchant.CATALOG);

    assertThat(yamlFaults(document)).containsExactlyInAnyOrderElementsOf(faults);
  }

  static Stream<String> malformedYaml() {
    return Stream.of(
        "plans: [",
        "plans: []\n  defaultPlan: x",
        "plans: []\nplans: []",
        "plans: []\n---\nplans: []",
        "a: &x [1]\nplans: *x",
        "x: &x {externalId: a, name: A}\nplans:\n  - <<: *x",
        "plans: !!java.util.ArrayList []",
        "plans: []\ndefaultPlan: \"\\0\"",
        "\t- plans",
        "",
        "plans: " + "[".repeat(65) + "]".repeat(65));
  }

  @ParameterizedTest
  @MethodSource("malformedYaml")
  void yamlThatCannotBeReadExactlyIsRefused(String document) {
    assertThat(yamlFaults(document)).singleElement().asString().endsWith(" malformed_yaml");
  }

  @Test
  void anAliasThatWouldGrowWithoutEndCostsNothing() {
    StringBuilder bomb = new StringBuilder("a: &a [x,x,x,x,x,x,x,x,x]\n");
    for (char name = 'b'; name <= 'z'; name++) {
      String before = "*" + (char) (name - 1);
      bomb.append(name).append(": &").append(name).append(" [");
      bomb.append(String.join(",", java.util.Collections.nCopies(9, before))).append("]\n");
    }
    long startedAt = System.nanoTime();

    assertThat(yamlFaults(bomb + "plans: *z"))
        .singleElement()
        .asString()
        .endsWith("malformed_yaml");

    assertThat((System.nanoTime() - startedAt) / 1_000_000).isLessThan(5_000);
  }

  @Test
  void bytesThatAreNotUtf8AreRefusedInBothForms() {
    byte[] broken = {'p', 'l', 'a', 'n', 's', ':', ' ', '"', (byte) 0xc0, (byte) 0x80, '"'};
    assertThat(faults("application/yaml", broken)).containsExactly(" invalid_encoding");
    byte[] json = {'{', '"', (byte) 0xff, '"', ':', '1', '}'};
    assertThat(faults("application/json", json)).hasSize(1);
  }

  @Test
  void jsonIsAsStrictAsEverywhere() {
    for (String document :
        new String[] {
          "{\"plans\": [}",
          "{\"plans\": []} x",
          "{\"plans\": [], \"plans\": []}",
          "",
          "{\"plans\": [] /* none */}",
          "{'plans': []}",
          "{\"plans\": " + "[".repeat(65) + "]".repeat(65) + "}"
        }) {
      assertThat(jsonFaults(document)).as(document).hasSize(1);
    }
    assertThat(jsonFaults("[]")).containsExactly(" type");
    assertThat(jsonFaults("{\"plans\": null}")).containsExactly("/plans type");
  }

  @Test
  void aBodyThatIsNeitherJsonNorYamlIsRefused() {
    Answer refused = put("text/plain", "plans: []".getBytes(StandardCharsets.UTF_8));

    assertThat(refused.status()).isEqualTo(415);
    assertThat(export()).isEqualTo(untouched);
  }

  @Test
  void allFaultsOfADocumentComeInOneAnswer() {
    Map<String, Object> document =
        Map.of(
            "plans",
            List.of(
                Map.of("externalId", "", "name", "A"), Map.of("externalId", "b", "colour", "red")),
            "defaultPlan",
            7);
    assertThat(jsonFaults(io.steelyard.json.Json.encodeText(document)))
        .containsExactlyInAnyOrder(
            "/plans/0/externalId min_length",
            "/plans/1/name required",
            "/plans/1/colour unknown_property",
            "/defaultPlan type");
  }
}
