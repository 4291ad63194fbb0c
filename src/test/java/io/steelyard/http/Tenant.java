package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.Operations.Operation;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** A merchant with one of everything; {@code name} is part of what tells its things apart. */
record Tenant(
    Merchant merchant,
    String name,
    String uuid,
    String unit,
    String plan,
    Map<String, Object> customer) {
  private static final Duration FOLD_LIMIT = Duration.ofSeconds(20);
  private static final Duration POLL = Duration.ofMillis(20);
  private static final String PERIODS_NOT_READY =
      "SELECT subscription_id FROM subscription_period WHERE ready_until < period_end";

  static Tenant named(TestApp app, String name) {
    Merchant merchant = app.merchant("test", Merchant.CATALOG);
    merchant
        .operator("PUT", "/gateway-connections/CardGateway")
        .json(Map.of("kind", "sandbox"))
        .send(200);
    merchant.createCustomer("shared");
    Tenant tenant =
        new Tenant(
            merchant,
            name,
            Tables.query(app.database(), "SELECT id FROM merchant ORDER BY created_at DESC").get(0),
            merchant.unitId(Merchant.CATALOG),
            merchant.planId(Merchant.CATALOG, "lite"),
            merchant.createCustomer("of-" + name));
    awaitFold(app);
    return tenant;
  }

  /** The fold marks new periods in the background; rows that are compared must not change by it. */
  private static void awaitFold(TestApp app) {
    long deadline = System.nanoTime() + FOLD_LIMIT.toNanos();
    while (!Tables.query(app.database(), PERIODS_NOT_READY).isEmpty()) {
      assertThat(System.nanoTime()).as("new periods are ready in time").isLessThan(deadline);
      LockSupport.parkNanos(POLL.toNanos());
    }
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

  /** A good value for every parameter of every path. */
  Map<String, String> parameters(Operation operation) {
    String id =
        operation.path().startsWith("/external/subscriptions") ? subscriptionId() : customerId();
    return Map.of(
        "id",
        id,
        "externalId",
        "of-" + name,
        "customPricingUnitId",
        unit,
        "invoiceId",
        invoiceId());
  }

  Object body(Operation operation) {
    return operation.path().endsWith("/setup")
        ? Map.of("successUrl", "https://a.example")
        : Map.of("externalCustomerId", "of-" + name);
  }

  List<String> rows() {
    return Tables.dump(merchant.app().database()).values().stream()
        .flatMap(List::stream)
        .filter(row -> row.contains(uuid))
        .sorted()
        .toList();
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
