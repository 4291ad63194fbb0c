package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.steelyard.db.Endpoint;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Customers that are created while others are being created share a transaction, and no more. */
class CustomerGroupsIT {
  private static final String PATH = "/external/customers";

  private static TestApp start(Map<String, String> settings) {
    return start(PostgresSupport.migratedDatabase(), settings);
  }

  private static TestApp start(Endpoint database, Map<String, String> settings) {
    Map<String, String> all =
        new HashMap<>(
            Map.of(
                "verticles.customer.instances", "1",
                "timeouts.requestMs", "30000",
                "database.lockTimeoutMs", "25000",
                "database.statementTimeoutMs", "25000",
                "database.idleInTransactionTimeoutMs", "25000"));
    all.putAll(settings);
    return TestApp.start(database, all);
  }

  private static List<Answer> behindTwo(
      TestApp app, Merchant merchant, List<Map<String, String>> bodies) throws Exception {
    return askedBehindTwo(
        app,
        merchant,
        bodies.stream().<Callable<Answer>>map(body -> () -> merchant.post(PATH, body)).toList());
  }

  /** Asks while the transactions of two customers wait for their invoice numbers. */
  private static List<Answer> askedBehindTwo(
      TestApp app, Merchant merchant, List<Callable<Answer>> requests) throws Exception {
    try (Connection connection = Tables.connect(app.database());
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      lockNumbers(connection);
      List<Future<Answer>> two = begin(app, merchant, threads);
      List<Future<Answer>> others = requests.stream().map(threads::submit).toList();
      Predicate<Double> allAreThere = active -> active > requests.size() + 1;
      assertThat(Merchant.eventually(() -> activeRequests(app), allAreThere)).matches(allAreThere);
      connection.rollback();

      for (Future<Answer> each : two) {
        assertThat(each.get().status()).isEqualTo(201);
      }
      List<Answer> answers = new ArrayList<>();
      for (Future<Answer> other : others) {
        answers.add(other.get());
      }
      return answers;
    }
  }

  /** As many as are under way at once. */
  private static List<Future<Answer>> begin(TestApp app, Merchant merchant, ExecutorService threads)
      throws Exception {
    List<Future<Answer>> two =
        Stream.of("first", "second")
            .map(id -> threads.submit(() -> merchant.post(PATH, Map.of("externalId", id))))
            .toList();
    assertThat(Merchant.eventually(() -> waitingForLocks(app), waiting -> waiting == 2))
        .isEqualTo(2);
    return two;
  }

  private static void lockNumbers(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    connection.createStatement().execute("SELECT FROM invoice_number FOR UPDATE");
  }

  private static long waitingForLocks(TestApp app) {
    String sql =
        "SELECT count(*) FROM pg_stat_activity"
            + " WHERE datname = current_database() AND wait_event_type = 'Lock'";
    return Long.parseLong(Tables.query(app.database(), sql).getFirst());
  }

  private static double activeRequests(TestApp app) {
    return app.service().metrics().find("steelyard.bus.in.flight").gauges().stream()
        .mapToDouble(Gauge::value)
        .sum();
  }

  private static DistributionSummary groups(TestApp app) {
    return app.service().metrics().find("steelyard.customer.group").summary();
  }

  private static double split(TestApp app) {
    return app.service().metrics().find("steelyard.customer.groups.split").counter().count();
  }

  private static List<Map<String, String>> named(String... externalIds) {
    return List.of(externalIds).stream().map(each -> Map.of("externalId", each)).toList();
  }

  private static List<Integer> statuses(List<Answer> answers) {
    return answers.stream().map(Answer::status).toList();
  }

  private static void assertWhole(Merchant merchant, int customers) {
    assertThat(merchant.get(PATH).<Integer>at("count")).isEqualTo(customers);
    assertThat(merchant.get("/external/subscriptions").<Integer>at("count")).isEqualTo(customers);
    assertThat(merchant.invoices())
        .extracting("vanityId")
        .containsExactlyElementsOf(IntStream.rangeClosed(1, customers).boxed().toList());
  }

  @Test
  void eachOfAGroupHasItsOwnAnswer() throws Exception {
    try (TestApp app = start(Map.of())) {
      Merchant merchant = app.merchant("live", Merchant.CATALOG);
      String[] ids = IntStream.range(0, 20).mapToObj(i -> "acme-" + i).toArray(String[]::new);

      List<Answer> answers = behindTwo(app, merchant, named(ids));

      assertThat(statuses(answers)).containsOnly(201);
      assertThat(groups(app).max()).isGreaterThan(1);
      assertThat(groups(app).totalAmount()).isEqualTo(22);
      for (int i = 0; i < ids.length; i++) {
        Map<String, Object> created = answers.get(i).object();
        assertThat(created).containsEntry("externalId", ids[i]);
        assertThat(Answer.<Object>at(created, "activeSubscriptions.0.customerId"))
            .isEqualTo(created.get("id"));
        assertThat(Answer.<List<Map<String, Object>>>at(created, "conditionalBillableAccess"))
            .hasSize(2)
            .extracting("customerId")
            .containsOnly(created.get("id"));
        assertThat(Answer.<Object>at(created, "customPricingUnits.0.balance")).isEqualTo(1000);
      }
      assertThat(Tables.counts(app.database())).containsEntry("allocation_block", 22L);
      assertWhole(merchant, 22);
    }
  }

  @Test
  void anExternalIdThatIsTakenCostsTheOthersNothing() throws Exception {
    try (TestApp app = start(Map.of())) {
      Merchant merchant = app.merchant("live", Merchant.CATALOG);
      merchant.createCustomer("old");

      List<Answer> answers =
          behindTwo(app, merchant, named("new", "old", "twice", "twice", "twice", "other"));

      assertThat(statuses(answers).get(0)).isEqualTo(201);
      assertThat(answers.get(1).problem()).isEqualTo("409 external_id_taken []");
      assertThat(statuses(answers.subList(2, 5))).containsExactlyInAnyOrder(201, 409, 409);
      assertThat(statuses(answers).get(5)).isEqualTo(201);
      assertThat(groups(app).max()).isGreaterThan(1);
      assertThat(split(app)).isZero();
      assertWhole(merchant, 6);
    }
  }

  private static Callable<Answer> keyed(Merchant merchant, String key, String externalId) {
    return () ->
        merchant
            .call("POST", PATH)
            .header("idempotency-key", key)
            .json(Map.of("externalId", externalId))
            .send();
  }

  @Test
  void oneThatIsAnsweredFromBeforeOrRefusedForItsKeyCostsTheOthersNothing() throws Exception {
    try (TestApp app = start(Map.of())) {
      Merchant merchant = app.merchant("live", Merchant.CATALOG);
      Answer known = keyed(merchant, "known", "known").call();

      List<Answer> answers =
          askedBehindTwo(
              app,
              merchant,
              List.of(
                  keyed(merchant, "known", "known"),
                  keyed(merchant, "known", "other"),
                  keyed(merchant, "new", "new"),
                  keyed(merchant, "taken", "known"),
                  () -> merchant.post(PATH, Map.of("externalId", "keyless")),
                  keyed(merchant, "twice", "twice"),
                  keyed(merchant, "twice", "twice")));

      assertThat(statuses(answers.subList(0, 5))).containsExactly(201, 422, 201, 409, 201);
      assertThat(answers.get(0).text()).isEqualTo(known.text());
      assertThat(answers.get(0).header("idempotent-replayed")).isEqualTo("true");
      assertThat(answers.get(1).problem()).isEqualTo("422 idempotency_key_reused []");
      assertThat(answers.get(3).problem()).isEqualTo("409 external_id_taken []");
      // in one group the second is refused, behind it it is answered as the first
      assertThat(statuses(answers.subList(5, 7))).contains(201).isSubsetOf(201, 409);
      assertThat(groups(app).max()).isGreaterThan(1);
      assertThat(split(app)).isZero();
      assertWhole(merchant, 6);
      assertThat(keyed(merchant, "taken", "free").call().status()).isEqualTo(201);
      assertThat(keyed(merchant, "new", "new").call().text()).isEqualTo(answers.get(2).text());
      assertWhole(merchant, 7);
    }
  }

  /** One fails: all are made again, one by one, and their keys are as they would be otherwise. */
  @Test
  void keysOutliveAGroupThatIsMadeOneByOne() throws Exception {
    try (TestApp app = start(Map.of())) {
      Merchant merchant = app.merchant("live", Merchant.CATALOG);
      PostgresSupport.execute(
          app.database(),
          "ALTER TABLE customer ADD CONSTRAINT broken CHECK (external_id <> 'broken')");

      List<Answer> answers =
          askedBehindTwo(
              app,
              merchant,
              List.of(
                  keyed(merchant, "a", "a"),
                  keyed(merchant, "broken", "broken"),
                  keyed(merchant, "c", "c")));

      assertThat(statuses(answers)).containsExactly(201, 500, 201);
      assertThat(split(app)).isEqualTo(1);
      assertThat(keyed(merchant, "a", "a").call().text()).isEqualTo(answers.get(0).text());
      assertThat(keyed(merchant, "broken", "mended").call().status()).isEqualTo(201);
      assertWhole(merchant, 5);
    }
  }

  @Test
  void anotherProcessIsToldAtOnceThatTheFirstIsUnderWay() throws Exception {
    try (TestApp app = start(Map.of());
        TestApp other = TestApp.start(app.database(), Map.of())) {
      Merchant merchant = app.merchant("live", Merchant.CATALOG);
      Merchant there = new Merchant(other, merchant.id(), merchant.key());
      try (Connection connection = Tables.connect(app.database());
          ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        lockNumbers(connection);
        Future<Answer> first = threads.submit(keyed(merchant, "k", "acme"));
        assertThat(Merchant.eventually(() -> waitingForLocks(app), waiting -> waiting == 1))
            .isEqualTo(1);

        Answer second = keyed(there, "k", "acme").call();

        assertThat(second.problem()).isEqualTo("409 idempotency_key_in_use []");
        connection.rollback();
        assertThat(first.get().status()).isEqualTo(201);
        assertThat(keyed(there, "k", "acme").call().text()).isEqualTo(first.get().text());
      }
      assertWhole(merchant, 1);
    }
  }

  @Test
  void oneThatFailsDoesNotFailItsNeighbours() throws Exception {
    try (TestApp app = start(Map.of())) {
      Merchant merchant = app.merchant("live", Merchant.CATALOG);
      PostgresSupport.execute(
          app.database(), "ALTER TABLE customer ADD CONSTRAINT broken CHECK (name <> 'broken')");
      List<Map<String, String>> bodies = new ArrayList<>(named("a", "b", "c", "d"));
      bodies.set(1, Map.of("externalId", "b", "name", "broken"));

      List<Answer> answers = behindTwo(app, merchant, bodies);

      assertThat(statuses(answers)).containsExactly(201, 500, 201, 201);
      assertThat(answers.get(1).problem()).isEqualTo("500 internal []");
      assertThat(split(app)).isEqualTo(1);
      assertWhole(merchant, 5);
      merchant.createCustomer("b");
      assertWhole(merchant, 6);
    }
  }

  @Test
  void whoeverWaitedTooLongIsNotCreatedAfterwards() throws Exception {
    Endpoint database = PostgresSupport.migratedDatabase();
    Merchant made;
    try (TestApp patient = TestApp.start(database, Map.of())) {
      made = patient.merchant("live", Merchant.CATALOG);
    }
    try (TestApp app = start(database, Map.of("timeouts.requestMs", "1500"))) {
      Merchant merchant = new Merchant(app, made.id(), made.key());
      try (Connection connection = Tables.connect(app.database());
          ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        lockNumbers(connection);
        List<Future<Answer>> two = begin(app, merchant, threads);
        List<Integer> late =
            statuses(
                Merchant.atOnce(5, i -> merchant.post(PATH, Map.of("externalId", "late-" + i))));
        assertThat(late).containsOnly(504);
        for (Future<Answer> each : two) {
          assertThat(each.get().status()).isEqualTo(504);
        }
        connection.rollback();
      }

      Merchant.eventually(
          () -> merchant.post(PATH, Map.of("externalId", "last")).status(), s -> s == 201);

      // the transactions of the first two were under way already
      assertThat(merchant.get(PATH + "?order=asc").<List<Map<String, Object>>>at("results"))
          .extracting("externalId")
          .containsExactlyInAnyOrder("first", "second", "last");
      assertWhole(merchant, 3);
    }
  }

  @Test
  void manyInstancesAndMerchantsAtOnceNumberWithoutGaps() {
    try (TestApp app = start(Map.of("verticles.customer.instances", "3"))) {
      List<Merchant> merchants =
          List.of(app.merchant("live", Merchant.CATALOG), app.merchant("test", Merchant.CATALOG));

      // each name comes twice for each merchant
      List<Integer> statuses =
          statuses(
              Merchant.atOnce(
                  80,
                  i ->
                      merchants.get(i % 2).post(PATH, Map.of("externalId", "acme-" + i / 2 % 20))));

      assertThat(statuses).filteredOn(status -> status == 201).hasSize(40);
      assertThat(statuses).filteredOn(status -> status == 409).hasSize(40);
      merchants.forEach(merchant -> assertWhole(merchant, 20));
    }
  }

  @Test
  void aCatalogueThatWasAnsweredCountsForTheNextCustomer() {
    try (TestApp app = start(Map.of())) {
      Merchant merchant = app.merchant("live", Merchant.CATALOG);
      assertThat(plan(merchant.createCustomer("before"))).isEqualTo("pro");

      for (int price = 50; price < 56; price++) { // often enough for each instance
        merchant.applyCatalog(
            Merchant.CATALOG.replace("{monthly: 49,", "{monthly: " + price + ","));
        Map<String, Object> created = merchant.createCustomer("at-" + price);
        assertThat(plan(created)).isEqualTo("pro");
        assertThat(
                merchant
                    .invoiceOf(Answer.<Object>at(created, "subscriptions.0.id"))
                    .<Number>at("invoiceLineItems.0.amount")
                    .intValue())
            .isEqualTo(price);
      }

      merchant.applyCatalog(Merchant.CATALOG.replace("defaultPlan: pro", "defaultPlan: lite"));
      assertThat(plan(merchant.createCustomer("after"))).isEqualTo("lite");

      merchant.applyCatalog(Merchant.CATALOG.replace("defaultPlan: pro", ""));
      Map<String, Object> created = merchant.createCustomer("none");
      assertThat(created).containsEntry("subscriptions", List.of());
      assertThat(created).containsEntry("isEligibleForTrial", true);
    }
  }

  private static String plan(Map<String, Object> created) {
    return Answer.at(created, "subscriptions.0.plan.externalId");
  }
}
