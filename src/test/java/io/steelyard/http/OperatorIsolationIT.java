package io.steelyard.http;

import static io.steelyard.http.Tenant.absent;
import static io.steelyard.http.Tenant.withoutRequestId;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The operator's paths, too, stay inside the merchant that they name. */
class OperatorIsolationIT {
  private static final String CUSTOMERS = "/external/customers";

  private static TestApp app;
  private static Tenant ours;
  private static Tenant theirs;

  @BeforeAll
  static void start() {
    app = TestApp.start(Tenant.UNTOUCHED);
    ours = Tenant.named(app, "ours");
    theirs = Tenant.named(app, "theirs");
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  @Test
  void operatorPathsKeepAMerchantsThingsInsideIt() {
    Map<String, Object> key =
        theirs
            .merchant()
            .operator("POST", "/api-keys")
            .json(Map.of("type", "secret"))
            .send(201)
            .object();
    List<String> before = theirs.rows();
    Merchant merchant = ours.merchant();
    Map<String, Object> grant = Map.of("planId", ours.plan());
    Map<String, Object> gift = Map.of("customPricingUnitId", ours.unit(), "amount", 5);
    Set<String> codes = new TreeSet<>();
    for (String customer : List.of(theirs.customerId(), absent(ours.customerId()), "x")) {
      String path = "/customers/" + customer;
      codes.add(
          merchant.operator("POST", path + "/private-plans").json(grant).send(404).at("code"));
      codes.add(merchant.operator("POST", path + "/allocations").json(gift).send(404).at("code"));
    }
    assertThat(codes).containsExactly("customer_not_found");
    for (String id : List.of((String) key.get("id"), absent((String) key.get("id")), "x")) {
      merchant.operator("DELETE", "/api-keys/" + id).send(404);
    }
    assertThat(
            merchant
                .operator("GET", "/invoices?customerId=" + theirs.customerId())
                .send(200)
                .<Integer>at("count"))
        .isZero();
    assertThat(
            merchant
                .operator("GET", "/invoices?subscriptionId=" + theirs.subscriptionId())
                .send(200)
                .<Integer>at("count"))
        .isZero();
    String own = "/customers/" + ours.customerId();
    Set<String> answers = new TreeSet<>();
    for (String plan : List.of(theirs.plan(), absent(ours.plan()))) {
      answers.add(
          withoutRequestId(
              merchant
                  .operator("POST", own + "/private-plans")
                  .json(Map.of("planId", plan))
                  .send(404)));
    }
    assertThat(answers).hasSize(1);
    answers.clear();
    for (String unit : List.of(theirs.unit(), absent(ours.unit()))) {
      answers.add(
          withoutRequestId(
              merchant
                  .operator("POST", own + "/allocations")
                  .json(Map.of("customPricingUnitId", unit, "amount", 5))
                  .send(404)));
    }
    assertThat(answers).hasSize(1);
    assertThat(theirs.rows()).isEqualTo(before);
    app.external("GET", CUSTOMERS).key((String) key.get("key")).send(200);
  }
}
