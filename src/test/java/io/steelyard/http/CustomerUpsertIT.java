package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Creating and updating customers in bulk by their externalId. */
class CustomerUpsertIT {
  private static final String PATH = "/external/customers/upsert/bulk";
  private static final int BULK_MAX = 40;

  private static TestApp app;

  @BeforeAll
  static void start() {
    app = TestApp.start(Map.of("limits.customersPerBulk", Integer.toString(BULK_MAX)));
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static Map<String, Object> customer(String externalId, Object... fields) {
    Map<String, Object> customer = new HashMap<>(Map.of("externalId", externalId));
    for (int i = 0; i < fields.length; i += 2) {
      customer.put((String) fields[i], fields[i + 1]);
    }
    return customer;
  }

  private static List<Map<String, Object>> upsert(Merchant merchant, Map<?, ?>... customers) {
    Answer answer = merchant.call("POST", PATH).json(Arrays.asList(customers)).send(200);
    return Answer.at(Map.of("all", answer.tree()), "all");
  }

  private static int count(Merchant merchant, String what) {
    return merchant.call("GET", "/external/" + what).send(200).at("count");
  }

  @Test
  void newAndKnownOnesAreAnsweredInTheOrderOfTheBodyWithoutLedgerBId() {
    Merchant merchant = app.merchant("test", null).at("2040-01-01T00:00:00Z");
    Map<String, Object> known = upsert(merchant, customer("m", "name", "Old")).getFirst();
    merchant.at("2040-01-02T00:00:00Z");

    List<Map<String, Object>> answer =
        upsert(
            merchant,
            customer("z", "ledgerBId", "B"),
            customer("m", "name", "New", "billingZipCode", "12345-6789"),
            customer("a"));

    assertThat(answer).extracting("externalId").containsExactly("z", "m", "a");
    assertThat(answer)
        .allSatisfy(
            each ->
                assertThat(each)
                    .doesNotContainKey("ledgerBId")
                    .containsEntry("merchantId", merchant.id())
                    .containsEntry("updatedAt", "2040-01-02T00:00:00.000Z"));
    assertThat(answer.get(1))
        .containsEntry("id", known.get("id"))
        .containsEntry("name", "New")
        .containsEntry("billingZipCode", "12345-6789")
        .containsEntry("createdAt", "2040-01-01T00:00:00.000Z");
    for (Map<String, Object> each : answer) {
      assertThat(merchant.get("/external/customers/" + each.get("id")).object()).isEqualTo(each);
    }
  }

  @Test
  void nullClearsAFieldAndOneLeftOutStaysAsItWas() {
    Merchant merchant = app.merchant("live", null);
    Map<String, Object> full = customer("acme");
    for (String field :
        List.of("name", "billingCity", "shippingState", "ledgerAId", "cardGatewayId")) {
      full.put(field, field + " 1");
    }
    full.put("email", "ada@acme.example");
    full.put("billingZipCode", "12345");
    upsert(merchant, full);

    Map<String, Object> changed =
        upsert(
                merchant,
                customer("acme", "name", null, "email", null, "billingZipCode", null),
                customer("new", "email", null))
            .getFirst();

    assertThat(changed)
        .containsEntry("name", null)
        .containsEntry("email", null)
        .containsEntry("billingZipCode", null)
        .containsEntry("billingCity", "billingCity 1")
        .containsEntry("shippingState", "shippingState 1")
        .containsEntry("ledgerAId", "ledgerAId 1")
        .containsEntry("cardGatewayId", "cardGatewayId 1");
    assertThat(upsert(merchant, customer("acme", "name", "Again")).getFirst())
        .containsEntry("name", "Again")
        .containsEntry("email", null)
        .containsEntry("billingCity", "billingCity 1");
  }

  @Test
  void repeatingABodyChangesNothingButUpdatedAt() {
    Merchant merchant = app.merchant("live", null);
    Map<?, ?>[] body = {customer("a", "name", "A"), customer("b", "name", null)};

    List<Map<String, Object>> first = upsert(merchant, body);
    List<Map<String, Object>> second = upsert(merchant, body);

    first.forEach(each -> each.remove("updatedAt"));
    second.forEach(each -> each.remove("updatedAt"));
    assertThat(second).isEqualTo(first);
    assertThat(count(merchant, "customers")).isEqualTo(2);
  }

  @Test
  void theSameExternalIdTwiceIsRefusedAtEachRepetition() {
    Merchant merchant = app.merchant("live", null);

    Answer answer =
        merchant.post(
            PATH,
            List.of(
                customer("a"),
                customer("b"),
                customer("a"),
                customer("A"),
                customer("b"),
                customer("a")));

    assertThat(answer.problem())
        .isEqualTo(
            "400 validation_failed [/2/externalId duplicate, /4/externalId duplicate,"
                + " /5/externalId duplicate]");
    assertThat(count(merchant, "customers")).isZero();
  }

  @Test
  void aBodyWithOneBadElementStoresNoneAndNamesEveryFault() {
    Merchant merchant = app.merchant("live", null);
    upsert(merchant, customer("known", "name", "Old"));

    Answer answer =
        merchant.post(
            PATH,
            List.of(
                customer("known", "name", "New"),
                customer("fresh"),
                customer("x", "email", "no address", "phone", "1"),
                Map.of("name", "nobody")));

    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.faults())
        .containsExactlyInAnyOrder(
            "/2/email pattern", "/2/phone unknown_property", "/3/externalId required");
    assertThat(count(merchant, "customers")).isEqualTo(1);
    assertThat(merchant.get("/external/customers").<String>at("results.0.name")).isEqualTo("Old");
  }

  @Test
  void aBodyHoldsOneElementToTheLimit() {
    Merchant merchant = app.merchant("live", null);
    List<Map<String, Object>> most =
        IntStream.range(0, BULK_MAX).mapToObj(i -> customer("c" + i)).toList();
    List<Map<String, Object>> tooMany = new ArrayList<>(most);
    tooMany.add(customer("one more"));

    assertThat(merchant.post(PATH, List.of()).problem())
        .isEqualTo("400 validation_failed [ min_items]");
    assertThat(merchant.post(PATH, customer("a")).problem())
        .isEqualTo("400 validation_failed [ type]");
    assertThat(merchant.post(PATH, tooMany).problem())
        .isEqualTo("400 validation_failed [ max_items]");
    assertThat(count(merchant, "customers")).isZero();
    assertThat(merchant.post(PATH, most).list()).hasSize(BULK_MAX);
    assertThat(count(merchant, "customers")).isEqualTo(BULK_MAX);
  }

  @Test
  void nobodyIsSubscribedAndExistingSubscriptionsStay() {
    Merchant merchant = app.merchant("live", Merchant.CATALOG);
    merchant.createCustomer("subscribed");

    upsert(merchant, customer("fresh"), customer("subscribed", "name", "New"));

    assertThat(count(merchant, "customers")).isEqualTo(2);
    assertThat(count(merchant, "subscriptions")).isEqualTo(1);
    assertThat(merchant.invoices()).hasSize(1);
    assertThat(count(merchant, "customers/external-id/fresh/transactions")).isZero();
  }

  @Test
  void anotherMerchantsCustomerOfTheSameExternalIdStaysUntouched() {
    Merchant merchant = app.merchant("live", null);
    Merchant other = app.merchant("live", null);
    Map<String, Object> theirs = upsert(other, customer("acme", "name", "Theirs")).getFirst();

    Map<String, Object> ours = upsert(merchant, customer("acme", "name", "Ours")).getFirst();

    assertThat(ours.get("id")).isNotEqualTo(theirs.get("id"));
    assertThat(other.get("/external/customers/" + theirs.get("id")).object()).isEqualTo(theirs);
  }

  /** Some ids are new to all, some are known: the order of locks must be one for both. */
  @Test
  void concurrentBodiesOfTheSameIdsInDifferentOrdersAllSucceed() {
    Merchant merchant = app.merchant("live", null);
    for (int round = 0; round < 8; round++) {
      int offset = round * BULK_MAX / 2;
      List<Answer> answers = Merchant.atOnce(12, i -> shuffled(merchant, offset, i));

      assertThat(answers).extracting(Answer::status).containsOnly(200);
    }
    assertThat(count(merchant, "customers")).isEqualTo(BULK_MAX / 2 * 9);
  }

  private static Answer shuffled(Merchant merchant, int offset, int seed) {
    List<Map<String, Object>> body = new ArrayList<>();
    for (int i = 0; i < BULK_MAX; i++) {
      body.add(customer("c" + (offset + i), "name", "by " + seed));
    }
    Collections.shuffle(body, new Random(seed));
    List<Map<String, Object>> part = body.subList(0, seed % 2 == 0 ? BULK_MAX : BULK_MAX * 3 / 4);
    return merchant.post(PATH, part);
  }
}
