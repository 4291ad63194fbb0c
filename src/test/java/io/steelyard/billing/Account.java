package io.steelyard.billing;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The only customer of a test merchant: what it subscribes to, uses and is billed. */
record Account(Merchant merchant, String customer, String catalog) {
  static final String START = "2040-01-31T12:00:00Z";

  /** Calls cost 1 dollar each, after the tenth 50 cents; tokens cost a credit each. */
  static final String CATALOG =
      """
      customPricingUnits:
        - {key: credits, displayName: Credits, displayNameSingular: Credit, shortName: cr}
      billables:
        - slug: calls
          name: Calls
          eventQueryRules:
            conditions: [[{key: eventName, rule: matches, value: call}]]
            calculation: sum
            overProperty: data.count
        - slug: tokens
          name: Tokens
          eventQueryRules:
            conditions: [[{key: eventName, rule: matches, value: token}]]
            calculation: sum
            overProperty: data.count
      plans:
        - externalId: pro
          name: Pro
          netTerms: net30
          basePrices: {monthly: 49, annually: 490}
          prices:
            - {name: Calls, billable: calls, billingMode: arrears, priceType: tiered,
               rules: {quantity: 1, tiers: [{upTo: 10, price: 1}, {price: 0.5}]}}
            - {name: Tokens, billable: tokens, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 1}, usesCustomPricingUnit: true,
               customPricingUnit: credits}
      """;

  /** Of a merchant whose clock stands at {@link #START}, without a subscription. */
  static Account of(TestApp app, String catalog) {
    Merchant merchant = app.merchant("test", catalog).at(START);
    return new Account(merchant, merchant.customerId("acme"), catalog);
  }

  /** One that subscribed to the plan at {@link #START}. */
  static Account subscribed(TestApp app) {
    Account account = of(app, CATALOG);
    account.subscribe();
    return account;
  }

  void at(String now) {
    merchant.at(now);
  }

  /** The id of a new subscription to the plan. */
  String subscribe(Object... fields) {
    Map<String, Object> body = new HashMap<>();
    body.put("customerId", customer);
    body.put("planId", merchant.planId(catalog, "pro"));
    for (int i = 0; i < fields.length; i += 2) {
      body.put((String) fields[i], fields[i + 1]);
    }
    return (String) merchant.subscribe(body).get("id");
  }

  String subscription() {
    return merchant.get("/external/subscriptions").at("results.0.id");
  }

  Map<String, Object> read(String subscription) {
    return merchant.call("GET", "/external/subscriptions/" + subscription).send(200).object();
  }

  Answer change(String subscription, String how) {
    return merchant
        .call("POST", "/external/subscriptions/" + subscription + "/" + how)
        .json(Map.of("externalCustomerId", "acme"))
        .send(200);
  }

  void use(String name, long count, String at) {
    Map<String, Object> event = merchant.event(customer, name, count, null, Instant.parse(at));
    merchant.call("POST", "/external/event/").json(event).send(202);
  }

  void call(long count, String at) {
    use("call", count, at);
  }

  Map<String, Object> invoice(int index) {
    return merchant.invoices().get(index);
  }

  /** How many invoices there are. */
  int invoices() {
    return merchant.invoices().size();
  }

  /** {@code 2040-01-31..2040-02-29 12 11.00} for every line. */
  List<String> lines(int invoice) {
    return shown(
        merchant.get("/external/invoices/" + invoice(invoice).get("id") + "/with-line-items"));
  }

  Answer preview(String subscription) {
    return merchant.get("/external/subscriptions/" + subscription + "/upcoming-invoice");
  }

  static List<String> shown(Answer invoice) {
    assertThat(invoice.status()).as(invoice.text()).isEqualTo(200);
    return invoice.<List<Map<String, Object>>>at("invoiceLineItems").stream()
        .map(Account::shown)
        .toList();
  }

  private static String shown(Map<String, Object> line) {
    return "%.10s..%.10s %s %s"
        .formatted(
            line.get("startDate"),
            line.get("endDate"),
            Answer.<Object>at(line, "details.quantity"),
            new BigDecimal(line.get("amount").toString()).setScale(2));
  }

  /** What remains of the catalogue's unit. */
  Object remaining() {
    return merchant
        .call(
            "GET",
            "/external/customers/external-id/acme/customPricingUnits/"
                + merchant.unitId(catalog)
                + "/usage")
        .send(200)
        .at("remaining");
  }

  /**
   * {@code 2040-01-31 planAllocation 1000} for every transaction, in order. The one that counts an
   * event races with the clock that is set next, and so has no date here.
   */
  List<String> transactions() {
    return merchant
        .call("GET", "/external/customers/external-id/acme/transactions?pageSize=100&order=asc")
        .send(200)
        .<List<Map<String, Object>>>at("results")
        .stream()
        .map(
            each ->
                (each.get("eventId") == null ? "%.10s ".formatted(each.get("createdAt")) : "")
                    + each.get("type")
                    + " "
                    + each.get("amount"))
        .toList();
  }
}
