package io.steelyard.integrity;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class IntegrityIT {
  private static TestApp app;
  private static Books others;

  @BeforeAll
  static void start() {
    app = TestApp.start();
    others = new Books(app);
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static final String BLOCK =
      "SELECT id FROM allocation_block WHERE subscription_id = {open}";
  private static final String LEDGER_BLOCK = "ledger blk " + BLOCK;
  private static final String CLOSED = " sub SELECT {closed}";
  private static final String ADVANCE_LINE =
      "SELECT id FROM invoice_line_item WHERE invoice_id = {invoice} AND kind = 'advance'";

  static List<Breakage> ledger() {
    return List.of(
        Breakage.of(
            "a remainder that its ledger does not explain",
            List.of(LEDGER_BLOCK),
            "UPDATE allocation_block SET remaining = remaining - 1 WHERE subscription_id = {open}"),
        Breakage.of(
            "a lost ledger row",
            List.of(LEDGER_BLOCK, LEDGER_BLOCK),
            """
            DELETE FROM credit_transaction WHERE id = (
              SELECT min(id::text)::uuid FROM credit_transaction
               WHERE merchant_id = {merchant} AND type = 'usage')
            """),
        Breakage.of(
            "units asked for but not drawn",
            List.of("ledger sub SELECT {open}"),
            "UPDATE credit_usage SET drawn = drawn - 1 WHERE subscription_id = {open}"),
        Breakage.of(
            "a draw that grew by itself",
            List.of("ledger sub SELECT {open}", LEDGER_BLOCK),
            "UPDATE credit_draw SET drawn = drawn + 1 WHERE subscription_id = {open}"));
  }

  static List<Breakage> periods() {
    return List.of(
        Breakage.of(
            "a gap between two periods",
            List.of("periods" + CLOSED),
            """
            UPDATE subscription_period
               SET period_end = '2031-02-28Z', ready_until = '2031-02-28Z'
             WHERE subscription_id = {closed} AND period_index = 0
            """),
        Breakage.of(
            "two periods that overlap",
            List.of("periods" + CLOSED),
            """
            UPDATE subscription_period SET period_start = '2031-02-27Z'
             WHERE subscription_id = {closed} AND period_index = 1
            """),
        Breakage.of(
            "a first period that begins late",
            List.of("periods" + CLOSED),
            """
            UPDATE subscription_period SET period_start = '2031-02-02Z'
             WHERE subscription_id = {closed} AND period_index = 0
            """),
        Breakage.of(
            "a period that is missing, and one too many",
            List.of("periods" + CLOSED, "periods" + CLOSED),
            """
            INSERT INTO subscription_period (merchant_id, subscription_id, period_index,
                customer_id, plan_id, period_start, period_end, is_trial, opened_at, ready_until)
            SELECT merchant_id, {closed}, 3, customer_id, plan_id, '2031-05-01Z', '2031-06-01Z',
                   false, opened_at, '2031-06-01Z'
              FROM subscription_period WHERE subscription_id = {open}
            """),
        Breakage.of(
            "periods behind the end",
            List.of("periods" + CLOSED, "periods" + CLOSED),
            "UPDATE subscription SET end_date = '2031-02-15Z' WHERE id = {closed}"),
        Breakage.of(
            "a trial that was none",
            List.of("periods" + CLOSED),
            """
            UPDATE subscription_period SET is_trial = true
             WHERE subscription_id = {closed} AND period_index = 1
            """),
        Breakage.of(
            "another period opened last",
            List.of("periods" + CLOSED),
            "UPDATE subscription SET period_index = 0 WHERE id = {closed}"));
  }

  static List<Breakage> usage() {
    return List.of(
        Breakage.of(
            "events counted twice, of what was billed",
            List.of("usage" + CLOSED, "usage" + CLOSED),
            """
            UPDATE usage_counter c SET events = 2 * events, sum = 2 * sum
              FROM price p
             WHERE c.subscription_id = {closed} AND c.period_index = 0
               AND p.id = {Calls} AND c.billable_id = p.billable_id
            """),
        Breakage.of(
            "events not counted at all",
            List.of("usage sub SELECT {open}"),
            "DELETE FROM usage_counter WHERE subscription_id = {open}"),
        Breakage.of(
            "an event that is gone",
            List.of("usage sub SELECT {open}", "usage" + CLOSED),
            """
            UPDATE event_chunk c
               SET content = (
                 SELECT coalesce(json_agg(e.event), '[]')
                   FROM json_array_elements(c.content::json) AS e (event)
                  WHERE e.event ->> 'k' <> (
                    SELECT min(key::text) FROM event
                     WHERE merchant_id = {merchant} AND name = 'tokens'))
             WHERE merchant_id = {merchant}
            """),
        Breakage.of(
            "a value counted as another one",
            List.of("usage" + CLOSED, "usage" + CLOSED),
            """
            UPDATE usage_counter c SET uniques = uniques + 1
              FROM price p
             WHERE c.subscription_id = {closed} AND c.period_index = 0
               AND p.id = {Users} AND c.billable_id = p.billable_id
            """),
        Breakage.of(
            "the wrong event taken for the latest",
            List.of("usage sub SELECT {open}"),
            """
            UPDATE usage_counter SET latest_at = latest_at - interval '1 second'
             WHERE subscription_id = {open}
            """));
  }

  static List<Breakage> billed() {
    return List.of(
        Breakage.of(
            "usage billed too high",
            List.of("usage" + CLOSED),
            "UPDATE invoice SET total = 54.51 WHERE id = {invoice}",
            """
            UPDATE invoice_line_item SET amount = 4, exact_amount = 4
             WHERE invoice_id = {invoice} AND price_id = {Users}
            """),
        Breakage.of(
            "usage billed by no line",
            List.of("usage" + CLOSED),
            "UPDATE invoice SET total = 50.51 WHERE id = {invoice}",
            "DELETE FROM invoice_line_item WHERE invoice_id = {invoice} AND price_id = {Users}"),
        Breakage.of(
            "usage billed by two lines",
            List.of("usage" + CLOSED, "usage" + CLOSED),
            "UPDATE invoice SET total = 54.51 WHERE id = {invoice}",
            """
            INSERT INTO invoice_line_item
            SELECT (json_populate_record(l, json_build_object('id', gen_random_uuid()))).*
              FROM invoice_line_item l WHERE invoice_id = {invoice} AND price_id = {Users}
            """),
        Breakage.of(
            "usage of a void invoice that nobody bills again",
            List.of("usage" + CLOSED, "usage" + CLOSED),
            "UPDATE invoice SET status = 'void' WHERE id = {invoice}"),
        Breakage.of(
            "a correction that waits for the invoice of an end that was not",
            List.of("usage" + CLOSED),
            """
            INSERT INTO rebill (merchant_id, subscription_id, period_index, usage, fixed, since,
                ended)
            VALUES ({merchant}, {closed}, 0, true, false, now(), true)
            """),
        Breakage.of(
            "usage from before invoices were to be made",
            List.of("usage" + CLOSED, "usage" + CLOSED),
            """
            UPDATE subscription SET invoice_generation_start_date = '2031-03-01Z'
             WHERE id = {closed}
            """));
  }

  static List<Breakage> totals() {
    return List.of(
        Breakage.of(
            "a total that is not the sum of its lines",
            List.of("totals inv SELECT {invoice}"),
            "UPDATE invoice SET total = total + 1 WHERE id = {invoice}"),
        Breakage.of(
            "an amount that was rounded wrongly",
            List.of("totals li " + ADVANCE_LINE),
            """
            UPDATE invoice_line_item SET exact_amount = 49.005
             WHERE invoice_id = {invoice} AND kind = 'advance'
            """));
  }

  static List<Breakage> numbers() {
    return List.of(
        Breakage.of(
            "a gap between two numbers",
            List.of("numbers inv SELECT {invoice}"),
            "UPDATE invoice SET vanity_id = 12 WHERE id = {invoice}",
            "UPDATE invoice_number SET last = 12 WHERE merchant_id = {merchant}"),
        Breakage.of(
            "a first number that is missing",
            List.of("numbers inv SELECT {invoice}"),
            "UPDATE allocation_block SET invoice_id = NULL WHERE merchant_id = {merchant}",
            """
            DELETE FROM invoice_line_item WHERE invoice_id IN (
              SELECT id FROM invoice WHERE subscription_id = {open})
            """,
            "DELETE FROM invoice WHERE subscription_id = {open}"),
        Breakage.of(
            "a number that was given to nobody",
            List.of("numbers mer SELECT {merchant}"),
            "UPDATE invoice_number SET last = last + 1 WHERE merchant_id = {merchant}"),
        Breakage.of(
            "a number given twice",
            List.of("numbers inv SELECT max(id::text) FROM invoice WHERE merchant_id = {merchant}"),
            "ALTER TABLE invoice DROP CONSTRAINT IF EXISTS invoice_merchant_id_vanity_id_key",
            "UPDATE invoice SET vanity_id = 1 WHERE merchant_id = {merchant}",
            "UPDATE invoice_number SET last = 1 WHERE merchant_id = {merchant}"),
        Breakage.of(
            "a line on the invoice of another boundary",
            List.of("numbers li " + ADVANCE_LINE),
            """
            UPDATE invoice_line_item SET period_index = 0
             WHERE invoice_id = {invoice} AND kind = 'advance'
            """),
        Breakage.of(
            "two invoices for one boundary",
            List.of("numbers" + CLOSED),
            """
            ALTER TABLE invoice
              DROP CONSTRAINT IF EXISTS invoice_subscription_id_boundary_index_key
            """,
            """
            UPDATE invoice SET subscription_id = {closed}, boundary_index = 1
             WHERE subscription_id = {open}
            """,
            """
            UPDATE invoice_line_item SET period_index = 1
             WHERE merchant_id = {merchant} AND kind = 'advance'
            """));
  }

  @ParameterizedTest
  @MethodSource({"ledger", "periods", "usage", "billed", "totals", "numbers"})
  void findsWhatIsBrokenAndNothingElse(Breakage breakage) {
    breakage.isFoundIn(new Books(app));
    assertThat(others.check().<Boolean>at("clean")).isTrue();
  }

  @Test
  void whatIsCleanSaysHowMuchWasLookedAt() {
    Answer report = new Books(app).check();

    assertThat(report.<Boolean>at("clean")).as(report.text()).isTrue();
    assertThat(report.<List<Map<String, Object>>>at("checks"))
        .extracting(check -> check.get("name") + " " + check.get("checked"))
        // 9 counters, and the 2 prices that the closed period was billed for
        .containsExactly(
            "ledger 1", "periods 3", "usage 11", "totals 2", "numbers 2", "references 4");
  }

  @Test
  void aDetailTellsWhatIsAndWhatShouldBe() {
    Books books = new Books(app);
    books.sql("UPDATE invoice SET total = 53 WHERE id = {invoice}");

    assertThat(books.check().<String>at("findings.0.detail"))
        .isEqualTo("the total is 53, the lines add up to 52.51");
  }

  @Test
  void whatIsStillToBeBilledIsNotJudged() {
    Books pending = new Books(app);
    pending.sql(
        "UPDATE invoice SET status = 'pending', total = 49 WHERE id = {invoice}",
        "DELETE FROM invoice_line_item WHERE invoice_id = {invoice} AND kind = 'arrears'");
    Books again = new Books(app);
    again.sql(
        "UPDATE invoice SET status = 'void' WHERE id = {invoice}",
        """
        INSERT INTO rebill (merchant_id, subscription_id, period_index, usage, fixed, since, ended)
        VALUES ({merchant}, {closed}, 0, true, false, now(), false)
        """);

    assertThat(Books.findings(pending.check())).isEmpty();
    assertThat(Books.findings(again.check())).isEmpty();
  }

  @Test
  void adjustmentsBelongToWhatWasBilled() {
    Books books = new Books(app);
    books.sql(
        "UPDATE invoice SET total = 51.51 WHERE id = {invoice}",
        """
        UPDATE invoice_line_item SET amount = 1, exact_amount = 1
         WHERE invoice_id = {invoice} AND price_id = {Users}
        """,
        "UPDATE invoice_number SET last = last + 1 WHERE merchant_id = {merchant}",
        """
        INSERT INTO invoice
        SELECT (json_populate_record(i, json_build_object('id', {Users}, 'boundary_index', 2,
                'vanity_id', i.vanity_id + 1, 'total', 1))).*
          FROM invoice i WHERE id = {invoice}
        """,
        """
        INSERT INTO invoice_line_item
        SELECT (json_populate_record(l, json_build_object('id', gen_random_uuid(),
                'invoice_id', {Users}, 'kind', 'adjustment', 'exact_amount', 2))).*
          FROM invoice_line_item l WHERE invoice_id = {invoice} AND price_id = {Users}
        """);

    assertThat(Books.findings(books.check())).isEmpty();
  }

  @Test
  void eventsOfABillableThatWasChangedAreCountedByTheRulesOfTheirPeriod() {
    Books books = new Books(app);

    books.merchant.applyCatalog(
        Books.CATALOG.replace("rule: matches, value: tokens", "rule: matches, value: others"));

    assertThat(Books.findings(books.check())).isEmpty();
  }

  @Test
  void moreThanAHundredFaultsAreCountedAndAHundredAreTold() {
    Books books = new Books(app);
    Map<String, String> subscription =
        Map.of("customerId", books.customer, "planId", books.merchant.planId(Books.CATALOG, "pro"));
    books
        .merchant
        .call("POST", "/external/subscriptions/bulk")
        .json(Collections.nCopies(104, subscription))
        .send(201);

    books.sql("UPDATE invoice SET total = total + 1 WHERE merchant_id = {merchant}");

    Answer report = books.check();
    List<Map<String, Object>> checks = report.at("checks");
    assertThat(checks).filteredOn("name", "totals").extracting("faults").containsExactly(106);
    assertThat(Books.findings(report)).filteredOn(each -> each.startsWith("totals")).hasSize(100);
  }

  @Test
  void workBesideItGivesNoFalseAlarm() throws Exception {
    Books books = new Books(app);
    AtomicBoolean done = new AtomicBoolean();
    try (ExecutorService sender = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Integer> sent = sender.submit(() -> sendUntil(done, books));
      List<String> findings = new ArrayList<>();
      for (int i = 0; i < 15; i++) {
        findings.addAll(Books.findings(books.check()));
      }
      done.set(true);

      assertThat(findings).isEmpty();
      assertThat(sent.get()).isGreaterThan(1);
    }
    books.awaitFolded();
    assertThat(Books.findings(books.check())).isEmpty();
  }

  private static int sendUntil(AtomicBoolean done, Books books) {
    int batches = 0;
    // each check counts all events anew: without a bound it may never catch up with them
    while (!done.get() && batches < 150) {
      List<Map<String, Object>> events = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        String key = batches + "-" + i;
        Instant at = Instant.parse("2031-03-12T00:00:00Z").plusMillis(i);
        events.add(
            books.merchant.event(books.customer, i % 2 == 0 ? "call" : "tokens", i, key, at));
      }
      books.send(events);
      batches++;
    }
    return batches;
  }

  @Test
  void whatTheClockworkDoesIsClean() throws Exception {
    Merchant merchant = app.merchant("test", "America/New_York", Books.CATALOG);
    merchant.at("2031-01-31T10:00:00Z");
    List<String> customers = List.of(merchant.customerId("one"), merchant.customerId("two"));
    String ending =
        (String)
            merchant
                .subscribe(
                    Map.of(
                        "customerId", customers.getFirst(),
                        "planId", merchant.planId(Books.CATALOG, "pro")))
                .get("id");
    for (int month = 1; month <= 6; month++) {
      merchant.at("2031-%02d-28T00:00:00Z".formatted(month + 1));
      List<Map<String, Object>> events = new ArrayList<>();
      for (String customer : customers) {
        for (int late = 0; late < month; late++) {
          Instant at = Instant.parse("2031-%02d-27T00:00:00Z".formatted(month + 1 - late));
          String key = customer + month + "-" + late;
          events.add(merchant.event(customer, "call", 7L * month + late, key, at));
          events.add(merchant.event(customer, "tokens", 9L + late, key + "t", at));
        }
      }
      merchant.call("POST", "/external/event/").json(events).send(202);
      assertThat(Books.findings(merchant.operator("GET", "/integrity").send(200))).isEmpty();
      if (month == 3) {
        merchant
            .call("POST", "/external/subscriptions/" + ending + "/cancel")
            .json(Map.of("externalCustomerId", "one"))
            .send(200);
      }
    }
    merchant.at("2031-12-31T00:00:00Z");

    Answer report = merchant.operator("GET", "/integrity").send(200);

    assertThat(Books.findings(report)).as(report.text()).isEmpty();
    assertThat(report.<List<Map<String, Object>>>at("checks"))
        .filteredOn("name", "periods")
        .extracting(check -> (Integer) check.get("checked"))
        .containsExactly(11 + 11 + 3);
  }

  @Test
  void manyEventsAreReadInPages() {
    Books books = new Books(app);
    for (int batch = 0; batch < 6; batch++) {
      List<Map<String, Object>> events = new ArrayList<>();
      for (int i = 0; i < 500; i++) {
        // several at the same instant, so that pages end between them
        Instant at = Instant.parse("2031-03-12T00:00:00Z").plusMillis(i / 50);
        events.add(books.merchant.event(books.customer, "call", i, batch + "/" + i, at));
      }
      books.send(events);
    }
    books.awaitFolded();

    assertThat(Books.findings(books.check())).isEmpty();
  }

  @Test
  void anUnknownMerchantIsNotFound() {
    Merchant nobody = new Merchant(app, "mer_01jd3c5m8ym9s346q3d25vt4f5", "");

    assertThat(nobody.operator("GET", "/integrity").send().problem())
        .startsWith("404 merchant_not_found");
  }
}
