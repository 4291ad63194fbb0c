package io.steelyard;

import static io.steelyard.support.Merchant.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.db.Endpoint;
import io.steelyard.support.LossyProxy;
import io.steelyard.support.LossyProxy.Loss;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The database has committed, but its answer never arrives. */
class LostReplyIT {
  private static final long ANSWERED_WITHIN_MS = 8_000;
  private static final int STATEMENT_MS = 1_000;

  /** A connection on which nothing is heard for so long is closed. */
  private static final int SILENCE_MS = STATEMENT_MS + 2_000;

  private static final int ATTEMPTS = 20;

  private static Endpoint database;
  private static LossyProxy proxy;
  private static TestApp app;
  private static Merchant merchant;
  private static String customer;
  private static final ExecutorService sending = Executors.newVirtualThreadPerTaskExecutor();

  @BeforeAll
  static void start() throws IOException {
    database = PostgresSupport.migratedDatabase();
    proxy = new LossyProxy(database.port());
    Endpoint through =
        new Endpoint(
            database.host(),
            proxy.port(),
            database.database(),
            database.user(),
            database.password());
    Merchant made;
    try (TestApp usual = TestApp.start(database, Map.of())) {
      made = usual.merchant("test", Merchant.CATALOG);
      customer = made.customerId("first");
    }
    app =
        TestApp.start(
            through,
            Map.of(
                "database.statementTimeoutMs", "" + STATEMENT_MS,
                "timeouts.requestMs", "6000",
                // whose own commits would be lost in the place of a request's
                "verticles.aggregation.instances", "0",
                "verticles.billing.instances", "0",
                "verticles.delivery.instances", "0"));
    merchant = new Merchant(app, made.id(), made.key());
  }

  @AfterAll
  static void stop() {
    app.close();
    proxy.close();
    sending.close();
  }

  private static Answer post(String name, String key) {
    return merchant.post("/external/event", merchant.event(customer, name, 1, key));
  }

  private static Answer create(String externalId) {
    return merchant.post("/external/customers", Map.of("externalId", externalId));
  }

  private static boolean refused(Answer answer) {
    return answer.status() == 503 || answer.status() == 504;
  }

  /**
   * The answer to the one whose reply was lost. Those before it were refused for a statement that
   * took too long, or got a connection which was just being given up.
   */
  private static Answer untilLost(Supplier<Answer> send) {
    Answer answer = inTime(send);
    for (int i = 1; i < ATTEMPTS && refused(answer) && !proxy.hasLost(); i++) {
      answer = inTime(send);
    }
    return answer;
  }

  private static Answer inTime(Supplier<Answer> send) {
    long startedAt = System.nanoTime();
    Answer answer = send.get();
    assertThat((System.nanoTime() - startedAt) / 1_000_000).isLessThan(ANSWERED_WITHIN_MS);
    return answer;
  }

  private static void refusedInTime(Supplier<Answer> send) {
    Answer answer = untilLost(send);
    assertThat(answer).as(answer.text()).matches(LostReplyIT::refused);
    assertThat(proxy.hasLost()).isTrue();
  }

  private static String count(String sql) {
    return PostgresSupport.column(database, "SELECT count(*) FROM " + sql).get(0);
  }

  @ParameterizedTest
  @EnumSource
  void anEventIsNotAcknowledgedAndItsRepetitionIsADuplicate(Loss loss) throws Exception {
    String name = "lost.in." + loss;
    proxy.loseAnswerTo(name, loss);

    refusedInTime(() -> post(name, "key-" + loss));

    assertThat(count("event WHERE name = '" + name + "'")).isEqualTo("1");
    Answer repeated = eventually(() -> post(name, "key-" + loss), it -> !refused(it));
    assertThat(repeated.status()).isEqualTo(202);
    assertThat(repeated.object()).isEqualTo(Map.of("accepted", 0, "duplicates", 1));
    assertThat(count("event WHERE name = '" + name + "'")).isEqualTo("1");
  }

  @ParameterizedTest
  @EnumSource
  void aCustomerIsThereOnceAndItsRepetitionIsAConflict(Loss loss) throws Exception {
    proxy.loseAnswerTo("COMMIT", loss);

    refusedInTime(() -> create("lost-in-" + loss));

    Answer repeated = eventually(() -> create("lost-in-" + loss), it -> !refused(it));
    assertThat(repeated.<String>at("code")).isEqualTo("external_id_taken");
    String same = "customer c JOIN invoice i ON i.customer_id = c.id WHERE c.external_id = ";
    assertThat(count(same + "'lost-in-" + loss + "'")).isEqualTo("1");
  }

  private static Answer create(String externalId, String key) {
    return merchant
        .call("POST", "/external/customers")
        .header("idempotency-key", key)
        .json(Map.of("externalId", externalId))
        .send();
  }

  @ParameterizedTest
  @EnumSource
  void aCustomerWithAKeyIsAnsweredAsItWouldHaveBeen(Loss loss) throws Exception {
    String name = "keyed-lost-in-" + loss;
    proxy.loseAnswerTo("COMMIT", loss);

    refusedInTime(() -> create(name, "commit-" + loss));

    Answer again = eventually(() -> create(name, "commit-" + loss), it -> it.status() == 201);
    assertThat(again.status()).as(again.text()).isEqualTo(201);
    assertThat(again.header("idempotent-replayed")).isEqualTo("true");
    assertThat(again.<String>at("externalId")).isEqualTo(name);
    String same = "customer c JOIN invoice i ON i.customer_id = c.id WHERE c.external_id = ";
    assertThat(count(same + "'" + name + "'")).isEqualTo("1");
  }

  /** The connection ends in the middle of the transaction: nothing of it is there. */
  @ParameterizedTest
  @EnumSource
  void aCustomerThatWasNotCommittedIsCreatedByTheRepetition(Loss loss) throws Exception {
    String name = "keyed-undone-in-" + loss;
    proxy.loseAnswerTo(name, loss);

    refusedInTime(() -> create(name, "undone-" + loss));

    Answer again = eventually(() -> create(name, "undone-" + loss), it -> it.status() == 201);
    assertThat(again.status()).as(again.text()).isEqualTo(201);
    assertThat(again.header("idempotent-replayed")).isNull();
    assertThat(count("customer WHERE external_id = '" + name + "'")).isEqualTo("1");
  }

  private static boolean accepted(Answer answer) {
    return answer.status() == 202 && !answer.<Object>at("accepted").equals(0);
  }

  /** More than flushes may be under way and connections may be open. */
  @Test
  void connectionsThatFellSilentDoNotHoldUpTheServiceForEver() throws Exception {
    List<CompletableFuture<Answer>> lost = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      String name = "silent-" + i + ".";
      proxy.loseAnswerTo(name, Loss.SILENCE);
      lost.add(
          CompletableFuture.supplyAsync(() -> untilLost(() -> post(name, name + "key")), sending));
      assertThat(eventually(proxy::hasLost, is -> is)).as(name).isTrue();
    }

    Answer answer = eventually(() -> post("heard", "heard-key"), is -> is.status() == 202);

    assertThat(answer.status()).isEqualTo(202);
    assertThat(lost).extracting(CompletableFuture::join).noneMatch(LostReplyIT::accepted);
    assertThat(count("event WHERE name LIKE 'silent-%'")).isEqualTo("6");
  }

  /** Their connections are closed meanwhile, since nothing was heard on them. */
  @Test
  void aServiceThatHadNothingToDoAnswersAsEver() throws Exception {
    Thread.sleep(SILENCE_MS + 500);

    assertThat(merchant.get("/external/customers").status()).isEqualTo(200);
    assertThat(post("after-a-rest", "after-a-rest").status()).isEqualTo(202);
  }
}
