package io.steelyard.billing;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is billed once more, or not at all, when something changes after the fact. */
class CorrectionsIT {
  private static final String CATALOG_WITH_UNITS =
      Account.CATALOG
          + """
              allocations:
                - {customPricingUnit: credits, amount: 1000, billingCadence: monthly}
          """;

  private static TestApp app;

  @BeforeAll
  static void start() {
    app = TestApp.start(Map.of("billing.pollMs", "50"));
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  /** The indexes of the invoices that have a line. */
  private static int[] invoicesWith(Account account, String line) {
    return IntStream.range(0, account.invoices())
        .filter(i -> account.lines(i).contains(line))
        .toArray();
  }

  /** {@code 0 t} for a period to be corrected, and whether its subscription has ended. */
  private static List<String> toCorrect(Account account) {
    UUID merchant = Id.parse(IdKind.MERCHANT, account.merchant().id()).orElseThrow().uuid();
    return Tables.query(
        app.database(),
        "SELECT format('%%s %%s', period_index, ended) FROM rebill WHERE merchant_id = '%s'"
            .formatted(merchant));
  }

  @Test
  void anUpcomingSubscriptionWithAnEndIsRenewed() {
    Account account = Account.of(app, Account.CATALOG);
    String id =
        account.subscribe("startDate", "2040-02-10T00:00:00Z", "endDate", "2040-02-20T00:00:00Z");

    assertThat(account.change(id, "renew").object())
        .containsEntry("status", "pendingActivation")
        .containsEntry("endDate", null);

    account.at("2040-03-01T00:00:00Z");
    assertThat(account.read(id)).containsEntry("status", "active").containsEntry("endDate", null);
    assertThat(account.lines(0)).containsExactly("2040-02-10..2040-03-10 1 49.00");
  }

  @Test
  void whatRenewingGivesBackOfAPeriodIsBilledOnceAndOnTheNextInvoice() {
    Account account = Account.of(app, Account.CATALOG);
    String id = account.subscribe("endDate", "2040-03-15T12:00:00Z");
    account.at("2040-02-29T18:00:00Z");
    assertThat(account.invoice(1)).containsEntry("status", "pending");

    account.change(id, "renew");
    account.at("2040-03-01T00:00:00Z");

    assertThat(account.lines(1))
        .containsExactly(
            "2040-02-29..2040-03-15 1 23.71", // 15 of 31 days
            "2040-01-31..2040-02-29 0 0.00");
    account.at("2040-05-01T12:00:00Z");
    assertThat(account.lines(2))
        .containsExactly(
            "2040-03-31..2040-04-30 1 49.00",
            "2040-02-29..2040-03-31 0 0.00",
            "2040-02-29..2040-03-31 1 25.29");
    assertThat(account.lines(3))
        .containsExactly("2040-04-30..2040-05-31 1 49.00", "2040-03-31..2040-04-30 0 0.00");
  }

  @Test
  void whatIsLateForLongWhenASubscriptionEndsIsOnItsLastInvoiceAlone() {
    Account account = Account.subscribed(app);
    account.at("2040-03-05T00:00:00Z");
    account.change(account.subscription(), "cancel");
    account.call(4, "2040-02-10T00:00:00Z");

    account.at("2040-03-31T18:00:00Z");
    assertThat(account.invoices()).isEqualTo(3);
    assertThat(account.invoice(2)).containsEntry("status", "pending");
    // should that invoice never be final, nothing else comes for the correction to wait for
    assertThat(toCorrect(account)).containsExactly("0 t");
    account.at("2040-04-01T00:00:00Z");
    account.at("2040-05-01T00:00:00Z");

    assertThat(account.invoices()).isEqualTo(3);
    assertThat(account.lines(2))
        .containsExactly("2040-02-29..2040-03-31 0 0.00", "2040-01-31..2040-02-29 4 4.00");
  }

  @Test
  void whatIsLateBeforeAJumpIsOnTheFirstInvoiceOfTheJump() {
    Account account = Account.subscribed(app);
    account.at("2040-03-10T00:00:00Z");
    account.call(4, "2040-02-10T00:00:00Z");

    account.at("2040-06-10T00:00:00Z");

    assertThat(account.invoices()).isEqualTo(5);
    assertThat(invoicesWith(account, "2040-01-31..2040-02-29 4 4.00")).containsExactly(2);
  }

  @Test
  void whatIsLateWhileAnInvoiceIsPendingIsOnThatEvenOverAJump() {
    Account account = Account.subscribed(app);
    account.at("2040-03-31T18:00:00Z");
    assertThat(account.invoice(2)).containsEntry("status", "pending");
    account.call(4, "2040-02-10T00:00:00Z");

    account.at("2040-06-10T00:00:00Z");

    assertThat(account.invoices()).isEqualTo(5);
    assertThat(invoicesWith(account, "2040-01-31..2040-02-29 4 4.00")).containsExactly(2);
  }

  @Test
  void whatAPendingInvoiceCorrectsIsBilledOnceAlsoWhenSomebodyWouldPayItNow() {
    Account account = Account.subscribed(app);
    account.at("2040-03-10T00:00:00Z");
    account.call(4, "2040-02-10T00:00:00Z");
    account.at("2040-03-31T18:00:00Z");
    assertThat(account.lines(2)).contains("2040-01-31..2040-02-29 4 4.00");
    String pay = "/invoices/" + account.invoice(2).get("id") + "/pay";

    Answer refused = account.merchant().operator("POST", pay).send();

    assertThat(refused.status()).as(refused.text()).isEqualTo(409);
    assertThat(refused.<String>at("code")).isEqualTo("illegal_transition");
    assertThat(refused.<String>at("detail"))
        .startsWith("The invoice is pending and cannot become or be paid. It is not final yet:");
    assertThat(account.invoice(2)).containsEntry("status", "pending");
    account.at("2040-06-10T00:00:00Z");
    assertThat(invoicesWith(account, "2040-01-31..2040-02-29 4 4.00")).containsExactly(2);
    assertThat(toCorrect(account)).isEmpty();
    assertThat(account.merchant().operator("POST", pay).send(200).<String>at("issueDate"))
        .isEqualTo("2040-04-01T00:00:00.000Z");
  }

  @Test
  void whatAPendingInvoiceCorrectsIsNotForeseenForTheNext() {
    String late = "2040-01-31..2040-02-29 4 4.00";
    Account account = Account.subscribed(app);
    String id = account.subscription();
    account.at("2040-03-10T00:00:00Z");
    account.call(4, "2040-02-10T00:00:00Z");
    account.at("2040-03-11T00:00:00Z");
    assertThat(Account.shown(account.preview(id))).contains(late);

    account.at("2040-03-31T18:00:00Z");
    assertThat(account.invoice(2)).containsEntry("status", "pending");
    assertThat(account.lines(2)).contains(late);

    assertThat(Account.shown(account.preview(id)))
        .containsExactly("2040-04-30..2040-05-31 1 49.00", "2040-03-31..2040-04-30 0 0.00");
    account.call(2, "2040-02-11T00:00:00Z");
    account.at("2040-03-31T19:00:00Z");
    assertThat(Account.shown(account.preview(id))).as("that is on the pending one too").hasSize(2);
    account.at("2040-04-02T00:00:00Z");
    assertThat(account.lines(2)).contains("2040-01-31..2040-02-29 6 6.00");
    assertThat(Account.shown(account.preview(id))).hasSize(2);
    account.call(1, "2040-02-12T00:00:00Z");
    account.at("2040-04-03T00:00:00Z");
    assertThat(Account.shown(account.preview(id))).contains("2040-01-31..2040-02-29 7 1.00");
  }

  private static Answer rebill(Account account, String subscription, Object period) {
    return account
        .merchant()
        .operator("POST", "/subscriptions/" + subscription + "/rebill")
        .json(Map.of("period", period))
        .send();
  }

  private static List<String> findings(Account account) {
    return account
        .merchant()
        .operator("GET", "/integrity")
        .send(200)
        .<List<Map<String, Object>>>at("findings")
        .stream()
        .map(each -> each.get("check") + " " + each.get("detail"))
        .toList();
  }

  /** As an older build may have rounded it. */
  private static void billedACentLess(Account account, int invoice) {
    UUID id = Id.parse(IdKind.INVOICE, (String) account.invoice(invoice).get("id")).get().uuid();
    PostgresSupport.execute(
        app.database(),
        """
        UPDATE invoice_line_item SET amount = amount - 0.01, exact_amount = exact_amount - 0.01
         WHERE invoice_id = '%1$s' AND kind = 'arrears';
        UPDATE invoice SET total = total - 0.01 WHERE id = '%1$s'
        """
            .formatted(id));
  }

  @Test
  void whatWasBilledOtherwiseThanItCostsIsSettledByBillingThePeriodAnew() {
    Account account = Account.subscribed(app);
    String id = account.subscription();
    account.call(12, "2040-02-10T00:00:00Z");
    account.at("2040-02-29T18:00:00Z");
    assertThat(rebill(account, id, 0).problem()).isEqualTo("409 period_not_billed []");
    account.at("2040-03-10T00:00:00Z");
    billedACentLess(account, 1);
    assertThat(findings(account))
        .singleElement()
        .asString()
        .startsWith("usage period 0, ")
        .endsWith(": 10.99 was billed, its usage costs 11.00");

    assertThat(rebill(account, id, 0).object())
        .isEqualTo(Map.of("subscriptionId", id, "period", 0));
    assertThat(rebill(account, id, 0).status()).isEqualTo(200);
    account.at("2040-06-10T00:00:00Z");

    assertThat(invoicesWith(account, "2040-01-31..2040-02-29 12 0.01")).containsExactly(2);
    assertThat(account.lines(3)).hasSize(2);
    assertThat(findings(account)).isEmpty();
  }

  @Test
  void anEndedSubscriptionsPeriodIsBilledAnewOnAnInvoiceOfItsOwn() {
    Account account = Account.subscribed(app);
    String id = account.subscription();
    account.call(12, "2040-02-10T00:00:00Z");
    account.change(id, "cancel");
    account.at("2040-03-10T00:00:00Z");
    assertThat(account.invoices()).isEqualTo(2);
    assertThat(rebill(account, id, 0).status()).isEqualTo(200);
    account.at("2040-03-20T00:00:00Z");
    assertThat(account.invoices()).as("nothing is wrong").isEqualTo(2);
    billedACentLess(account, 1);

    assertThat(rebill(account, id, 0).status()).isEqualTo(200);
    account.at("2040-03-30T00:00:00Z");

    assertThat(account.lines(2)).containsExactly("2040-01-31..2040-02-29 12 0.01");
    assertThat(findings(account)).isEmpty();
  }

  @Test
  void onlyAPeriodThatWasBilledIsBilledAnew() {
    Account account = Account.subscribed(app);
    String id = account.subscription();
    Account other = Account.subscribed(app);

    assertThat(rebill(account, id, 0).problem()).isEqualTo("409 period_not_billed []");
    assertThat(rebill(account, id, 1).problem())
        .isEqualTo("422 unknown_period [/period unknown_period]");
    assertThat(rebill(other, id, 0).problem()).isEqualTo("404 subscription_not_found []");
    assertThat(rebill(account, "x", 0).problem()).isEqualTo("404 subscription_not_found []");
    assertThat(rebill(account, id, -1).faults()).containsExactly("/period minimum");
    assertThat(rebill(account, id, 1L << 31).faults()).containsExactly("/period maximum");
    assertThat(rebill(account, id, "0").faults()).containsExactly("/period type");
    assertThat(toCorrect(account)).isEmpty();
  }

  @Test
  void theUsageOfAVoidInvoiceIsBilledAndItsUnitsAreDrawnByTheNext() {
    Account account = Account.subscribed(app);
    account
        .merchant()
        .allocate(account.customer(), account.merchant().unitId(Account.CATALOG), "1000", null);
    account.call(12, "2040-02-10T00:00:00Z");
    account.use("token", 20, "2040-02-10T00:00:00Z");
    account.at("2040-03-10T00:00:00Z");
    assertThat(account.lines(1)).contains("2040-01-31..2040-02-29 12 11.00");
    assertThat(account.remaining()).isEqualTo(980);

    makeVoid(account, 1);
    assertThat(account.remaining()).isEqualTo(1000);
    account.at("2040-05-10T00:00:00Z");

    assertThat(account.lines(2))
        .containsExactly(
            "2040-03-31..2040-04-30 1 49.00",
            "2040-02-29..2040-03-31 0 0.00",
            "2040-01-31..2040-02-29 12 11.00");
    assertThat(account.lines(3))
        .containsExactly("2040-04-30..2040-05-31 1 49.00", "2040-03-31..2040-04-30 0 0.00");
    assertThat(account.remaining()).isEqualTo(980);
    assertThat(account.transactions())
        .containsExactly(
            "2040-01-31 manualAllocation 1000",
            "usage -20",
            "2040-03-10 reversal 20",
            "2040-04-01 usage -20");
  }

  private static void makeVoid(Account account, int invoice) {
    account
        .merchant()
        .operator("POST", "/invoices/" + account.invoice(invoice).get("id") + "/void")
        .send(200);
  }

  /** Without calls, the usage costs nothing but units. */
  @ParameterizedTest
  @ValueSource(ints = {0, 12})
  void anInvoiceThatTookOverTheUsageOfAVoidOneGivesItsUnitsBackToo(int calls) {
    Account account = Account.subscribed(app);
    account
        .merchant()
        .allocate(account.customer(), account.merchant().unitId(Account.CATALOG), "1000", null);
    account.call(calls, "2040-02-10T00:00:00Z");
    account.use("token", 60, "2040-02-10T00:00:00Z");
    account.at("2040-03-10T00:00:00Z");
    account.use("token", 5, "2040-03-09T00:00:00Z");
    makeVoid(account, 1);
    account.at("2040-04-10T00:00:00Z");
    assertThat(account.remaining()).isEqualTo(935);

    makeVoid(account, 2);

    assertThat(account.remaining()).isEqualTo(1000);
    assertThat(toCorrect(account)).containsExactlyInAnyOrder("0 f", "1 f");
    account.use("token", 3, "2040-02-11T00:00:00Z");
    account.call(1, "2040-02-11T00:00:00Z");
    account.at("2040-05-10T00:00:00Z");
    assertThat(account.remaining()).isEqualTo(932);
    account.call(1, "2040-02-12T00:00:00Z");
    account.at("2040-06-10T00:00:00Z");
    assertThat(account.lines(4)).hasSize(3);
    makeVoid(account, 4);
    assertThat(account.remaining())
        .as("what the invoice before has drawn again is that one's")
        .isEqualTo(932);
    assertThat(findings(account)).isEmpty();
  }

  @Test
  void aPeriodAfterWhichNoInvoiceComesIsBilledAnewWhenTheSubscriptionHasBeenCancelled() {
    Account account =
        Account.of(
            app,
            Account.CATALOG.replace("{monthly: 49, annually: 490}", "{oneTime: 900}")
                + """
                    trialDays: 10
                    chargeForUsageBasedPricesDuringTrial: true
                defaultPlan: pro
                """);
    String id = account.subscription();
    account.call(12, "2040-02-05T00:00:00Z");
    account.at("2040-02-20T00:00:00Z");
    int last = account.invoices() - 1;
    assertThat(account.lines(last)).contains("2040-01-31..2040-02-10 12 11.00");
    billedACentLess(account, last);
    assertThat(rebill(account, id, 1).problem()).isEqualTo("409 period_not_billed []");

    assertThat(rebill(account, id, 0).problem()).isEqualTo("409 no_further_invoice []");
    assertThat(toCorrect(account)).isEmpty();
    assertThat(findings(account)).hasSize(1);
    account.change(id, "cancel");
    assertThat(rebill(account, id, 0).status()).isEqualTo(200);
    account.at("2040-03-20T00:00:00Z");

    assertThat(account.lines(last + 1)).contains("2040-01-31..2040-02-10 12 0.01");
    assertThat(findings(account)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theUnitsOfTheNextPeriodPayForTheUsageOfAVoidInvoice(boolean jump) {
    Account account = Account.of(app, CATALOG_WITH_UNITS);
    account.subscribe();
    account.use("token", 20, "2040-02-10T00:00:00Z");
    account.call(1, "2040-02-10T00:00:00Z");
    account.at("2040-03-10T00:00:00Z");
    makeVoid(account, 1);
    assertThat(account.remaining()).isEqualTo(1000);

    if (!jump) {
      account.at("2040-03-31T18:00:00Z");
    }
    account.at("2040-04-02T00:00:00Z");

    assertThat(account.remaining()).isEqualTo(980);
    assertThat(account.transactions()).contains("2040-04-01 usage -20");
  }

  @Test
  void aVoidInvoiceGivesBackTheUnitsOfItsOwnPeriodButNotOfOneThatItOnlyCorrects() {
    Account account = Account.of(app, CATALOG_WITH_UNITS);
    account.subscribe();
    account.use("token", 600, "2040-02-10T00:00:00Z");
    account.at("2040-03-10T00:00:00Z");
    account.use("token", 50, "2040-03-09T00:00:00Z");
    account.call(4, "2040-02-10T00:00:00Z");
    account.at("2040-04-05T00:00:00Z");
    String correction = "2040-01-31..2040-02-29 4 4.00";
    assertThat(account.lines(2)).contains(correction);

    makeVoid(account, 2);
    account.at("2040-05-10T00:00:00Z");

    assertThat(account.lines(3)).contains(correction);
    // the 600 are on the first invoice, which stands; the 50 are the void one's
    assertThat(account.transactions().stream().filter(each -> each.contains("usage -")))
        .containsExactlyInAnyOrder("usage -600", "usage -50", "2040-05-01 usage -50");
    assertThat(account.remaining()).isEqualTo(950);
  }

  @Test
  void theyDoAlsoWhereAnInvoiceIsFinalAtOnce() {
    Account account =
        Account.of(
            app,
            """
            customPricingUnits:
              - {key: credits, displayName: Credits, displayNameSingular: Credit, shortName: cr}
            billables:
              - slug: tokens
                name: Tokens
                eventQueryRules:
                  conditions: [[{key: eventName, rule: matches, value: token}]]
                  calculation: sum
                  overProperty: data.count
            plans:
              - externalId: pro
                name: Pro
                basePrices: {monthly: 49}
                prices:
                  - {name: Tokens, billable: tokens, billingMode: arrears, priceType: unit,
                     rules: {quantity: 1, price: 1}, usesCustomPricingUnit: true,
                     customPricingUnit: credits}
                allocations:
                  - {customPricingUnit: credits, amount: 1000, billingCadence: monthly}
            """);
    account.subscribe();
    account.use("token", 20, "2040-02-10T00:00:00Z");
    account.at("2040-03-10T00:00:00Z");
    makeVoid(account, 1);

    account.at("2040-03-31T12:00:00Z");

    assertThat(account.remaining()).isEqualTo(980);
  }
}
