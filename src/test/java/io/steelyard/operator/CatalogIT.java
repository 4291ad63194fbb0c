package io.steelyard.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class CatalogIT {
  private static final String YAML = "application/yaml";
  private static final String JSON = "application/json";

  private static TestApp app;

  @BeforeAll
  static void start() {
    app = TestApp.start();
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static Answer put(Merchant merchant, String type, String document) {
    return merchant
        .operator("PUT", "/catalog")
        .body(document.getBytes(StandardCharsets.UTF_8), type)
        .send();
  }

  private static Answer export(Merchant merchant, String accept) {
    return merchant.operator("GET", "/catalog").header("accept", accept).send(200);
  }

  private static List<String> changes(Answer applied) {
    assertThat(applied.status()).as(applied.text()).isEqualTo(200);
    List<Map<String, Object>> changes = applied.at("changes");
    return changes.stream()
        .map(change -> change.get("action") + " " + change.get("kind") + " " + change.get("key"))
        .toList();
  }

  private static String changed(String target, String replacement) {
    assertThat(Merchant.CATALOG).contains(target);
    return Merchant.CATALOG.replace(target, replacement);
  }

  @Test
  void theAnswerNamesTheIdsOfAllAndWhatWasMade() {
    Answer applied = put(app.merchant("test", null), YAML, Merchant.CATALOG);

    assertThat(changes(applied))
        .containsExactlyInAnyOrder(
            "created customPricingUnit credits",
            "created billable api-requests",
            "created billable tokens",
            "created plan pro",
            "created plan lite",
            "created price pro/Monthly base price",
            "created price pro/Quarterly base price",
            "created price pro/Annual base price",
            "created price pro/API requests",
            "created price pro/Tokens",
            "created price lite/Monthly base price",
            "created allocation pro/credits",
            "created defaultPlan pro");
    assertThat(applied.<String>at("customPricingUnits.0.key")).isEqualTo("credits");
    assertThat(applied.<String>at("billables.1.slug")).isEqualTo("tokens");
    assertThat(applied.<String>at("plans.0.externalId")).isEqualTo("pro");
    assertThat(applied.<List<?>>at("plans.0.prices")).hasSize(5);
  }

  @Test
  void theSameDocumentAgainChangesNothingInEitherForm() {
    Merchant merchant = app.merchant("test", null);
    Answer first = put(merchant, YAML, Merchant.CATALOG);

    Answer again = put(merchant, YAML, Merchant.CATALOG);

    assertThat(changes(again)).isEmpty();
    for (String part : new String[] {"customPricingUnits", "billables", "plans"}) {
      assertThat(again.<Object>at(part)).isEqualTo(first.at(part));
    }
  }

  @Test
  void whatIsExportedChangesNothingWhenItIsApplied() {
    Merchant merchant = app.merchant("test", Merchant.CATALOG);

    Answer yaml = export(merchant, YAML);
    Answer json = export(merchant, JSON);

    assertThat(yaml.header("content-type")).startsWith(YAML);
    assertThat(json.header("content-type")).startsWith(JSON);
    assertThat(json.<String>at("defaultPlan")).isEqualTo("pro");
    assertThat(changes(put(merchant, YAML, yaml.text()))).isEmpty();
    assertThat(changes(put(merchant, JSON, json.text()))).isEmpty();
    Merchant other = app.merchant("live", null);
    assertThat(changes(put(other, JSON, json.text()))).hasSize(13);
    assertThat(changes(put(other, YAML, yaml.text()))).isEmpty();
  }

  @Test
  void numbersAndTextComeBackExactly() {
    Merchant merchant = app.merchant("test", null);
    String price = "0.00000000000000000000000123456789";
    String document =
        changed("price: 0.002", "price: " + price)
            .replace("name: Lite", "name: \"12 \\u00e9\\u4e2d\\U0001F600 'yes' : #\"");

    changes(put(merchant, YAML, document));

    Answer exported = export(merchant, JSON);
    assertThat(exported.<BigDecimal>at("plans.0.prices.0.rules.price")).isEqualByComparingTo(price);
    assertThat(exported.<String>at("plans.1.name")).isEqualTo("12 é中😀 'yes' : #");
    assertThat(changes(put(merchant, YAML, export(merchant, YAML).text()))).isEmpty();
  }

  @Test
  void whatRollsOverIsExportedAndChangingItMakesANewAllocation() {
    Merchant merchant = app.merchant("test", Merchant.CATALOG);
    String allocation = "amount: 1000, billingCadence: monthly";
    assertThat(export(merchant, JSON).<Map<String, Object>>at("plans.0.allocations.0"))
        .doesNotContainKey("rolloverMax");
    String document = changed(allocation, allocation + ", rolloverMax: 200.5");

    assertThat(changes(put(merchant, YAML, document)))
        .containsExactly("replaced allocation pro/credits");

    Answer exported = export(merchant, JSON);
    assertThat(exported.<BigDecimal>at("plans.0.allocations.0.rolloverMax"))
        .isEqualByComparingTo("200.5");
    assertThat(changes(put(merchant, JSON, exported.text()))).isEmpty();
    assertThat(changes(put(merchant, YAML, export(merchant, YAML).text()))).isEmpty();
  }

  @Test
  void aMerchantWithoutACatalogueExportsOneThatCanBeApplied() {
    Merchant merchant = app.merchant("test", null);

    assertThat(changes(put(merchant, JSON, export(merchant, JSON).text()))).isEmpty();
    assertThat(changes(put(merchant, YAML, export(merchant, YAML).text()))).isEmpty();
  }

  @Test
  void aChangedPriceIsANewRowAndInvoicesKeepTheOldOne() {
    Merchant merchant = app.merchant("test", null);
    Answer before = put(merchant, YAML, Merchant.CATALOG);
    Map<String, Object> customer = merchant.createCustomer("early");
    String invoice = onlyInvoice(merchant, (String) customer.get("id"));
    String oldPrice = basePrice(merchant, invoice);

    Answer after = put(merchant, YAML, changed("monthly: 49", "monthly: 59"));

    assertThat(changes(after)).containsExactly("replaced price pro/Monthly base price");
    assertThat(basePrice(merchant, invoice)).isEqualTo(oldPrice);
    assertThat(before.<String>at("plans.0.prices.0.id")).isEqualTo(oldPrice);
    String later = (String) merchant.createCustomer("late").get("id");
    String newInvoice = onlyInvoice(merchant, later);
    assertThat(basePrice(merchant, newInvoice))
        .isNotEqualTo(oldPrice)
        .isEqualTo(after.at("plans.0.prices.0.id"));
    assertThat(withLines(merchant, newInvoice).<Object>at("invoiceLineItems.0.amount"))
        .hasToString("59");
    assertThat(withLines(merchant, invoice).<Object>at("invoiceLineItems.0.amount"))
        .hasToString("49");
  }

  private static String onlyInvoice(Merchant merchant, String customer) {
    Answer list = merchant.operator("GET", "/invoices?customerId=" + customer).send(200);
    assertThat(list.<Object>at("count")).isEqualTo(1);
    return list.at("results.0.id");
  }

  private static Answer withLines(Merchant merchant, String invoice) {
    return merchant.call("GET", "/external/invoices/" + invoice + "/with-line-items").send(200);
  }

  private static String basePrice(Merchant merchant, String invoice) {
    return withLines(merchant, invoice).at("invoiceLineItems.0.priceId");
  }

  @Test
  void aPlanThatIsLeftOutIsArchivedAndReturnsUnderItsOldId() {
    Merchant merchant = app.merchant("test", null);
    String lite = put(merchant, YAML, Merchant.CATALOG).at("plans.1.id");
    String customer = (String) merchant.createCustomer("one").get("id");
    String without =
        changed(
            """
              - externalId: lite
                name: Lite
                basePrices: {monthly: 9}
            """,
            "");

    assertThat(changes(put(merchant, YAML, without)))
        .contains("archived plan lite")
        .doesNotContain("archived plan pro");

    Answer refused =
        merchant
            .call("POST", "/external/subscriptions/bulk")
            .json(List.of(Map.of("customerId", customer, "planId", lite)))
            .send();
    assertThat(refused.status()).as(refused.text()).isEqualTo(422);
    assertThat(export(merchant, JSON).<List<?>>at("plans")).hasSize(1);
    Answer back = put(merchant, YAML, Merchant.CATALOG);
    assertThat(back.<String>at("plans.1.id")).isEqualTo(lite);
    assertThat(
            merchant
                .post(
                    "/external/subscriptions/bulk",
                    List.of(Map.of("customerId", customer, "planId", lite)))
                .status())
        .isEqualTo(201);
  }

  @Test
  void theCataloguesOfTwoMerchantsDoNotMeet() {
    Merchant one = app.merchant("test", Merchant.CATALOG);
    Merchant other = app.merchant("test", Merchant.CATALOG);

    changes(put(other, YAML, "plans: []"));

    assertThat(export(one, JSON).<List<?>>at("plans")).hasSize(2);
    assertThat(export(other, JSON).<List<?>>at("plans")).isEmpty();
  }
}
