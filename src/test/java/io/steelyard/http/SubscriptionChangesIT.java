package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Cancelling, renewing and deleting subscriptions. */
class SubscriptionChangesIT {
  private static final String CATALOG =
      """
      plans:
        - externalId: pro
          name: Pro
          basePrices: {monthly: 49, quarterly: 140, annually: 490, oneTime: 99}
        - {externalId: trial, name: Trial, trialDays: 14, basePrices: {monthly: 49}}
      """;

  private static TestApp app;

  private Merchant merchant;
  private String customer;

  @BeforeAll
  static void start() {
    app = TestApp.start();
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  /** In Paris the clock stands at noon of January 31. */
  @BeforeEach
  void merchantWithACustomer() {
    merchant = app.merchant("test", "Europe/Paris", CATALOG).at("2040-01-31T11:00:00Z");
    customer = merchant.customerId("acme");
  }

  private String subscribe(Object... fields) {
    Map<String, Object> body = new HashMap<>();
    body.put("customerId", customer);
    body.put("planId", merchant.planId(CATALOG, "pro"));
    for (int i = 0; i < fields.length; i += 2) {
      body.put((String) fields[i], fields[i + 1]);
    }
    return (String) merchant.subscribe(body).get("id");
  }

  private Answer change(String id, String how) {
    return merchant.post(
        "/external/subscriptions/" + id + "/" + how, Map.of("externalCustomerId", "acme"));
  }

  private Map<String, Object> read(String id) {
    return merchant.call("GET", "/external/subscriptions/" + id).send(200).object();
  }

  @ParameterizedTest
  @CsvSource({
    "monthly, 2040-01-31T11:00:00Z, 2040-02-29T11:00:00.000Z",
    "quarterly, 2040-01-31T11:00:00Z, 2040-04-30T10:00:00.000Z",
    "annually, 2040-01-31T11:00:00Z, 2041-01-31T11:00:00.000Z",
    "monthly, 2039-12-31T11:00:00Z, 2040-02-29T11:00:00.000Z",
    "monthly, 2039-10-15, 2040-02-14T23:00:00.000Z"
  })
  void anActiveOneEndsWithItsCurrentPeriodAndASecondCancelChangesNothing(
      String cadence, String start, String end) {
    String id = subscribe("billingCadence", cadence, "startDate", start);

    Answer first = change(id, "cancel");
    merchant.at("2040-01-31T11:00:01Z");
    Answer second = change(id, "cancel");

    assertThat(first.status()).isEqualTo(200);
    assertThat(first.object()).containsOnlyKeys("success", "subscription");
    assertThat(first.<Boolean>at("success")).isTrue();
    Map<String, Object> cancelled = first.at("subscription");
    assertThat(cancelled).containsEntry("status", "active").containsEntry("endDate", end);
    assertThat(second.status()).isEqualTo(200);
    assertThat(second.object()).isEqualTo(first.object());
    assertThat(read(id)).isEqualTo(cancelled);
  }

  @ParameterizedTest
  @CsvSource({
    "2040-02-15T00:00:00Z, 2040-02-15T00:00:00.000Z",
    "2040-02-29T11:00:00Z, 2040-02-29T11:00:00.000Z",
    "2040-03-15T00:00:00Z, 2040-02-29T11:00:00.000Z"
  })
  void theEarlierOfItsOwnEndAndThePeriodsEndHolds(String own, String end) {
    String id = subscribe("endDate", own);

    assertThat(change(id, "cancel").<String>at("subscription.endDate")).isEqualTo(end);
    assertThat(read(id)).containsEntry("endDate", end);
  }

  @Test
  void aTrialEndsWithItsDays() {
    merchant.applyCatalog(CATALOG + "defaultPlan: trial\n");
    Map<String, Object> created = merchant.createCustomer("triallist");
    String id = Answer.at(created, "subscriptions.0.id");

    Answer cancelled =
        merchant.post(
            "/external/subscriptions/" + id + "/cancel", Map.of("externalCustomerId", "triallist"));

    assertThat(cancelled.<String>at("subscription.endDate")).isEqualTo("2040-02-14T11:00:00.000Z");
  }

  @Test
  void anUpcomingOneIsDeletedAndCannotBeCancelledAgainNorRenewed() {
    String id = subscribe("startDate", "2040-03-01");

    Answer cancelled = change(id, "cancel");

    assertThat(cancelled.status()).isEqualTo(200);
    assertThat(cancelled.<Boolean>at("success")).isTrue();
    assertThat(cancelled.<String>at("subscription.status")).isEqualTo("deleted");
    assertThat(merchant.get("/external/subscriptions").<Integer>at("count")).isZero();
    assertThat(merchant.get("/external/subscriptions?status=deleted").<String>at("results.0.id"))
        .isEqualTo(id);
    assertThat(read(id)).isEqualTo(cancelled.at("subscription"));
    assertThat(change(id, "cancel").problem()).isEqualTo("409 subscription_deleted []");
    assertThat(change(id, "renew").problem()).isEqualTo("409 subscription_deleted []");
  }

  @Test
  void renewingTakesTheEndDateAwayAndCancellingSetsItAgain() {
    String id = subscribe();
    change(id, "cancel");
    merchant.at("2040-02-29T10:59:59.999Z");

    Answer renewed = change(id, "renew");

    assertThat(renewed.status()).isEqualTo(200);
    assertThat(renewed.object())
        .containsEntry("id", id)
        .containsEntry("status", "active")
        .containsEntry("endDate", null)
        .containsEntry("updatedAt", "2040-02-29T10:59:59.999Z")
        .doesNotContainKey("plan");
    assertThat(read(id)).isEqualTo(renewed.object());
    assertThat(change(id, "cancel").<String>at("subscription.endDate"))
        .isEqualTo("2040-02-29T11:00:00.000Z");
  }

  @Test
  void renewingOneWithoutEndDateIsNoChange() {
    String id = subscribe();
    Map<String, Object> before = read(id);
    merchant.at("2040-02-01T00:00:00Z");

    Answer renewed = change(id, "renew");

    assertThat(renewed.status()).isEqualTo(200);
    assertThat(renewed.object()).isEqualTo(before).isEqualTo(read(id));
  }

  @Test
  void onceItHasEndedItIsTooLate() {
    String id = subscribe();
    change(id, "cancel");
    merchant.at("2040-02-29T11:00:00Z");

    assertThat(change(id, "renew").problem()).isEqualTo("409 subscription_ended []");
    assertThat(change(id, "cancel").problem()).isEqualTo("409 subscription_ended []");
    assertThat(read(id)).containsEntry("endDate", "2040-02-29T11:00:00.000Z");
  }

  @Test
  void aOneTimeSubscriptionEndsWhenItIsCancelled() {
    String id = subscribe("billingCadence", "oneTime", "startDate", "2040-01-01");

    Answer cancelled = change(id, "cancel");

    assertThat(cancelled.status()).isEqualTo(200);
    assertThat(cancelled.<String>at("subscription.endDate")).isEqualTo("2040-01-31T11:00:00.000Z");
  }

  @Test
  void aOneTimeSubscriptionCancelledAsItBeginsStillHasALength() {
    String id = subscribe("billingCadence", "oneTime");

    assertThat(change(id, "cancel").<String>at("subscription.endDate"))
        .isEqualTo("2040-01-31T11:00:00.001Z");
  }

  @ParameterizedTest
  @ValueSource(strings = {"cancel", "renew"})
  void onlyItsOwnCustomerMayChangeIt(String how) {
    merchant.createCustomer("other");
    String id = subscribe();
    Map<String, Object> before = read(id);
    String path = "/external/subscriptions/" + id + "/" + how;

    for (String wrong : List.of("other", "nobody", "ACME", customer)) {
      assertThat(merchant.post(path, Map.of("externalCustomerId", wrong)).problem())
          .isEqualTo("422 customer_mismatch [/externalCustomerId customer_mismatch]");
    }
    assertThat(read(id)).isEqualTo(before);
  }

  @ParameterizedTest
  @ValueSource(strings = {"cancel", "renew"})
  void theBodyHoldsTheExternalCustomerIdAndNothingElse(String how) {
    String path = "/external/subscriptions/" + subscribe() + "/" + how;

    assertThat(merchant.post(path, Map.of()).problem())
        .isEqualTo("400 validation_failed [/externalCustomerId required]");
    assertThat(merchant.post(path, Map.of("externalCustomerId", "")).problem())
        .isEqualTo("400 validation_failed [/externalCustomerId min_length]");
    assertThat(merchant.post(path, Map.of("externalCustomerId", "acme", "at", "now")).problem())
        .isEqualTo("400 validation_failed [/at unknown_property]");
    assertThat(merchant.post(path, List.of()).problem()).isEqualTo("400 validation_failed [ type]");
    assertThat(merchant.call("POST", path).send().status()).isIn(400, 415);
  }

  @ParameterizedTest
  @ValueSource(strings = {"cancel", "renew"})
  void oneOfNobodyOrOfAnotherMerchantIsNotFoundAlike(String how) {
    String id = subscribe();
    Merchant other = app.merchant("test", CATALOG);
    other.createCustomer("acme");

    for (String each : List.of(id, "sub_00000000000000000000000000", "x")) {
      String path = "/external/subscriptions/" + each + "/" + how;
      assertThat(other.post(path, Map.of("externalCustomerId", "acme")).problem())
          .isEqualTo("404 subscription_not_found []");
    }
    assertThat(read(id)).containsEntry("endDate", null);
  }

  @Test
  void anActiveOneCannotBeDeletedNotEvenCancelled() {
    String id = subscribe();
    String path = "/external/subscriptions/" + id;

    assertThat(merchant.call("DELETE", path).send().problem())
        .isEqualTo("409 subscription_active []");
    change(id, "cancel");
    assertThat(merchant.call("DELETE", path).send().problem())
        .isEqualTo("409 subscription_active []");
    assertThat(read(id)).containsEntry("status", "active");
  }

  @Test
  void anUpcomingOneIsDeletedAndDeletingItAgainIsNoFault() {
    String id = subscribe("startDate", "2040-03-01");
    String path = "/external/subscriptions/" + id;

    Answer deleted = merchant.call("DELETE", path).send(204);

    assertThat(deleted.text()).isEmpty();
    assertThat(read(id)).containsEntry("status", "deleted");
    assertThat(merchant.get("/external/subscriptions").<Integer>at("count")).isZero();
    merchant.call("DELETE", path).send(204);
    assertThat(app.merchant("live", null).call("DELETE", path).send().problem())
        .isEqualTo("404 subscription_not_found []");
  }
}
