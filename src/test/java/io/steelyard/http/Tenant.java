package io.steelyard.http;

import io.steelyard.support.Merchant;
import io.steelyard.support.Operations.Operation;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.util.List;
import java.util.Map;

/** A merchant with one of everything; {@code name} is part of what tells its things apart. */
record Tenant(
    Merchant merchant,
    String name,
    String uuid,
    String unit,
    String plan,
    Map<String, Object> customer) {
  /** So that nothing is written of a tenant while it is compared. */
  static final Map<String, String> UNTOUCHED = Map.of("keys.lastUseMs", "86400000");

  static Tenant named(TestApp app, String name) {
    Merchant merchant = app.merchant("test", Merchant.CATALOG);
    merchant
        .operator("PUT", "/gateway-connections/CardGateway")
        .json(Map.of("kind", "sandbox"))
        .send(200);
    merchant.createCustomer("shared");
    return new Tenant(
        merchant,
        name,
        Tables.query(app.database(), "SELECT id FROM merchant ORDER BY created_at DESC").get(0),
        merchant.unitId(Merchant.CATALOG),
        merchant.planId(Merchant.CATALOG, "lite"),
        merchant.createCustomer("of-" + name));
  }

  String customerId() {
    return (String) customer.get("id");
  }

  String subscriptionId() {
    return Answer.at(customer, "subscriptions.0.id");
  }

  String invoiceId() {
    return merchant
        .operator("GET", "/invoices?customerId=" + customerId())
        .send(200)
        .at("results.0.id");
  }

  Object body(Operation operation) {
    return operation.path().endsWith("/setup")
        ? Map.of("successUrl", "https://a.example")
        : Map.of("externalCustomerId", "of-" + name);
  }

  /** What is stored of this tenant, once the fold has nothing left to change in it. */
  List<String> rows() {
    awaitFold();
    return Tables.dump(merchant.app().database()).values().stream()
        .flatMap(List::stream)
        .filter(row -> row.contains(uuid))
        .sorted()
        .toList();
  }

  private void awaitFold() {
    try {
      List<String> waiting =
          Merchant.eventually(
              () ->
                  Tables.query(
                      merchant.app().database(),
                      "SELECT period_index FROM subscription_period WHERE ready_until < period_end"
                          + " UNION ALL SELECT events FROM event_batch"),
              List::isEmpty);
      if (!waiting.isEmpty()) {
        throw new AssertionError("the fold does not come to an end");
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  static String withoutRequestId(Answer answer) {
    return answer.status() + " " + answer.text().replace(answer.header("x-request-id"), "?");
  }

  /** The same kind of id, of nothing. */
  static String absent(String id) {
    return id.contains("_")
        ? id.substring(0, id.indexOf('_')) + "_01jd3c5m8y6cq643dzvmxxqkfb"
        : "absent";
  }
}
