package io.steelyard.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Merchants, keys and payments of an operator who repeats his requests. */
class RepeatedCreationIT {
  private static final String KEY = Base64.getEncoder().encodeToString(new byte[32]);
  private static final Map<String, String> BODY = Map.of("name", "Acme", "environment", "live");

  private static TestApp app;

  @BeforeAll
  static void start() {
    app = TestApp.start(Map.of("security.encryptionKey", KEY));
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static Answer post(TestApp app, String path, String key, Object body) {
    return app.operator("POST", "/operator/merchants" + path)
        .header("idempotency-key", key)
        .json(body)
        .send();
  }

  private static void isReplayOf(Answer first, Answer again) {
    assertThat(again.status()).isEqualTo(first.status());
    assertThat(again.text()).isEqualTo(first.text());
    assertThat(first.header("idempotent-replayed")).isNull();
    assertThat(again.header("idempotent-replayed")).isEqualTo("true");
  }

  private static String count(TestApp app, String table) {
    return Tables.query(app.database(), "SELECT count(*) FROM " + table).getFirst();
  }

  @Test
  void aMerchantIsMadeOnceAndItsKeyIsNowhereReadable() {
    Answer first = post(app, "", "merchant", BODY);
    String merchants = count(app, "merchant");

    Answer again = post(app, "", "merchant", BODY);

    assertThat(first.status()).as(first.text()).isEqualTo(201);
    isReplayOf(first, again);
    assertThat(count(app, "merchant")).isEqualTo(merchants);
    String key = first.at("apiKey.key");
    assertThat(app.external("GET", "/external/customers").key(key).send().status()).isEqualTo(200);
    List<String> rows =
        Tables.query(
            app.database(),
            "SELECT merchant_id || ' ' || encode(answer, 'escape') FROM idempotency_key"
                + " WHERE merchant_id = '00000000-0000-0000-0000-000000000000'");
    assertThat(rows).isNotEmpty().noneMatch(row -> row.contains(key) || row.contains("Acme"));
    assertThat(post(app, "", "merchant", Map.of("name", "Other", "environment", "live")).problem())
        .isEqualTo("422 idempotency_key_reused []");
  }

  @Test
  void anApiKeyIsMadeOnce() {
    Merchant merchant = app.merchant("live", null);
    Merchant other = app.merchant("live", null);
    Map<String, String> body = Map.of("type", "secret", "name", "backend");

    Answer first = post(app, "/" + merchant.id() + "/api-keys", "key", body);

    assertThat(first.status()).as(first.text()).isEqualTo(201);
    isReplayOf(first, post(app, "/" + merchant.id() + "/api-keys", "key", body));
    Answer theirs = post(app, "/" + other.id() + "/api-keys", "key", body);
    assertThat(theirs.status()).isEqualTo(201);
    assertThat(theirs.header("idempotent-replayed")).isNull();
    assertThat(Tables.query(app.database(), "SELECT count(*) FROM api_key WHERE name = 'backend'"))
        .containsExactly("2");
  }

  @Test
  void aPaymentIsRecordedOnce() {
    Merchant merchant = app.merchant("live", Merchant.CATALOG);
    Map<String, Object> created = merchant.createCustomer("acme");
    Object invoice = invoice(merchant, created);
    String path = "/" + merchant.id() + "/invoices/" + invoice + "/pay";
    Map<String, String> body = Map.of("reference", "wire 4711");

    Answer first = post(app, path, "payment", body);

    assertThat(first.status()).as(first.text()).isEqualTo(200);
    isReplayOf(first, post(app, path, "payment", body));
    assertThat(post(app, path, "another", body).problem()).isEqualTo("409 illegal_transition []");
    assertThat(
            Tables.query(
                app.database(), "SELECT count(*) FROM transition WHERE reason LIKE '%wire 4711'"))
        .containsExactly("1");
  }

  private static Object invoice(Merchant merchant, Map<String, Object> created) {
    return merchant.invoiceOf(Answer.<Object>at(created, "subscriptions.0.id")).at("id");
  }

  /** Nothing was configured to seal with: better no repetition than a key that can be read. */
  @Test
  void withoutEncryptionKeyWhatShowsASecretTakesNoKey() {
    try (TestApp keyless = TestApp.start(PostgresSupport.migratedDatabase(), Map.of())) {
      Answer refused = post(keyless, "", "merchant", BODY);

      assertThat(refused.problem()).isEqualTo("422 encryption_key_missing []");
      assertThat(count(keyless, "merchant")).isEqualTo("0");
      assertThat(count(keyless, "idempotency_key")).isEqualTo("0");
      assertThat(keyless.merchant("live", null).id()).startsWith("mer_");
    }
  }

  @Test
  void whatWasSealedWithAnotherKeyIsNotDoneAgain() {
    Answer first = post(app, "", "rotated", BODY);
    String merchants = count(app, "merchant");
    String other =
        Base64.getEncoder().encodeToString("0123456789abcdef0123456789abcdef".getBytes());
    try (TestApp rotated = TestApp.start(app.database(), Map.of("security.encryptionKey", other))) {
      assertThat(post(rotated, "", "rotated", BODY).problem())
          .isEqualTo("409 stored_answer_unreadable []");
    }
    assertThat(count(app, "merchant")).isEqualTo(merchants);
    isReplayOf(first, post(app, "", "rotated", BODY));
  }
}
