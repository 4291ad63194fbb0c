package io.steelyard;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.db.Endpoint;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Everything is in the database: another process that starts on it goes on with it. */
class RestartIT {
  private static final String[] LISTS = {"/external/customers", "/external/subscriptions"};

  @Test
  void anotherStartOnTheSameDatabaseGoesOnWhereTheFirstStopped() {
    Endpoint database = PostgresSupport.emptyDatabase();
    Merchant before;
    String customer;
    Map<String, Object> event;
    String revoked;
    Map<String, Object> seen;
    try (TestApp app = TestApp.start(database, Map.of())) {
      before = app.merchant("test", Merchant.CATALOG);
      before
          .operator("PUT", "/gateway-connections/CardGateway")
          .json(Map.of("kind", "sandbox"))
          .send(200);
      before.operator("PUT", "/clock").json(Map.of("now", "2031-03-04T05:06:07Z")).send(200);
      Answer key = before.operator("POST", "/api-keys").json(Map.of("type", "secret")).send(201);
      before.operator("DELETE", "/api-keys/" + key.at("id")).send(204);
      revoked = key.at("key");
      customer = (String) before.createCustomer("one").get("id");
      event = before.event(customer, "api.request", 3, "the-event");
      assertThat(before.post("/external/event", event).status()).isEqualTo(202);
      seen = everything(before);
    }

    try (TestApp app = TestApp.start(database, Map.of())) {
      Merchant after = new Merchant(app, before.id(), before.key());

      assertThat(everything(after)).isEqualTo(seen);
      assertThat(after.post("/external/event", event).object())
          .isEqualTo(Map.of("accepted", 0, "duplicates", 1));
      assertThat(app.external("GET", LISTS[0]).key(revoked).send().status()).isEqualTo(401);
      assertThat(after.createCustomer("two"))
          .containsEntry("createdAt", "2031-03-04T05:06:07.000Z");
      assertThat(after.operator("GET", "/invoices").send(200).<Object>at("results.0.vanityId"))
          .isEqualTo(2);
      String checkout = "/external/customers/external-id/one/card-gateway/checkout-sessions/setup";
      assertThat(after.post(checkout, Map.of("successUrl", "https://a.example")).status())
          .isEqualTo(201);
    }
  }

  private static Map<String, Object> everything(Merchant merchant) {
    return Map.of(
        "customers", merchant.get(LISTS[0]).tree(),
        "subscriptions", merchant.get(LISTS[1]).tree(),
        "invoices", merchant.operator("GET", "/invoices").send(200).tree(),
        "catalog", merchant.operator("GET", "/catalog").send(200).tree(),
        "ledger", merchant.get("/external/customers/external-id/one/transactions").tree());
  }
}
