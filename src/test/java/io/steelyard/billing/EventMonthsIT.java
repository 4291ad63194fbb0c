package io.steelyard.billing;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.db.Endpoint;
import io.steelyard.db.Migrations;
import io.steelyard.support.CitusSupport;
import io.steelyard.support.CustomerLock;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.sql.Connection;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Months of events that leave, and the books that stay. Each test has a service of its own. */
class EventMonthsIT {
  private static final String MONTHS = "/operator/events/months";
  private static final String FEBRUARY = MONTHS + "/2040-02";
  private static final String WAITING_FOR_LOCKS =
      """
      SELECT pid FROM %s
       WHERE datname = current_database() AND wait_event_type = 'Lock'
      """
          .formatted(CitusSupport.isWanted() ? "citus_stat_activity" : "pg_stat_activity");
  private static final Map<String, String> SETTINGS =
      Map.of("billing.pollMs", "3600000", "aggregation.pollMs", "20");

  private static final String ONE_TIME =
      Account.CATALOG.replace(
          "basePrices: {monthly: 49, annually: 490}", "basePrices: {oneTime: 49}");

  private TestApp app = TestApp.start(SETTINGS);

  @AfterEach
  void stop() {
    app.close();
  }

  private Answer months() {
    return app.operator("GET", MONTHS).send(200);
  }

  /** {@code 2040-02 [clock]}: each month with the reasons that hold it up. */
  private List<String> reasons() {
    return months().<List<Map<String, Object>>>at("results").stream()
        .map(
            month -> {
              List<Map<String, Object>> needs = Answer.at(month, "heldBy");
              assertThat(month).containsEntry("droppable", needs.isEmpty());
              assertThat(((Number) month.get("bytes")).longValue()).isPositive();
              return month.get("month")
                  + " "
                  + needs.stream().map(need -> need.get("reason")).distinct().toList();
            })
        .toList();
  }

  private Answer drop() {
    return app.operator("DELETE", FEBRUARY).send();
  }

  private String metrics() {
    return app.management("GET", "/metrics").undocumented().send().text();
  }

  private List<String> query(String sql) {
    return Tables.query(app.database(), sql);
  }

  private void counted() throws Exception {
    String waiting =
        """
        SELECT period_index FROM subscription_period WHERE ready_until < period_end
        UNION ALL SELECT events FROM event_batch
        """;
    assertThat(Merchant.eventually(() -> query(waiting), List::isEmpty)).isEmpty();
  }

  private static void isClean(Account account) {
    Answer report = account.merchant().operator("GET", "/integrity").send(200);
    assertThat(report.<List<?>>at("findings")).isEmpty();
    assertThat(report.<Boolean>at("clean")).isTrue();
  }

  private static Map<String, Object> call(Account account, long count, String key, String at) {
    return account.merchant().event(account.customer(), "call", count, key, Instant.parse(at));
  }

  private static Answer post(Account account, List<Map<String, Object>> events) {
    return account.merchant().call("POST", "/external/event").json(events).send();
  }

  /** The answer to the question for the events behind a line. */
  private static Answer events(Account account, int invoice, int line) {
    Object id = account.invoice(invoice).get("id");
    Answer lines = account.merchant().get("/external/invoices/" + id + "/with-line-items");
    return account
        .merchant()
        .get(
            "/external/invoices/%s/line-items/%s/events"
                .formatted(id, lines.<Object>at("invoiceLineItems." + line + ".id")));
  }

  /** A month before April, with 12 calls in February that are billed for good. */
  private Account billed() throws Exception {
    Account account = Account.subscribed(app);
    assertThat(
            post(
                    account,
                    List.of(
                        call(account, 5, "k1", "2040-02-05T00:00:00Z"),
                        call(account, 7, "k2", "2040-02-29T23:59:59.999Z")))
                .status())
        .isEqualTo(202);
    counted();
    account.at("2040-04-10T00:00:00Z");
    counted();
    return account;
  }

  private List<String> counters() {
    return query(
        "SELECT period_index || ' ' || events || ' ' || trim_scale(sum) FROM usage_counter"
            + " ORDER BY period_index");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aDroppedEventIsADuplicateForEver(boolean ownTable) throws Exception {
    if (ownTable) {
      query("SELECT event_month('2040-02-10Z')");
    }
    Account account = billed();
    account.call(1, "2040-04-01T00:00:00Z");
    counted();
    assertThat(reasons()).containsExactly("2040-02 []", "2040-04 [clock, openPeriod]");
    List<String> counters = counters();
    assertThat(counters).containsExactly("0 1 5", "1 1 7", "2 1 1");
    assertThat(events(account, 1, 1).<Integer>at("count")).isEqualTo(1);

    assertThat(drop().status()).isEqualTo(204);

    assertThat(reasons()).containsExactly("2040-04 [clock, openPeriod]");
    assertThat(query("SELECT key FROM event")).hasSize(1);
    assertThat(query("SELECT to_regclass('event_chunk_2040_02')")).containsOnlyNulls();
    assertThat(drop().problem()).isEqualTo("404 month_not_found []");
    Answer again =
        post(
            account,
            List.of(
                call(account, 5, "k1", "2040-02-05T00:00:00Z"),
                call(account, 7, "k2", "2040-02-29T23:59:59.999Z")));
    assertThat(again.status()).isEqualTo(202);
    assertThat(again.object()).isEqualTo(Map.of("accepted", 0, "duplicates", 2));
    counted();
    assertThat(counters()).isEqualTo(counters);
    assertThat(query("SELECT key FROM late_event")).isEmpty();
    isClean(account);
  }

  @Test
  void whatIsGoneIsNotListedInPart() throws Exception {
    Account account = billed();
    account.call(3, "2040-03-03T00:00:00Z");
    counted();
    account.at("2040-05-10T00:00:00Z");
    account.call(4, "2040-05-01T00:00:00Z");
    counted();
    account.at("2040-06-10T00:00:00Z");
    assertThat(account.lines(4)).contains("2040-04-30..2040-05-31 4 4.00");
    assertThat(drop().status()).isEqualTo(204);

    assertThat(events(account, 1, 1).problem()).isEqualTo("410 events_dropped []");
    // from the end of February to that of March
    assertThat(events(account, 2, 1).problem()).isEqualTo("410 events_dropped []");
    assertThat(events(account, 1, 0).<Integer>at("count")).isZero(); // a fixed price
    assertThat(events(account, 4, 1).<Integer>at("count")).isEqualTo(1);
    assertThat(account.lines(1)).contains("2040-01-31..2040-02-29 5 5.00");
    isClean(account);
  }

  @Test
  void lateEventsOfADroppedMonthAreBilledAndCanBeDroppedAgain() throws Exception {
    Account account = billed();
    assertThat(drop().status()).isEqualTo(204);

    account.call(3, "2040-02-06T00:00:00Z");
    counted();

    assertThat(counters()).containsExactly("0 2 8", "1 1 7");
    assertThat(reasons()).containsExactly("2040-02 [correction]");
    assertThat(months().<String>at("results.0.droppedAt")).isNotNull();
    assertThat(drop().problem()).isEqualTo("409 month_needed []");
    isClean(account);
    account.at("2040-05-10T00:00:00Z");
    assertThat(account.lines(3)).contains("2040-01-31..2040-02-29 8 3.00");
    assertThat(drop().status()).isEqualTo(204);
    assertThat(query("SELECT key FROM event")).isEmpty();
    assertThat(counters()).containsExactly("0 2 8", "1 1 7");
    isClean(account);
  }

  @Test
  void whoHoldsAMonthUpIsNamed() throws Exception {
    Account account = billed();
    Merchant standing = app.merchant("test", null).at("2040-02-29T23:59:59.999Z");

    assertThat(reasons()).containsExactly("2040-02 [clock]");
    assertThat(months().<String>at("results.0.heldBy.0.merchantId")).isEqualTo(standing.id());
    assertThat(months().<Object>at("results.0.heldBy.0.subscriptionId")).isNull();
    Answer refused = drop();
    assertThat(refused.problem()).isEqualTo("409 month_needed []");
    assertThat(refused.<String>at("detail")).contains("clock of " + standing.id());

    standing.at("2040-03-01T00:00:00Z");
    assertThat(drop().status()).isEqualTo(204);
    isClean(account);
  }

  @Test
  void aMonthStaysWhileALongPeriodIsOpen() throws Exception {
    Account account = billed();
    String annual =
        account.subscribe("billingCadence", "annually", "startDate", "2040-02-01T00:00:00Z");
    counted();

    assertThat(reasons()).containsExactly("2040-02 [openPeriod]");
    assertThat(months().<String>at("results.0.heldBy.0.subscriptionId")).isEqualTo(annual);
    assertThat(drop().<String>at("detail"))
        .contains("openPeriod of " + account.merchant().id() + ", " + annual);
    assertThat(query("SELECT month FROM event_month_dropped")).isEmpty();
  }

  @Test
  void aMonthStaysForPeriodsThatAParkedSubscriptionHasNotOpenedYet() throws Exception {
    Account account = Account.subscribed(app);
    account.call(5, "2040-03-05T00:00:00Z");
    counted();
    query("UPDATE subscription SET parked_at = now(), parked_reason = 'a test' RETURNING id");
    account.at("2040-05-10T00:00:00Z");

    assertThat(reasons()).containsExactly("2040-03 [openPeriod]");
  }

  @Test
  void aMonthStaysUntilTheInvoicesOfItsPeriodsAreFinal() throws Exception {
    Account account = Account.subscribed(app);
    account.call(5, "2040-02-05T00:00:00Z");
    counted();
    account.call(7, "2040-02-29T23:00:00Z");
    counted();

    account.at("2040-03-31T13:00:00Z");

    assertThat(reasons()).containsExactly("2040-02 [invoice]");
    assertThat(drop().problem()).isEqualTo("409 month_needed []");
    account.at("2040-04-01T00:00:00Z");
    assertThat(reasons()).containsExactly("2040-02 []");
  }

  @Test
  void aMonthStaysWhileItsEventsWaitToBeCounted() throws Exception {
    Account account = billed();
    try (Connection connection = Tables.connect(app.database())) {
      CustomerLock.hold(connection, account.customer()); // the fold waits
      account.call(4, "2040-02-06T00:00:00Z");

      assertThat(reasons()).containsExactly("2040-02 [waitingEvents]");
      assertThat(drop().<String>at("detail"))
          .contains("waitingEvents of " + account.merchant().id());
    }
    counted();
    assertThat(reasons()).containsExactly("2040-02 [correction]");
  }

  @Test
  void aMonthStaysWhileAPeriodIsToBeCounted() throws Exception {
    Account account = billed();
    try (Connection connection = Tables.connect(app.database())) {
      CustomerLock.hold(connection, account.customer()); // the backfill waits
      query(
          "UPDATE subscription_period SET ready_until = '2040-02-20Z' WHERE period_index = 0"
              + " RETURNING period_index");

      assertThat(reasons()).containsExactly("2040-02 [recount]");
      assertThat(drop().problem()).isEqualTo("409 month_needed []");
    }
    counted();
    assertThat(reasons()).containsExactly("2040-02 []");
  }

  @Test
  void aPeriodWithoutEndKeepsWhatItHasCountedAlsoWhenItIsCutShort() throws Exception {
    Account account = Account.of(app, ONE_TIME);
    String id = account.subscribe("billingCadence", "oneTime");
    account.call(12, "2040-02-05T00:00:00Z");
    account.call(20, "2040-03-20T00:00:00Z"); // ahead of the cut
    counted();
    account.at("2040-03-10T00:00:00Z");
    assertThat(reasons()).containsExactly("2040-02 []", "2040-03 [clock]");
    assertThat(drop().status()).isEqualTo(204);
    isClean(account);

    account.change(id, "cancel");
    counted();

    assertThat(query("SELECT recounts FROM subscription_period")).containsExactly("0");
    account.at("2040-03-20T00:00:00Z");
    assertThat(account.read(id)).containsEntry("status", "ended");
    assertThat(account.lines(1)).containsExactly("2040-01-31..2040-03-10 32 21.00");
    assertThat(events(account, 1, 0).problem()).isEqualTo("410 events_dropped []");
    isClean(account);
  }

  @Test
  void whatIsCountedWhileADropWaitsIsKeptWithoutItsEvents() throws Exception {
    Account account = Account.of(app, ONE_TIME);
    account.call(12, "2040-02-05T00:00:00Z");
    account.call(20, "2040-03-20T00:00:00Z"); // ahead of the cut
    counted();
    account.at("2040-03-10T00:00:00Z");
    String id;
    try (Connection connection = Tables.connect(app.database());
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      connection.setAutoCommit(false);
      connection
          .createStatement()
          .execute("DELETE FROM event_chunk WHERE first_at < '2040-03-01Z'");
      Future<Answer> dropped = threads.submit(this::drop);
      assertThat(Merchant.eventually(() -> query(WAITING_FOR_LOCKS), each -> !each.isEmpty()))
          .isNotEmpty();
      id = account.subscribe("billingCadence", "oneTime", "startDate", "2040-02-01T00:00:00Z");
      counted();
      assertThat(counters()).containsExactly("0 2 32");
      connection.rollback();
      assertThat(dropped.get().status()).isEqualTo(204);
    }
    assertThat(
            query(
                "SELECT d.dropped_at >= p.opened_at FROM event_month_dropped d, subscription_period p"))
        .containsExactly("t");
    // as if the clock of the process that opened it had been ahead
    query(
        "UPDATE subscription_period SET opened_at = d.dropped_at + interval '4 seconds'"
            + " FROM event_month_dropped d RETURNING period_index");
    isClean(account);

    account.change(id, "cancel");
    counted();

    assertThat(query("SELECT recounts FROM subscription_period")).containsExactly("0");
    assertThat(counters()).containsExactly("0 2 32");
    account.at("2040-03-20T00:00:00Z");
    assertThat(account.lines(1)).containsExactly("2040-02-01..2040-03-10 32 21.00");
    assertThat(events(account, 1, 0).problem()).isEqualTo("410 events_dropped []");
    isClean(account);
  }

  @Test
  void aPeriodThatIsOpenedOverADroppedMonthCountsWhatIsLeft() throws Exception {
    Account account = billed();
    account.call(3, "2040-03-05T00:00:00Z");
    counted();
    account.at("2040-05-10T00:00:00Z");
    assertThat(drop().status()).isEqualTo(204);

    account.subscribe("startDate", "2040-02-20T00:00:00Z");
    counted();
    // later than clocks may be apart
    query(
        "UPDATE subscription_period SET opened_at = opened_at + interval '6 seconds'"
            + " WHERE period_start = '2040-02-20Z' RETURNING period_index");
    account.at("2040-05-12T00:00:00Z");

    int invoice = account.invoices() - 2; // of its periods since February, the first
    assertThat(account.lines(invoice)).contains("2040-02-20..2040-03-20 3 3.00");
    assertThat(events(account, invoice, 1).<Integer>at("count")).isEqualTo(1);
    isClean(account);
  }

  @ParameterizedTest
  @CsvSource({
    "2040-13, 400 validation_failed [?month format]",
    "2040-2, 400 validation_failed [?month format]",
    "2040-02-01, 400 validation_failed [?month format]",
    "other, 400 validation_failed [?month format]",
    "0000-01, 404 month_not_found []",
    "9999-12, 404 month_not_found []",
    "2039-01, 404 month_not_found []",
    "2040-02?force=true, 400 validation_failed [?force unknown_parameter]",
  })
  void whatIsNoMonthWithEventsIsRefused(String month, String problem) {
    assertThat(app.operator("DELETE", MONTHS + "/" + month).send().problem()).isEqualTo(problem);
    assertThat(app.management("DELETE", FEBRUARY).send().status()).isEqualTo(401);
    assertThat(app.management("GET", MONTHS).send().status()).isEqualTo(401);
    assertThat(months().<List<?>>at("results")).isEmpty();
  }

  @Test
  void whileEventsAreInUseNothingIsDroppedAndEventsAreTaken() throws Exception {
    Account account = billed();
    try (Connection connection = Tables.connect(app.database())) {
      connection.setAutoCommit(false);
      connection.createStatement().execute("SELECT FROM event_chunk LIMIT 1");
      AtomicBoolean over = new AtomicBoolean();
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        Future<Long> sent = threads.submit(() -> postUntil(over, account));

        Answer answer = drop();
        over.set(true);

        assertThat(answer.problem()).isEqualTo("503 contention []");
        assertThat(answer.header("retry-after")).isEqualTo("10");
        assertThat(sent.get()).isPositive();
      }
    }
    counted();
    assertThat(reasons()).contains("2040-02 []");
    assertThat(drop().status()).isEqualTo(204);
  }

  @Test
  void nothingIsLostThatIsSentMeanwhile() throws Exception {
    Account account = billed();
    query("SELECT event_month('2040-04-10Z'), event_month('2040-02-10Z')");
    AtomicBoolean over = new AtomicBoolean();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Long>> senders = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        senders.add(threads.submit(() -> postUntil(over, account)));
      }
      Answer answer = Merchant.eventually(this::drop, each -> each.status() == 204);
      over.set(true);
      assertThat(answer.status()).as(answer.text()).isEqualTo(204);
      long sent = 0;
      for (Future<Long> sender : senders) {
        sent += sender.get();
      }
      counted();
      assertThat(sent).isPositive();
      assertThat(counters()).contains("2 %d %1$d".formatted(sent));
      assertThat(query("SELECT count(*) FROM event")).containsExactly("" + sent);
    }
    isClean(account);
  }

  /** How many events of April were acknowledged; none may be refused. */
  private static long postUntil(AtomicBoolean over, Account account) {
    long sent = 0;
    while (!over.get()) {
      List<Map<String, Object>> events = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        events.add(call(account, 1, null, "2040-04-02T00:00:00Z"));
      }
      Answer answer = post(account, events);
      assertThat(answer.status()).as(answer.text()).isEqualTo(202);
      sent += answer.<Integer>at("accepted");
    }
    return sent;
  }

  private static String chunk(String at) {
    return """
        INSERT INTO event_chunk (merchant_id, customer_id, first_at, last_at, events, content)
        VALUES (gen_random_uuid(), gen_random_uuid(), '%1$s', '%1$s', 1, '[]')
        """
        .formatted(at);
  }

  @Test
  void monthsThatVersion8HasFilledCanBeDropped() {
    Endpoint database = PostgresSupport.emptyDatabase();
    Flyway.configure()
        .dataSource(database.jdbcUrl(), database.user(), database.password())
        .locations("classpath:db/migration")
        .target("8")
        .load()
        .migrate();
    PostgresSupport.execute(
        database,
        "SELECT event_month('2026-01-31T23:59:59.999Z')",
        chunk("2026-01-31T23:59:59.999Z"),
        chunk("2026-02-01T00:00:00Z"),
        chunk("2001-05-01T00:00:00Z"));
    Migrations.migrate(database);
    app.close();
    app = TestApp.start(database, SETTINGS);

    assertThat(reasons()).containsExactly("2001-05 []", "2026-01 []", "2026-02 []");
    app.operator("DELETE", MONTHS + "/2001-05").send(204);
    app.operator("DELETE", MONTHS + "/2026-01").send(204);

    assertThat(reasons()).containsExactly("2026-02 []");
    assertThat(query("SELECT month FROM event_month_dropped ORDER BY month"))
        .containsExactly("2001-05-01", "2026-01-01");
    PostgresSupport.execute(
        database, "SELECT event_month('2026-01-01Z')", chunk("2026-01-02T00:00:00Z"));
    assertThat(reasons()).containsExactly("2026-01 []", "2026-02 []");
  }

  @Test
  void aMonthThatCannotGoHoldsUpNoOther() throws Exception {
    Endpoint database = app.database();
    app.close();
    YearMonth now = YearMonth.now(ZoneOffset.UTC);
    String broken = now.minusMonths(5).toString();
    String inUse = now.minusMonths(4).toString();
    String free = now.minusMonths(3).toString();
    for (String month : List.of(broken, inUse, free)) {
      PostgresSupport.execute(
          database,
          "SELECT event_month('%s-10Z')".formatted(month),
          chunk(month + "-10T00:00:00Z"));
    }
    PostgresSupport.execute(
        database, "CREATE VIEW in_the_way AS SELECT events FROM " + table(broken));
    try (Connection connection = Tables.connect(database)) {
      connection.setAutoCommit(false);
      connection.createStatement().execute("SELECT FROM " + table(inUse));
      app = TestApp.start(database, Map.of("events.keepMonths", "2", "events.lookEveryMs", "100"));

      Predicate<String> bothFailed =
          Pattern.compile("steelyard_events_months_failed_total ([2-9]|[1-9][0-9]+)\\.0")
              .asPredicate();
      assertThat(Merchant.eventually(this::metrics, bothFailed)).matches(bothFailed);
      awaitLeft(broken, inUse);
      assertThat(reasons()).containsExactly(broken + " []", inUse + " []");
      String oneDropped = "steelyard_events_months_dropped_total 1.0";
      assertThat(Merchant.eventually(this::metrics, text -> text.contains(oneDropped)))
          .contains(oneDropped);
      assertThat(app.operator("DELETE", MONTHS + "/" + inUse).send().problem())
          .isEqualTo("503 contention []");
    }
    PostgresSupport.execute(database, "DROP VIEW in_the_way");
    awaitLeft();
  }

  /** Returns once only these are there; one that leaves may be seen without its bytes. */
  private void awaitLeft(String... expected) throws Exception {
    Callable<List<String>> left =
        () ->
            months().<List<Map<String, String>>>at("results").stream()
                .map(month -> month.get("month"))
                .toList();
    assertThat(Merchant.eventually(left, List.of(expected)::equals)).containsExactly(expected);
  }

  private static String table(String month) {
    return "event_chunk_" + month.replace('-', '_');
  }

  @Test
  void oldMonthsLeaveByThemselvesWhereThatIsSet() throws Exception {
    Endpoint database = app.database();
    app.close();
    YearMonth now = YearMonth.now(ZoneOffset.UTC);
    String old = now.minusMonths(3).toString();
    String kept = now.minusMonths(2).toString();
    PostgresSupport.execute(
        database,
        "SELECT event_month('%s-10Z')".formatted(old),
        chunk(old + "-10T00:00:00Z"),
        chunk(kept + "-10T00:00:00Z"));
    app = TestApp.start(database, Map.of("events.keepMonths", "2", "events.lookEveryMs", "100"));

    awaitLeft(kept);
    assertThat(reasons()).containsExactly(kept + " []");
    String[] expected = {
      "steelyard_events_months 1.0", "steelyard_events_months_dropped_total 1.0"
    };
    assertThat(
            Merchant.eventually(
                this::metrics, text -> Stream.of(expected).allMatch(text::contains)))
        .contains(expected);
  }
}
