package io.steelyard.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.steelyard.config.Config;
import io.steelyard.config.StartFailure;
import io.steelyard.support.CitusSupport;
import io.steelyard.support.Merchant;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import io.steelyard.support.TestConfig;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A service on a real Citus cluster, where one is named; elsewhere these are skipped. */
class CitusIT {
  private static final String START = "2040-01-31T12:00:00Z";

  /** Calls cost 1 dollar each, visitors 2; units are drawn for tokens. */
  private static final String CATALOG =
      """
      customPricingUnits:
        - {key: credits, displayName: Credits, displayNameSingular: Credit, shortName: cr}
      billables:
      %s%s%splans:
        - externalId: pro
          name: Pro
          basePrices: {monthly: 49}
          prices:
            - {name: Calls, billable: call, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 1}}
            - {name: Visitors, billable: visitor, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 2}}
            - {name: Tokens, billable: token, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 1}, usesCustomPricingUnit: true,
               customPricingUnit: credits}
          allocations: [{customPricingUnit: credits, amount: 1000, billingCadence: monthly}]
      defaultPlan: pro
      """
          .formatted(
              billable("call", "sum"),
              billable("visitor", "uniqueCount"),
              billable("token", "sum"));

  private static final Map<String, String> SETTINGS =
      Map.of("billing.pollMs", "3600000", "aggregation.pollMs", "20");

  private Endpoint database;
  private TestApp app;

  @BeforeEach
  void createDatabase() {
    assumeTrue(CitusSupport.isNamed(), CitusSupport.MISSING);
    database = CitusSupport.emptyDatabase("steelyard_citus_" + ProcessHandle.current().pid());
  }

  @AfterEach
  void drop() {
    if (app != null) {
      app.close();
    }
    if (database != null) {
      CitusSupport.drop(database);
    }
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
    return Tables.query(database, sql);
  }

  private void start(String distribution) {
    start(distribution, SETTINGS);
  }

  private void start(String distribution, Map<String, String> others) {
    Map<String, String> settings = new TreeMap<>(others);
    settings.put("database.distribution", distribution);
    app = TestApp.start(database, settings);
  }

  private void counted() throws Exception {
    String waiting =
        """
        SELECT period_index FROM subscription_period WHERE ready_until < period_end
        UNION ALL SELECT events FROM event_batch
        """;
    assertThat(Merchant.eventually(() -> query(waiting), List::isEmpty)).isEmpty();
  }

  private static void isClean(Merchant merchant) {
    Answer report = merchant.operator("GET", "/integrity").send(200);
    assertThat(report.<List<?>>at("findings")).isEmpty();
    assertThat(report.<Boolean>at("clean")).isTrue();
  }

  private static Map<String, Object> event(
      Merchant merchant, String customer, String name, long count, String key, String at) {
    return merchant.event(customer, name, count, key, Instant.parse(at));
  }

  /** {@code accepted duplicates} of a batch. */
  private static String post(Merchant merchant, List<Map<String, Object>> events) {
    Answer answer = merchant.call("POST", "/external/event").json(events).send(202);
    return answer.at("accepted") + " " + answer.at("duplicates");
  }

  /** {@code call 0 12} for each counter: billable, period and quantity. */
  private List<String> counters() {
    return query(
        "SELECT concat_ws(' ', b.slug, c.period_index, trim_scale("
            + Tables.QUANTITY
            + """
              ))
              FROM usage_counter c
              JOIN billable b ON b.id = c.billable_id
              JOIN billable_rules r ON r.billable_id = c.billable_id
              ORDER BY 1
              """);
  }

  private List<String> places() {
    return query(
        """
        SELECT concat_ws(' ', logicalrelid,
                 CASE partmethod WHEN 'h' THEN column_to_column_name(logicalrelid, partkey)
                                 ELSE partmethod::text || repmodel::text END)
          FROM pg_dist_partition
         WHERE logicalrelid NOT IN (SELECT inhrelid FROM pg_inherits) ORDER BY 1
        """);
  }

  @Test
  void aFreshDatabaseIsDistributedAtItsFirstStartAndStaysSo() {
    start("citus");
    List<String> distributed = places();
    app.close();
    start("citus");

    assertThat(distributed)
        .containsExactly(
            "billable nt",
            "billable_rules nt",
            "custom_pricing_unit nt",
            "event_chunk merchant_id",
            "event_key key",
            "late_event merchant_id",
            "plan nt",
            "plan_allocation nt",
            "price nt",
            "usage_unique merchant_id");
    assertThat(places()).isEqualTo(distributed);
    assertThat(
            query(
                """
                SELECT count(DISTINCT nodename || nodeport) FROM citus_shards
                 WHERE citus_table_type = 'distributed'
                """))
        .isEqualTo(query("SELECT count(*) FROM pg_dist_node WHERE shouldhaveshards"));
  }

  @Test
  void aSessionTakesOneConnectionToEachNode() throws Exception {
    Config config =
        TestConfig.with(
            Map.of(
                "database.url",
                TestApp.url(database),
                "database.distribution",
                "citus",
                "operator.token",
                TestApp.OPERATOR_TOKEN));
    Vertx vertx = Vertx.vertx();
    try {
      assertThat(
              Database.open(config.database(), Path.of(""))
                  .pools(config.database())
                  .api(vertx)
                  .query("SHOW citus.max_adaptive_executor_pool_size")
                  .execute()
                  .await(20, TimeUnit.SECONDS)
                  .iterator()
                  .next()
                  .getString(0))
          .isEqualTo("1");
    } finally {
      vertx.close().await();
    }
  }

  @Test
  void aDatabaseThatIsDistributedIsRefusedByWhoThinksItIsNot() {
    start("citus");
    app.close();

    assertThatThrownBy(() -> start("none"))
        .isInstanceOf(StartFailure.class)
        .hasMessageContaining("set database.distribution to citus");
  }

  @Test
  void aTableThatIsDistributedByAnotherColumnIsNamed() {
    start("citus");
    app.close();
    Tables.query(database, "SELECT undistribute_table('usage_unique')");

    assertThatThrownBy(() -> start("citus"))
        .isInstanceOf(StartFailure.class)
        .hasMessageContaining("usage_unique is distributed by coordinator, not by merchant_id");
  }

  @Test
  void eventsAreStoredOnceCountedBilledExplainedAndDropped() throws Exception {
    start("citus");
    Merchant merchant = app.merchant("test", CATALOG).at(START);
    String customer = merchant.customerId("acme");
    List<Map<String, Object>> events = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      String name = i % 10 == 0 ? "token" : i % 2 == 0 ? "visitor" : "call";
      events.add(event(merchant, customer, name, i % 7, "key " + i, "2040-02-05T00:00:00Z"));
    }

    assertThat(post(merchant, events)).isEqualTo("100 0");
    assertThat(post(merchant, events)).isEqualTo("0 100");
    events.set(99, event(merchant, customer, "call", 5, "new", "2040-02-06T00:00:00Z"));
    assertThat(post(merchant, events)).isEqualTo("1 99");
    counted();
    assertThat(counters()).containsExactly("call 0 153", "token 0 30", "visitor 0 7");
    isClean(merchant);

    merchant.at("2040-03-10T00:00:00Z");
    assertThat(merchant.invoices()).hasSize(2);
    assertThat(
            post(
                merchant,
                List.of(event(merchant, customer, "call", 9, "late", "2040-02-07T00:00:00Z"))))
        .isEqualTo("1 0");
    counted();
    merchant.at("2040-04-10T00:00:00Z");
    isClean(merchant);
    Object invoice = merchant.invoices().get(1).get("id");
    Answer lines = merchant.get("/external/invoices/" + invoice + "/with-line-items");
    List<Map<String, Object>> items = lines.at("invoiceLineItems");
    Object calls =
        items.stream()
            .filter(each -> "153".equals(Answer.at(each, "details.quantity").toString()))
            .map(each -> each.get("id"))
            .findFirst()
            .orElseThrow();
    Answer behind =
        merchant
            .call(
                "GET",
                "/external/invoices/%s/line-items/%s/events?pageSize=100".formatted(invoice, calls))
            .send(200);
    assertThat(behind.<List<?>>at("results")).hasSize(51); // not the late one

    merchant.at("2040-07-10T00:00:00Z");
    Answer months = app.operator("GET", "/operator/events/months").send(200);
    assertThat(months.<Object>at("results.0.month")).isEqualTo("2040-02");
    assertThat(months.<Number>at("results.0.bytes").longValue()).isPositive();
    app.operator("DELETE", "/operator/events/months/2040-02").send(204);
    assertThat(query("SELECT count(*) FROM event_chunk")).containsExactly("0");
    assertThat(post(merchant, events)).isEqualTo("0 100");
  }

  /** With one phase, a crash between would leave a key whose event is nowhere: lost for ever. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void oneEventIsStoredInTwoPhasesWhetherOrNotDuplicatesCame(boolean duplicates) throws Exception {
    start("citus", Map.of("verticles.aggregation.instances", "0"));
    Merchant merchant = app.merchant("test", CATALOG).at(START);
    String customer = merchant.customerId("acme");
    List<Map<String, Object>> first =
        List.of(event(merchant, customer, "call", 1, "first", "2040-02-05T00:00:00Z"));
    assertThat(post(merchant, first)).isEqualTo("1 0");
    if (duplicates) {
      assertThat(post(merchant, first)).isEqualTo("0 1"); // those that follow are looked up
    }

    // Citus forgets what it has settled now and then: asked again with each further event.
    AtomicInteger number = new AtomicInteger();
    boolean settled =
        Merchant.eventually(
            () -> {
              String key = "key " + number.incrementAndGet();
              query("SELECT recover_prepared_transactions()");
              assertThat(query("SELECT count(*) FROM pg_dist_transaction")).containsExactly("0");
              post(
                  merchant,
                  List.of(event(merchant, customer, "call", 1, key, "2040-02-05T00:00:00Z")));
              return !query("SELECT count(*) FROM pg_dist_transaction").equals(List.of("0"));
            },
            seen -> seen);
    assertThat(settled).isTrue();
  }

  @Test
  void aMonthGetsATableOnTheNodesAndLeavesAsAWhole() throws Exception {
    start("citus");
    Merchant merchant = app.merchant("test", CATALOG).at(START);
    String customer = merchant.customerId("acme");
    Instant now = Instant.now();
    String month = YearMonth.from(now.atOffset(ZoneOffset.UTC)).toString();
    String table = "event_chunk_" + month.replace('-', '_');

    for (int i = 0; i < 3; i++) {
      assertThat(post(merchant, List.of(merchant.event(customer, "call", 1, "key " + i, now))))
          .isEqualTo("1 0");
      counted();
    }
    assertThat(query("SELECT count(*) FROM " + table)).containsExactly("3");
    assertThat(
            query("SELECT count(*) FROM citus_shards WHERE table_name = '" + table + "'::regclass"))
        .containsExactly("4");
    app.operator("DELETE", "/operator/events/months/" + month).send(204);
    assertThat(query("SELECT to_regclass('" + table + "')")).containsExactly((String) null);
    assertThat(query("SELECT count(*) FROM event_chunk")).containsExactly("0");
  }

  @Test
  void whatAPlainDatabaseHeldIsThereWhenItHasBeenDistributed() throws Exception {
    start("none");
    Merchant merchant = app.merchant("test", CATALOG).at(START);
    String customer = merchant.customerId("acme");
    Instant now = Instant.now();
    List<Map<String, Object>> events =
        List.of(
            event(merchant, customer, "call", 5, "k1", "2040-02-05T00:00:00Z"),
            event(merchant, customer, "visitor", 5, "k2", "2040-02-05T00:00:00Z"),
            event(merchant, customer, "call", 7, "k3", "2001-02-05T00:00:00Z"),
            merchant.event(customer, "call", 7, "k4", now));
    assertThat(post(merchant, events)).isEqualTo("4 0");
    counted();
    List<String> stored = query("SELECT key::text || data FROM event ORDER BY key");
    app.close();

    start("citus");
    Merchant again = new Merchant(app, merchant.id(), merchant.key());
    assertThat(query("SELECT key::text || data FROM event ORDER BY key")).isEqualTo(stored);
    assertThat(query("SELECT pg_relation_size('event_key')"))
        .containsExactly("0"); // not kept twice
    assertThat(query("SELECT count(*) FROM event_chunk_other")).containsExactly("2");
    assertThat(post(again, events)).isEqualTo("0 4");
    assertThat(
            post(
                again,
                List.of(
                    event(again, customer, "visitor", 5, "k5", "2040-02-06T00:00:00Z"),
                    event(again, customer, "visitor", 6, "k6", "2040-02-06T00:00:00Z"))))
        .isEqualTo("2 0");
    counted();
    assertThat(counters()).containsExactly("call 0 5", "visitor 0 2");
    isClean(again);
  }
}
