package io.steelyard.billing;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
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

/** What a subscription goes through in its periods: trial, units, access, and when it is billed. */
class PeriodsIT {
  private static TestApp app;

  @BeforeAll
  static void start() {
    app = TestApp.start(Map.of("billing.pollMs", "50"));
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static String with(String planLines) {
    return Account.CATALOG + planLines.indent(4);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aTrialIsFreeButForUsageThatThePlanCharges(boolean charged) {
    Account account =
        Account.of(
            app,
            with("trialDays: 14\nchargeForUsageBasedPricesDuringTrial: " + charged)
                + "defaultPlan: pro\n");
    String id = account.subscription();
    account.call(12, "2040-02-10T00:00:00Z");
    account.call(3, "2040-02-20T00:00:00Z");
    assertThat(account.read(id)).containsEntry("isTrial", true);
    assertThat(account.lines(0)).containsExactly("2040-01-31..2040-02-14 1 0.00");

    account.at("2040-02-14T11:59:59.999Z");
    assertThat(account.read(id)).containsEntry("isTrial", true);
    account.at("2040-02-14T12:00:00Z");

    assertThat(account.read(id)).containsEntry("isTrial", false).containsEntry("status", "active");
    assertThat(account.invoice(1)).containsEntry("status", charged ? "pending" : "test");
    account.at("2040-03-20T00:00:00Z");
    assertThat(account.lines(1))
        .isEqualTo(
            charged
                ? List.of("2040-02-14..2040-03-14 1 49.00", "2040-01-31..2040-02-14 12 11.00")
                : List.of("2040-02-14..2040-03-14 1 49.00"));
    assertThat(account.lines(2))
        .containsExactly("2040-03-14..2040-04-14 1 49.00", "2040-02-14..2040-03-14 3 3.00");
  }

  @Test
  void anAnnualPlanAllocatesItsMonthlyUnitsEveryMonth() {
    Account account =
        Account.of(
            app,
            with(
                "allocations: [{customPricingUnit: credits, amount: 1000, billingCadence: monthly}]"));
    account.subscribe("billingCadence", "annually");
    account.use("token", 5, "2040-03-10T00:00:00Z");

    account.at("2041-01-31T11:59:59.999Z");

    assertThat(account.lines(0)).containsExactly("2040-01-31..2041-01-31 1 490.00");
    assertThat(account.invoices()).isEqualTo(1);
    assertThat(account.remaining()).isEqualTo(1000);
    assertThat(account.transactions().stream().filter(each -> each.contains("planAllocation")))
        .containsExactly(
            "2040-01-31 planAllocation 1000",
            "2040-02-29 planAllocation 1000",
            "2040-03-31 planAllocation 1000",
            "2040-04-30 planAllocation 1000",
            "2040-05-31 planAllocation 1000",
            "2040-06-30 planAllocation 1000",
            "2040-07-31 planAllocation 1000",
            "2040-08-31 planAllocation 1000",
            "2040-09-30 planAllocation 1000",
            "2040-10-31 planAllocation 1000",
            "2040-11-30 planAllocation 1000",
            "2040-12-31 planAllocation 1000");
    account.at("2041-01-31T12:00:00Z");
    assertThat(account.invoices()).isEqualTo(2);
    assertThat(account.transactions()).contains("2041-01-31 planAllocation 1000");
  }

  @Test
  void unitsThatAreLeftLiveOnePeriodLonger() {
    Account account =
        Account.of(
            app,
            with(
                "allocations: [{customPricingUnit: credits, amount: 100, billingCadence: monthly,"
                    + " rolloverMax: 30}]"));
    account.subscribe();
    account.at("2040-02-29T12:00:00Z");
    assertThat(account.remaining()).isEqualTo(130);
    account.at("2040-03-02T00:00:00Z");
    account.use("token", 50, "2040-03-01T12:00:00Z");
    account.at("2040-03-03T00:00:00Z");
    assertThat(account.remaining()).isEqualTo(80);

    account.at("2040-03-31T12:00:00Z");

    assertThat(account.remaining()).isEqualTo(130);
    account.at("2040-04-02T00:00:00Z");
    assertThat(account.transactions())
        .containsExactlyInAnyOrder(
            "2040-01-31 planAllocation 100",
            "2040-02-29 planAllocation 100",
            "2040-02-29 rollover -30",
            "2040-02-29 rollover 30",
            "2040-03-02 expiration -70",
            "usage -30",
            "usage -20",
            "2040-03-31 planAllocation 100",
            "2040-03-31 rollover -30",
            "2040-03-31 rollover 30",
            "2040-04-02 expiration -50");
  }

  /** Tokens are as many as there were last; a hundred are allocated each month. */
  private static final String LATEST =
      with("allocations: [{customPricingUnit: credits, amount: 100, billingCadence: monthly}]")
          .replaceFirst("(?s)(value: token}]].*?calculation: )sum", "$1latest");

  @Test
  void unitsGivenBackWithinTheGracePayForLateUsageOfTheirTime() {
    Account account = Account.of(app, LATEST);
    account.subscribe();
    account.use("token", 100, "2040-02-18T12:00:00Z");
    account.at("2040-02-29T13:00:00Z");
    account.use("token", 50, "2040-02-23T12:00:00Z");
    account.at("2040-02-29T13:00:01Z");
    account.use("token", 100, "2040-02-26T12:00:00Z");
    account.at("2040-02-29T13:00:02Z");

    assertThat(account.remaining()).isEqualTo(100);
    assertThat(account.transactions())
        .containsExactlyInAnyOrder(
            "2040-01-31 planAllocation 100",
            "2040-02-29 planAllocation 100",
            "usage -100",
            "reversal 50",
            "usage -50");
    account.use("token", 70, "2040-02-27T12:00:00Z");
    account.at("2040-03-01T00:00:00Z");
    assertThat(account.transactions()).contains("2040-03-01 expiration -30");
    assertThat(account.remaining()).isEqualTo(100);
  }

  @Test
  void aBackdatedSubscriptionGivesBackWhatItsPastPeriodsTurnOutNotToNeed() {
    Account account = Account.of(app, LATEST);
    account.use("token", 80, "2040-01-05T00:00:00Z");
    account.use("token", 20, "2040-01-06T00:00:00Z");
    account.use("token", 90, "2040-01-07T00:00:00Z");
    account.at("2040-02-10T00:00:00Z");

    account.subscribe("startDate", "2040-01-01T00:00:00Z");
    account.at("2040-02-10T00:00:01Z");

    assertThat(account.remaining()).isEqualTo(100);
    assertThat(account.transactions())
        .containsExactlyInAnyOrder(
            "2040-02-10 planAllocation 100",
            "2040-02-10 planAllocation 100",
            "usage -80",
            "reversal 60",
            "usage -70",
            "2040-02-10 expiration -10");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "allocations: [{customPricingUnit: credits, amount: 100, billingCadence: monthly}]",
        "allocations: []"
      })
  void renewedItHasItsUnitsForAsLongAsTheyWereAllocated(String changed) {
    Account account =
        Account.of(
            app,
            with(
                "allocations:"
                    + " [{customPricingUnit: credits, amount: 12000, billingCadence: annually}]"));
    String id = account.subscribe();
    account.at("2040-02-19T00:00:00Z");
    Account after = new Account(account.merchant(), account.customer(), with(changed));
    after.merchant().applyCatalog(after.catalog());
    after.at("2040-03-10T00:00:00Z");
    int monthly = changed.contains("100") ? 100 : 0;
    assertThat(after.remaining()).isEqualTo(12000 + monthly);

    after.change(id, "cancel");
    after.at("2040-03-11T00:00:00Z");
    after.change(id, "renew");

    assertThat(after.remaining()).isEqualTo(12000 + monthly);
    after.at("2041-01-31T11:59:59.999Z");
    assertThat(after.remaining()).isEqualTo(12000 + monthly);
    after.at("2041-01-31T12:00:00Z");
    assertThat(after.remaining()).isEqualTo(monthly);
  }

  @Test
  void usageBeyondTheLimitEndsTheAccessUntilTheNextPeriod() {
    Account account =
        Account.of(
            app,
            Account.CATALOG.replace(
                "{price: 0.5}]}}", "{price: 0.5}]}, limit: 20, blockOverage: true}"));
    account.subscribe();
    account.call(19, "2040-02-10T00:00:00Z");
    account.at("2040-02-11T00:00:00Z");
    assertThat(access(account)).isTrue();
    account.call(5, "2040-02-11T00:00:00Z");
    account.at("2040-02-12T00:00:00Z");
    assertThat(access(account)).isFalse();

    account.at("2040-02-29T11:59:59.999Z");
    assertThat(access(account)).isFalse();
    account.at("2040-02-29T12:00:00Z");

    assertThat(access(account)).isTrue();
  }

  /** Whether calls are allowed, which only creating a customer shows from outside. */
  private static boolean access(Account account) {
    UUID customer = Id.parse(IdKind.CUSTOMER, account.customer()).orElseThrow().uuid();
    return Tables.query(
            app.database(),
            "SELECT a.access FROM billable_access a JOIN billable b ON b.id = a.billable_id"
                + " WHERE b.slug = 'calls' AND NOT a.invalidated AND a.customer_id = '%s'"
                    .formatted(customer))
        .equals(List.of("t"));
  }

  @Test
  void periodsThatEndBeforeInvoicesBeginAreNeverBilled() {
    Account account = Account.of(app, Account.CATALOG);
    account.subscribe("invoiceGenerationStartDate", "2040-03-31T12:00:00Z");
    account.call(2, "2040-02-10T00:00:00Z");
    account.call(3, "2040-03-10T00:00:00Z");
    account.call(4, "2040-04-10T00:00:00Z");

    account.at("2040-05-02T00:00:00Z");

    List<List<String>> billed =
        IntStream.range(0, account.invoices())
            .mapToObj(account::lines)
            .filter(lines -> !lines.isEmpty())
            .toList();
    assertThat(billed)
        .containsExactly(
            List.of("2040-03-31..2040-04-30 1 49.00"),
            List.of("2040-04-30..2040-05-31 1 49.00", "2040-03-31..2040-04-30 4 4.00"));
    assertThat(account.invoices()).isEqualTo(2);
  }

  @Test
  void whatIsChargedByItselfIsDueWhenItIsFinal() {
    Account account = Account.of(app, Account.CATALOG);
    account.merchant().connect("CardGateway");
    account.subscribe("autoChargeInvoice", true, "paymentGateway", "CardGateway");
    account.at("2040-02-29T12:00:00Z");
    assertThat(account.invoice(1)).containsEntry("dueDate", null);

    account.at("2040-03-01T00:00:00Z");

    assertThat(account.invoice(1))
        .containsEntry("issueDate", "2040-03-01T00:00:00.000Z")
        .containsEntry("dueDate", "2040-03-01T00:00:00.000Z");
  }

  @Test
  void thePreviewOfAnUpcomingSubscriptionIsItsFirstInvoice() {
    Account account = Account.of(app, Account.CATALOG);
    String id = account.subscribe("startDate", "2040-02-10T00:00:00Z");
    Answer preview = account.preview(id);

    account.at("2040-02-10T00:00:00Z");

    assertThat(preview.<String>at("status")).isEqualTo("draft");
    assertThat(preview.<String>at("pendingDate")).isEqualTo("2040-02-10T00:00:00.000Z");
    assertThat(Account.shown(preview))
        .containsExactly("2040-02-10..2040-03-10 1 49.00")
        .isEqualTo(account.lines(0));
  }

  @Test
  void thePreviewOfACancelledSubscriptionIsItsUsageUntilItHasEnded() {
    Account account = Account.subscribed(app);
    String id = account.subscription();
    account.call(12, "2040-02-10T00:00:00Z");
    account.change(id, "cancel");
    account.at("2040-02-20T00:00:00Z");
    Answer preview = account.preview(id);

    account.at("2040-03-02T00:00:00Z");

    assertThat(preview.<String>at("pendingDate")).isEqualTo("2040-02-29T12:00:00.000Z");
    assertThat(Account.shown(preview))
        .containsExactly("2040-01-31..2040-02-29 12 11.00")
        .isEqualTo(account.lines(1));
    assertThat(account.preview(id).problem()).isEqualTo("404 no_upcoming_invoice []");
  }
}
