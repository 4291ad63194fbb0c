package io.steelyard.billing;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Subscriptions whose invoice cannot be made are set aside until an operator resumes them. */
class ParkingIT {
  private static final int OTHERS = 9;

  private static final String CATALOG =
      """
      billables:
        - slug: calls
          name: Calls
          eventQueryRules:
            conditions: [[{key: eventName, rule: matches, value: call}]]
            calculation: sum
            overProperty: data.count
      plans:
        - externalId: pro
          name: Pro
          basePrices: {monthly: 49}
          prices:
            - {name: Calls, billable: calls, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 2}}
        - externalId: odd
          name: Odd
          netTerms: net30
          basePrices: {monthly: 9}
          prices:
            - {name: Calls, billable: calls, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 3}}
      """;

  /** Thirty units of a hundred live one more month. */
  private static final String UNITS =
      """
      customPricingUnits:
        - {key: credits, displayName: Credits, displayNameSingular: Credit, shortName: cr}
      billables:
        - slug: calls
          name: Calls
          eventQueryRules:
            conditions: [[{key: eventName, rule: matches, value: call}]]
            calculation: count
      plans:
        - externalId: odd
          name: Odd
          netTerms: net30
          basePrices: {monthly: 9}
          prices:
            - {name: Calls, billable: calls, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 3}}
          allocations:
            - {customPricingUnit: credits, amount: 100, billingCadence: monthly, rolloverMax: 30}
      """;

  /** Ways in which the next invoice of one subscription cannot be made. */
  enum Fault {
    UNREADABLE_PRICE(
        "UPDATE price SET rules = '{\"quantity\": \"many\"}' WHERE id = '{price}'",
        "UPDATE price SET rules = '{\"quantity\": 1, \"price\": 3}' WHERE id = '{price}'"),
    REFUSED_PERIOD(
        """
        ALTER TABLE subscription_period ADD CONSTRAINT "period {id}"
        CHECK (subscription_id <> '{id}' OR period_index = 0)
        """,
        "ALTER TABLE subscription_period DROP CONSTRAINT \"period {id}\""),
    REFUSED_LINE(
        """
        ALTER TABLE invoice_line_item ADD CONSTRAINT "line {price}"
        CHECK (price_id <> '{price}' OR period_index <> 0)
        """,
        "ALTER TABLE invoice_line_item DROP CONSTRAINT \"line {price}\"");

    private final String breaking;
    private final String mending;

    Fault(String breaking, String mending) {
      this.breaking = breaking;
      this.mending = mending;
    }
  }

  private static TestApp app;

  private Merchant merchant;
  private String odd;
  private String customer;

  /** One lane and nobody else: what is tried first is tried first in each run. */
  @BeforeAll
  static void start() {
    app =
        TestApp.start(
            Map.of(
                "billing.pollMs", "3600000",
                "billing.claimMax", "7",
                "billing.lanes", "1",
                "timeouts.clockMs", "50000"));
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  @BeforeEach
  void subscribe() throws Exception {
    merchant = app.merchant("test", CATALOG).at("2040-01-01T00:00:00Z");
    String pro = merchant.planId(CATALOG, "pro");
    for (int i = 0; i < OTHERS; i++) {
      merchant.subscribe(Map.of("customerId", merchant.customerId("other-" + i), "planId", pro));
    }
    customer = merchant.customerId("odd");
    odd =
        (String)
            merchant
                .subscribe(
                    Map.of("customerId", customer, "planId", merchant.planId(CATALOG, "odd")))
                .get("id");
    use(4, "2040-01-10T00:00:00Z");
    use(5, "2040-02-10T00:00:00Z");
    // what makes the invoice impossible may make counting so
    String waiting =
        """
        SELECT (SELECT count(*) FROM event_batch WHERE merchant_id = '%1$s')
             + (SELECT count(*) FROM subscription_period
                 WHERE merchant_id = '%1$s' AND ready_until < period_end)
        """
            .formatted(Id.parse(IdKind.MERCHANT, merchant.id()).orElseThrow().uuid());
    assertThat(
            Merchant.eventually(() -> Tables.query(app.database(), waiting), List.of("0")::equals))
        .containsExactly("0");
  }

  private void use(long count, String at) {
    Answer answer =
        merchant.post(
            "/external/event/", merchant.event(customer, "call", count, null, Instant.parse(at)));
    assertThat(answer.status()).isEqualTo(202);
  }

  private static UUID uuid(String subscription) {
    return Id.parse(IdKind.SUBSCRIPTION, subscription).orElseThrow().uuid();
  }

  private void sql(String statement) {
    PostgresSupport.execute(app.database(), filled(statement));
  }

  private String one(String query) {
    return Tables.query(app.database(), filled(query)).getFirst();
  }

  private String filled(String sql) {
    String price =
        Tables.query(
                app.database(),
                "SELECT p.id FROM price p JOIN subscription s ON s.plan_id = p.plan_id"
                    + " WHERE NOT p.is_base AND s.id = '%s'".formatted(uuid(odd)))
            .getFirst();
    return sql.replace("{id}", uuid(odd).toString()).replace("{price}", price);
  }

  private Answer resume(String subscription) {
    return merchant.operator("POST", "/subscriptions/" + subscription + "/resume").send();
  }

  /** {@code boundary status total} of each invoice, by boundary. */
  private List<String> invoices(String where) {
    return Tables.query(
        app.database(),
        """
        SELECT format('%s %s %s', i.boundary_index, i.status, i.total::numeric(9, 2))
          FROM invoice i JOIN merchant m ON m.id = i.merchant_id
         WHERE {where} ORDER BY i.boundary_index, i.vanity_id
        """
            .replace("{where}", where));
  }

  private List<String> oddInvoices() {
    return invoices("i.subscription_id = '" + uuid(odd) + "'");
  }

  private void othersHave(int count) {
    List<Map<String, Object>> others = new ArrayList<>(merchant.invoices());
    others.removeIf(each -> each.get("subscriptionId").equals(odd));
    assertThat(others).hasSize(OTHERS * count);
    assertThat(others).allMatch(each -> each.get("status").equals("test"));
  }

  /** {@code from to actor} of each change of the odd subscription, or of one of its invoices. */
  private List<String> record(String subject) {
    return Tables.query(
        app.database(),
        filled(
            """
            SELECT concat_ws(' ', from_status, to_status, actor)
              FROM transition WHERE subject_id = (%s) ORDER BY id
            """
                .formatted(subject)));
  }

  private static String invoiceAt(int boundary) {
    return "SELECT id FROM invoice WHERE subscription_id = '{id}' AND boundary_index = " + boundary;
  }

  private void isClean() {
    Answer report = merchant.operator("GET", "/integrity").send(200);
    assertThat(report.<List<?>>at("findings")).isEmpty();
    assertThat(report.<Boolean>at("clean")).isTrue();
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void oneIsParkedTheOthersAreBilledAndAfterMendingItCatchesUp(Fault fault) {
    sql(fault.breaking);

    merchant.at("2040-03-05T00:00:00Z");

    othersHave(3);
    assertThat(oddInvoices()).containsExactly("0 test 9.00", "1 paused 0.00");
    assertThat(
            one(
                "SELECT paused_reason FROM invoice WHERE status = 'paused'"
                    + " AND subscription_id = '{id}'"))
        .isNotBlank();
    assertThat(app.service().metrics().scrape())
        .doesNotContain("steelyard_billing_parked_total 0.0");

    sql(fault.mending);
    Answer resumed = resume(odd);

    assertThat(resumed.status()).as(resumed.text()).isEqualTo(200);
    assertThat(resumed.<Object>at("parkedAt")).isNull();
    assertThat(resumed.<Object>at("parkedReason")).isNull();
    assertThat(oddInvoices()).containsExactly("0 test 9.00", "1 test 21.00", "2 test 24.00");
    assertThat(
            one(
                "SELECT count(*) FROM invoice WHERE subscription_id = '{id}'"
                    + " AND paused_reason IS NOT NULL"))
        .isEqualTo("0");
    assertThat(record("SELECT '{id}'::uuid"))
        .containsExactly("active parked billing", "parked active operator");
    assertThat(record(invoiceAt(1)))
        .containsExactly("draft paused billing", "paused pending billing", "pending test billing");
    assertThat(record(invoiceAt(2))).containsExactly("pending test billing");
    isClean();
  }

  @Test
  void theRecordTellsWhoResumedItAndWhy() {
    sql(Fault.REFUSED_PERIOD.breaking);
    merchant.at("2040-02-05T00:00:00Z");
    String reason = one("SELECT parked_reason FROM subscription WHERE id = '{id}'");
    sql(Fault.REFUSED_PERIOD.mending);

    Answer resumed = resume(odd);

    String told =
        """
        SELECT concat_ws(' ', to_status, at AT TIME ZONE 'UTC', recorded_at IS NOT NULL,
                         coalesce(request_id, 'nobody'), reason)
          FROM transition WHERE subject_id = (%s) ORDER BY id
        """;
    assertThat(Tables.query(app.database(), filled(told.formatted("SELECT '{id}'::uuid"))))
        .containsExactly(
            "parked 2040-02-05 00:00:00 t nobody " + reason,
            "active 2040-02-05 00:00:00 t " + resumed.header("x-request-id") + " resumed");
    assertThat(Tables.query(app.database(), filled(told.formatted(invoiceAt(1)))).getFirst())
        .isEqualTo("paused 2040-02-05 00:00:00 t nobody " + reason);
  }

  /** The plan's net terms, too, which were not known when it was parked. */
  @Test
  void whatIsPendingAfterTheResumeBecomesFinalByItsPlansTerms() {
    sql(Fault.REFUSED_PERIOD.breaking);
    merchant.at("2040-02-01T01:00:00Z");
    sql(Fault.REFUSED_PERIOD.mending);
    resume(odd);
    assertThat(oddInvoices()).containsExactly("0 test 9.00", "1 pending 21.00");

    merchant.at("2040-02-05T00:00:00Z");

    assertThat(
            one(
                """
                SELECT concat_ws(' ', net_terms, issue_date AT TIME ZONE 'UTC',
                                 date(due_date AT TIME ZONE 'UTC'))
                  FROM invoice WHERE subscription_id = '{id}' AND boundary_index = 1
                """))
        .isEqualTo("net30 2040-02-01 12:00:00 2040-03-02");
    assertThat(record(invoiceAt(1)))
        .containsExactly("draft paused billing", "paused pending billing", "pending test billing");
  }

  @Test
  void whatItWillCorrectIsForeseenWhileAnInvoiceCannotBeMade() {
    merchant.at("2040-02-05T00:00:00Z");
    use(1, "2040-01-20T00:00:00Z");
    String refused = Fault.REFUSED_PERIOD.breaking.replace("= 0", "< 2");
    sql(refused);
    merchant.at("2040-03-05T00:00:00Z");
    assertThat(oddInvoices()).containsExactly("0 test 9.00", "1 test 21.00", "2 paused 0.00");

    Answer upcoming = merchant.get("/external/subscriptions/" + odd + "/upcoming-invoice");

    assertThat(upcoming.<List<Map<String, Object>>>at("invoiceLineItems"))
        .extracting(line -> line.get("amount").toString())
        .containsExactly("9", "15", "3");
    sql(Fault.REFUSED_PERIOD.mending);
    resume(odd);
    assertThat(oddInvoices()).last().isEqualTo("2 test 27.00");
  }

  @Test
  void whatStandsForAnInvoiceCannotBeVoided() {
    sql(Fault.REFUSED_PERIOD.breaking);
    merchant.at("2040-02-05T00:00:00Z");
    Object paused =
        merchant.invoices().stream()
            .filter(each -> each.get("status").equals("paused"))
            .findFirst()
            .orElseThrow()
            .get("id");

    Answer refused =
        merchant.operator("POST", "/invoices/" + paused + "/void").json(Map.of()).send();

    assertThat(refused.problem()).isEqualTo("409 illegal_transition []");
    sql(Fault.REFUSED_PERIOD.mending);
  }

  @Test
  void aRowThatDoesNotBecomeTheInvoiceLeavesItParked() {
    sql(Fault.REFUSED_PERIOD.breaking);
    merchant.at("2040-02-05T00:00:00Z");
    sql(Fault.REFUSED_PERIOD.mending);
    sql(
        """
        CREATE FUNCTION leave_it() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
        CREATE TRIGGER leave_it BEFORE UPDATE ON invoice FOR EACH ROW
          WHEN (OLD.subscription_id = '{id}' AND OLD.status = 'paused')
          EXECUTE FUNCTION leave_it()
        """);

    Answer resumed = resume(odd);

    sql("DROP FUNCTION leave_it CASCADE");
    assertThat(resumed.<String>at("parkedReason")).contains("not paused any more");
    assertThat(oddInvoices()).containsExactly("0 test 9.00", "1 paused 0.00");
    assertThat(one("SELECT period_index FROM subscription WHERE id = '{id}'")).isEqualTo("0");
    assertThat(record("SELECT '{id}'::uuid"))
        .containsExactly(
            "active parked billing", "parked active operator", "active parked billing");
    assertThat(resume(odd).<Object>at("parkedAt")).isNull();
    assertThat(oddInvoices()).containsExactly("0 test 9.00", "1 test 21.00");
    isClean();
  }

  @Test
  void resumedTooEarlyItIsParkedAgainUnderTheSameInvoice() {
    sql(Fault.REFUSED_PERIOD.breaking);
    merchant.at("2040-02-05T00:00:00Z");
    Object number = merchant.invoices().getLast().get("vanityId");

    Answer resumed = resume(odd);

    assertThat(resumed.status()).as(resumed.text()).isEqualTo(200);
    assertThat(resumed.<String>at("parkedAt")).isEqualTo("2040-02-05T00:00:00.000Z");
    assertThat(resumed.<String>at("parkedReason")).isNotBlank();
    assertThat(oddInvoices()).containsExactly("0 test 9.00", "1 paused 0.00");
    assertThat(merchant.invoices().getLast()).containsEntry("vanityId", number);
    sql(Fault.REFUSED_PERIOD.mending);
    assertThat(resume(odd).<Object>at("parkedAt")).isNull();
    assertThat(oddInvoices()).containsExactly("0 test 9.00", "1 test 21.00");
    isClean();
  }

  @Test
  void onlyWhatIsParkedIsResumed() {
    assertThat(resume(odd).problem()).isEqualTo("409 subscription_not_parked []");
    assertThat(resume("sub_01jd3c5m8yf5kznwj47tan9zt2").status()).isEqualTo(404);
    Merchant stranger = app.merchant("test", null);
    assertThat(stranger.operator("POST", "/subscriptions/" + odd + "/resume").send().status())
        .isEqualTo(404);
  }

  @Test
  void anInvoiceThatCannotBeMadeFinalIsPausedAndResumed() {
    merchant.at("2040-02-01T01:00:00Z");
    assertThat(oddInvoices()).containsExactly("0 test 9.00", "1 pending 21.00");
    sql(
        """
        ALTER TABLE invoice ADD CONSTRAINT "final {id}"
        CHECK (subscription_id <> '{id}' OR status IN ('pending', 'paused') OR boundary_index = 0)
        """);

    merchant.at("2040-02-05T00:00:00Z");

    othersHave(2);
    assertThat(oddInvoices()).containsExactly("0 test 9.00", "1 paused 21.00");
    assertThat(one("SELECT parked_reason FROM subscription WHERE id = '{id}'")).isNotBlank();
    assertThat(resume(odd).<String>at("parkedReason")).isNotBlank();
    assertThat(oddInvoices()).containsExactly("0 test 9.00", "1 paused 21.00");

    sql("ALTER TABLE invoice DROP CONSTRAINT \"final {id}\"");
    use(1, "2040-01-11T00:00:00Z");
    assertThat(resume(odd).<Object>at("parkedReason")).isNull();
    assertThat(oddInvoices()).containsExactly("0 test 9.00", "1 test 24.00");
    assertThat(record(invoiceAt(1)))
        .containsExactly(
            "pending paused billing",
            "paused pending operator",
            "pending paused billing",
            "paused pending operator",
            "pending test billing");
    assertThat(record("SELECT '{id}'::uuid")).hasSize(4);
    merchant.at("2040-03-05T00:00:00Z");
    assertThat(oddInvoices()).containsExactly("0 test 9.00", "1 test 24.00", "2 test 24.00");
    isClean();
  }

  /** However long it takes: nobody used these units meanwhile, and nobody may lose them. */
  @Test
  void whatWouldRollOverWaitsForAParkedSubscription() throws Exception {
    merchant = app.merchant("test", UNITS).at("2040-01-01T00:00:00Z");
    customer = merchant.customerId("odd");
    String plan = merchant.planId(UNITS, "odd");
    odd = (String) merchant.subscribe(Map.of("customerId", customer, "planId", plan)).get("id");
    sql(Fault.REFUSED_PERIOD.breaking);

    merchant.at("2040-02-20T00:00:00Z");

    String ledger =
        """
        SELECT string_agg(concat(t.type, ' ', trim_scale(t.amount)), ', ' ORDER BY t.id)
          FROM credit_transaction t JOIN allocation_block b ON b.id = t.allocation_block_id
         WHERE b.subscription_id = '{id}'
        """;
    assertThat(one(ledger)).isEqualTo("planAllocation 100");
    sql(Fault.REFUSED_PERIOD.mending);
    assertThat(resume(odd).<Object>at("parkedAt")).isNull();
    assertThat(one(ledger))
        .isEqualTo(
            "planAllocation 100, planAllocation 100, rollover -30, rollover 30, expiration -70");
    isClean();
  }

  /** Its end comes within the grace of its last boundary. */
  @Test
  void nobodyWaitsForThePendingInvoiceOfAParkedSubscription() {
    odd =
        (String)
            merchant
                .subscribe(
                    Map.of(
                        "customerId",
                        customer,
                        "planId",
                        merchant.planId(CATALOG, "odd"),
                        "endDate",
                        "2040-02-01T06:00:00Z"))
                .get("id");
    merchant.at("2040-02-01T01:00:00Z");
    sql(
        """
        ALTER TABLE subscription ADD CONSTRAINT "end {id}"
        CHECK (id <> '{id}' OR status <> 'ended')
        """);

    merchant.at("2040-02-05T00:00:00Z");

    assertThat(oddInvoices()).containsExactly("0 test 9.00", "1 pending 12.08", "2 paused 0.00");
    sql("ALTER TABLE subscription DROP CONSTRAINT \"end {id}\"");
    assertThat(resume(odd).<Object>at("parkedAt")).isNull();
    assertThat(oddInvoices()).containsExactly("0 test 9.00", "1 test 12.08", "2 paid 0.00");
    isClean();
  }
}
