package io.steelyard.http;

import io.steelyard.support.Merchant;
import io.steelyard.support.Operations.Operation;
import io.steelyard.support.TestApp.Answer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The ids of one of everything that a tenant has, each by what it is of. */
record Belongings(Tenant tenant, Map<String, String> ids) {
  static Belongings of(Tenant tenant) {
    Merchant merchant = tenant.merchant();
    Map<String, String> ids = new LinkedHashMap<>();
    String invoice = tenant.invoiceId();
    Answer lines = merchant.get("/external/invoices/" + invoice + "/with-line-items");
    Answer ledger =
        merchant.get("/external/customers/external-id/of-" + tenant.name() + "/transactions");
    ids.put("merchant", merchant.id());
    ids.put("customer", tenant.customerId());
    ids.put("externalId", "of-" + tenant.name());
    ids.put("subscription", tenant.subscriptionId());
    ids.put("plan", tenant.plan());
    ids.put("unit", tenant.unit());
    ids.put("invoice", invoice);
    ids.put("lineItem", lines.at("invoiceLineItems.0.id"));
    ids.put("price", lines.at("invoiceLineItems.0.priceId"));
    ids.put("transaction", ledger.at("results.0.id"));
    ids.put("block", ledger.at("results.0.allocationBlock.id"));
    ids.put("access", Answer.at(tenant.customer(), "conditionalBillableAccess.0.id"));
    ids.put("billable", Answer.at(tenant.customer(), "conditionalBillableAccess.0.billableId"));
    ids.put(
        "key",
        merchant.operator("POST", "/api-keys").json(Map.of("type", "secret")).send(201).at("id"));
    ids.put(
        "session",
        merchant
            .call(
                "POST",
                "/external/customers/external-id/of-%s/card-gateway/checkout-sessions/setup"
                    .formatted(tenant.name()))
            .json(Map.of("successUrl", "https://a.example"))
            .send(201)
            .at("id"));
    return new Belongings(tenant, ids);
  }

  /** The tenant's own value of a parameter of an operation's path. */
  String value(Operation operation, String parameter) {
    String kind =
        switch (parameter) {
          case "id" -> {
            if (operation.path().startsWith("/operator/")) {
              yield "merchant";
            }
            yield operation.path().startsWith("/external/subscriptions")
                ? "subscription"
                : "customer";
          }
          case "customPricingUnitId" -> "unit";
          default -> parameter.equals("externalId") ? parameter : parameter.replaceAll("Id$", "");
        };
    String value = ids.get(kind);
    if (value == null) {
      throw new AssertionError(
          "the test knows no value of {%s} in %s".formatted(parameter, operation));
    }
    return value;
  }

  /** What the operation takes, so that nothing but an id can be wrong; null for no body. */
  Object body(Operation operation) {
    if (operation.examples().isEmpty()) {
      return null;
    }
    String path = operation.path();
    if (path.endsWith("/private-plans")) {
      return Map.of("planId", ids.get("plan"));
    }
    if (path.endsWith("/allocations")) {
      return Map.of("customPricingUnitId", ids.get("unit"), "amount", 5);
    }
    if (path.endsWith("/catalog")) {
      return tenant.merchant().operator("GET", "/catalog").send(200).object();
    }
    if (path.startsWith("/external/")) {
      return tenant.body(operation);
    }
    return operation.examples().getFirst();
  }

  /** Every id, and what else finds a customer. */
  List<String> all() {
    return List.copyOf(ids.values());
  }
}
