package io.steelyard.delivery;

import io.steelyard.support.Merchant;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** A merchant with a sandbox, its invoices, and what the sandbox remembers of them. */
record Billed(Merchant merchant, String planId) {
  private static final AtomicInteger CUSTOMERS = new AtomicInteger();

  static final String CATALOG =
      """
      plans:
        - externalId: lite
          name: Lite
          netTerms: net30
          basePrices: {monthly: 9}
      """;

  static Billed of(TestApp app) {
    Merchant merchant = app.merchant("test", CATALOG);
    for (String gateway : List.of("CardGateway", "LedgerA", "LedgerB")) {
      merchant.connect(gateway);
    }
    return new Billed(merchant, merchant.planId(CATALOG, "lite"));
  }

  /** The id of a new invoice over 9 dollars, made with these flags of its subscription. */
  String invoice(String gateway, String... flags) {
    Map<String, Object> body = new HashMap<>();
    body.put("customerId", merchant.customerId("customer-" + CUSTOMERS.incrementAndGet()));
    body.put("planId", planId);
    if (gateway != null) {
      body.put("paymentGateway", gateway);
    }
    for (String flag : flags) {
      body.put(flag, true);
    }
    Object subscription = merchant.subscribe(body).get("id");
    return merchant
        .operator("GET", "/invoices?subscriptionId=" + subscription)
        .send(200)
        .at("results.0.id");
  }

  void behave(String gateway, Map<String, ?> behavior) {
    merchant
        .operator("PUT", "/gateway-connections/" + gateway + "/sandbox-behavior")
        .json(behavior)
        .send(200);
  }

  TestApp.Call call(String id, String change) {
    return merchant.operator("POST", "/invoices/" + id + "/" + change);
  }

  Answer get(String id) {
    return merchant.operator("GET", "/invoices/" + id).send(200);
  }

  String status(String id) {
    return get(id).at("status");
  }

  /** The state, once it is that; the last one seen when it never is. */
  String becomes(String id, String status) throws Exception {
    return Merchant.eventually(() -> status(id), status::equals);
  }

  /** Every state in order, the first one included. */
  List<String> history(String id) {
    List<Map<String, Object>> changes =
        merchant
            .operator("GET", "/invoices/" + id + "/transitions?order=asc&pageSize=100")
            .send(200)
            .at("results");
    return java.util.stream.Stream.concat(
            changes.stream().limit(1).map(change -> (String) change.get("from")),
            changes.stream().map(change -> (String) change.get("to")))
        .toList();
  }

  List<String> query(String sql) {
    return Tables.query(merchant.app().database(), sql);
  }

  /** How often the sandbox has charged an invoice, and had it sent. */
  String chargesAndSends(String id) {
    String externalId = get(id).at("externalId");
    List<String> found =
        query(
            "SELECT charges || ' ' || sends FROM sandbox_invoice WHERE external_id = '"
                + externalId
                + "'");
    return found.size() == 1 ? found.get(0) : found.toString();
  }
}
