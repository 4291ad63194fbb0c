package io.steelyard.billing;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.support.CustomerLock;
import io.steelyard.support.Merchant;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A period without end that a cancel ends, after events of its time to come were counted. */
class CutShortIT {
  /** Calls and users cost dollars, tokens and seats a credit each. */
  private static final String CATALOG =
      """
      customPricingUnits:
        - {key: credits, displayName: Credits, displayNameSingular: Credit, shortName: cr}
      billables:
      %s%s%s%splans:
        - externalId: pro
          name: Pro
          basePrices: {oneTime: 49}
          prices:
            - {name: Calls, billable: call, billingMode: arrears, priceType: tiered,
               rules: {quantity: 1, tiers: [{upTo: 10, price: 1}, {price: 0.5}]}}
            - {name: Users, billable: user, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 5}}
            - {name: Tokens, billable: token, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 1}, usesCustomPricingUnit: true,
               customPricingUnit: credits}
            - {name: Seats, billable: seat, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 1}, usesCustomPricingUnit: true,
               customPricingUnit: credits}
          allocations: [{customPricingUnit: credits, amount: 1000, billingCadence: oneTime}]
      """
          .formatted(
              billable("call", "sum"),
              billable("user", "uniqueCount"),
              billable("token", "sum"),
              billable("seat", "latest"));

  private static TestApp app;

  private final Account account = Account.of(app, CATALOG);
  private final String id = account.subscribe("billingCadence", "oneTime");

  @BeforeAll
  static void start() {
    app = TestApp.start(Map.of("billing.pollMs", "3600000", "aggregation.pollMs", "20"));
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static String billable(String event, String calculation) {
    return """
      - slug: {event}
        name: {event}
        eventQueryRules:
          conditions: [[{key: eventName, rule: matches, value: {event}}]]
          calculation: {calculation}
          overProperty: data.count
    """
        .replace("{event}", event)
        .replace("{calculation}", calculation);
  }

  private List<String> query(String sql) {
    return Tables.query(
        app.database(),
        sql.replace("{id}", Id.parse(IdKind.SUBSCRIPTION, id).orElseThrow().uuid().toString()));
  }

  /** {@code slug usage} of the last period. */
  private List<String> currentUsage() {
    return query(
        "SELECT b.slug || ' ' || trim_scale("
            + Tables.QUANTITY
            + """
              )
              FROM usage_counter c JOIN billable b ON b.id = c.billable_id
              JOIN billable_rules r USING (billable_id)
              WHERE c.subscription_id = '{id}'
                AND c.period_index = (SELECT max(period_index) FROM subscription_period
                                       WHERE subscription_id = '{id}')
              ORDER BY b.slug
              """);
  }

  private List<String> ledger() {
    return query(
        """
        SELECT t.type || ' ' || trim_scale(t.amount)
          FROM credit_transaction t JOIN allocation_block b ON b.id = t.allocation_block_id
         WHERE b.subscription_id = '{id}' ORDER BY t.id
        """);
  }

  private String recounts() {
    return query("SELECT recounts FROM subscription_period WHERE subscription_id = '{id}'")
        .getFirst();
  }

  private void counted() throws Exception {
    String open =
        """
        SELECT count(*) FROM subscription_period p
         WHERE p.subscription_id = '{id}'
           AND (p.ready_until < p.period_end
                OR EXISTS (SELECT FROM event_batch b WHERE b.merchant_id = p.merchant_id))
        """;
    assertThat(Merchant.eventually(() -> query(open), List.of("0")::equals)).containsExactly("0");
  }

  private void isClean() {
    Answer report = account.merchant().operator("GET", "/integrity").send(200);
    assertThat(report.<List<?>>at("findings")).isEmpty();
    assertThat(report.<Boolean>at("clean")).isTrue();
  }

  /** {@code 2040-02-01 12} for each event behind a line of an invoice. */
  private List<String> events(int invoice, int line) {
    Object invoiceId = account.invoice(invoice).get("id");
    Answer lines = account.merchant().get("/external/invoices/" + invoiceId + "/with-line-items");
    String path =
        "/external/invoices/%s/line-items/%s/events?order=asc"
            .formatted(invoiceId, lines.<Object>at("invoiceLineItems." + line + ".id"));
    return account
        .merchant()
        .call("GET", path)
        .send(200)
        .<List<Map<String, Object>>>at("results")
        .stream()
        .map(each -> "%.10s %s".formatted(each.get("generatedAt"), Answer.at(each, "data.count")))
        .toList();
  }

  private void useInside() {
    account.call(12, "2040-02-01T00:00:00Z");
    account.use("user", 1, "2040-02-01T00:00:00Z");
    account.use("user", 2, "2040-02-02T00:00:00Z");
    account.use("token", 300, "2040-02-02T00:00:00Z");
    account.use("seat", 7, "2040-02-05T00:00:00Z");
    account.use("token", 500, "2040-02-09T23:59:59.999Z");
  }

  private void useAhead() {
    account.call(20, "2040-02-10T00:00:00Z");
    account.call(30, "2040-03-01T00:00:00Z");
    account.use("user", 2, "2040-02-20T00:00:00Z");
    account.use("user", 3, "2040-02-20T00:00:00Z");
    account.use("token", 100, "2040-02-20T00:00:00Z");
    account.use("seat", 2, "2040-02-20T00:00:00Z");
  }

  @Test
  void whatLiesBehindTheEndIsNeitherUsedNorBilled() throws Exception {
    useInside();
    counted();
    assertThat(account.remaining()).isEqualTo(193);
    useAhead();
    account.at("2040-02-10T00:00:00Z");
    counted();
    assertThat(currentUsage()).containsExactly("call 62", "seat 2", "token 900", "user 3");
    assertThat(account.remaining()).isEqualTo(98);

    account.change(id, "cancel");
    isClean();
    counted();

    assertThat(recounts()).isEqualTo("1");
    assertThat(account.remaining()).isEqualTo(193);
    assertThat(currentUsage()).containsExactly("call 12", "seat 7", "token 800", "user 2");
    isClean();
    account.call(3, "2040-02-09T00:00:00Z");
    account.call(4, "2040-02-10T00:00:00Z");
    account.at("2040-02-14T00:00:00Z");
    assertThat(account.read(id)).containsEntry("status", "ended");
    assertThat(account.remaining()).isEqualTo(193);
    assertThat(account.lines(1))
        .containsExactly("2040-01-31..2040-02-10 15 12.50", "2040-01-31..2040-02-10 2 10.00");
    assertThat(events(1, 0)).containsExactly("2040-02-01 12", "2040-02-09 3");
    assertThat(events(1, 1)).containsExactly("2040-02-01 1", "2040-02-02 2");
    assertThat(account.invoice(1)).containsEntry("status", "test");
    assertThat(account.invoices()).isEqualTo(2);
    isClean();
  }

  @Test
  void unitsDrawnForItGoBackByOneReversal() throws Exception {
    account.use("token", 300, "2040-02-01T00:00:00Z");
    counted();
    account.use("token", 900, "2040-02-20T00:00:00Z");
    account.at("2040-02-10T00:00:00Z");
    counted();
    assertThat(account.remaining()).isEqualTo(0);

    account.change(id, "cancel");
    counted();

    assertThat(ledger())
        .containsExactly("planAllocation 1000", "usage -300", "usage -700", "reversal 700");
    assertThat(account.remaining()).isEqualTo(700);
    account.at("2040-02-14T00:00:00Z");
    assertThat(account.remaining()).isEqualTo(700);
    isClean();
  }

  @Test
  void nothingIsCountedAnewWhenNothingLiesBehindTheEnd() throws Exception {
    useInside();
    account.at("2040-02-10T00:00:00Z");
    counted();
    List<String> before = ledger();

    account.change(id, "cancel");

    assertThat(recounts()).isEqualTo("0");
    assertThat(ledger()).isEqualTo(before);
    account.at("2040-02-14T00:00:00Z");
    assertThat(account.lines(1)).contains("2040-01-31..2040-02-10 12 11.00");
    isClean();
  }

  /** Only at its very start, which leaves it a millisecond, can a cancelled one be renewed. */
  @Test
  void renewedItCountsAgainWhatTheCutHadTaken() throws Exception {
    account.use("token", 100, Account.START);
    account.use("token", 300, "2040-02-01T00:00:00Z");
    counted();
    for (int time = 1; time <= 2; time++) {
      account.change(id, "cancel");
      counted();
      assertThat(account.remaining()).isEqualTo(900);
      account.change(id, "renew");
      counted();
      assertThat(account.remaining()).isEqualTo(600);
    }
    account.change(id, "cancel");
    account.change(id, "renew"); // before anything could be counted anew, perhaps
    account.use("token", 50, "2040-02-01T00:00:00Z");
    counted();

    assertThat(account.remaining()).isEqualTo(550);
    assertThat(currentUsage()).contains("token 450");
    isClean();
    account.at("2040-02-01T00:00:00Z");
    account.change(id, "cancel");
    account.at("2040-02-05T00:00:00Z");
    assertThat(recounts()).isEqualTo("4");
    assertThat(account.remaining()).isEqualTo(900);
    assertThat(currentUsage()).contains("token 100");
    isClean();
  }

  /** The end that it had is later than that of a cancel. */
  @Test
  void anEndDateIsCutShortToo() throws Exception {
    String other =
        account.subscribe("billingCadence", "oneTime", "endDate", "2040-03-01T00:00:00Z");
    account.call(5, "2040-02-01T00:00:00Z");
    account.call(7, "2040-02-20T00:00:00Z");
    account.at("2040-02-10T00:00:00Z");
    counted();

    account.change(other, "cancel");
    account.at("2040-02-14T00:00:00Z");

    assertThat(account.lines(2)).contains("2040-01-31..2040-02-10 5 5.00");
    assertThat(currentUsage()).contains("call 12"); // of the one that goes on
    isClean();
  }

  @Test
  void unitsThatWereDrawnFromABlockThatHasExpiredAreGone() throws Exception {
    Account monthly =
        Account.of(
            app,
            CATALOG.replace(
                "amount: 1000, billingCadence: oneTime", "amount: 1000, billingCadence: monthly"));
    String cut = monthly.subscribe("billingCadence", "oneTime");
    String unit = monthly.merchant().unitId(monthly.catalog());
    assertThat(
            monthly
                .merchant()
                .allocate(monthly.customer(), unit, "500", "2040-02-05T00:00:00Z")
                .status())
        .isEqualTo(201);
    monthly.use("token", 1100, "2040-02-20T00:00:00Z");
    monthly.at(Account.START); // counted, before the clock goes on
    monthly.at("2040-02-06T00:00:00Z");
    monthly.use("token", 50, "2040-02-01T00:00:00Z");
    monthly.at("2040-02-10T00:00:00Z");
    assertThat(monthly.remaining()).isEqualTo(0);

    monthly.change(cut, "cancel");
    monthly.at("2040-02-15T00:00:00Z");

    assertThat(monthly.remaining()).isEqualTo(1000);
    Answer report = monthly.merchant().operator("GET", "/integrity").send(200);
    assertThat(report.<List<?>>at("findings")).isEmpty();
  }

  /** In the order of the clockwork, which would wait for each other else. */
  @Test
  void whatHasBegunUnnoticedIsCancelledWithTheCustomersLockBeforeTheNumbers() throws Exception {
    Merchant merchant = app.merchant("live", CATALOG);
    String customer = merchant.customerId("late");
    Map<String, Object> upcoming =
        merchant.startsSoon(
            Map.of(
                "customerId",
                customer,
                "planId",
                merchant.planId(CATALOG, "pro"),
                "billingCadence",
                "oneTime"));
    Instant start = Instant.parse((String) upcoming.get("startDate"));
    Thread.sleep(Duration.between(Instant.now(), start.plusMillis(100))); // live time, never set
    String path = "/external/subscriptions/" + upcoming.get("id");
    try (Connection other = Tables.connect(app.database());
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      CustomerLock.hold(other, customer);
      Future<Answer> cancelled =
          threads.submit(
              () -> merchant.post(path + "/cancel", Map.of("externalCustomerId", "late")));
      String waiting =
          """
          SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
           WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted
          """;
      assertThat(Merchant.eventually(() -> query(waiting), List.of("1")::equals))
          .containsExactly("1");

      other.createStatement().execute("SELECT FROM invoice_number FOR UPDATE NOWAIT");
      other.rollback();

      assertThat(cancelled.get().status()).isEqualTo(200);
    }
    assertThat(merchant.get(path).<String>at("endDate")).isNotNull();
    merchant.invoiceOf(upcoming.get("id")); // its only one
  }
}
