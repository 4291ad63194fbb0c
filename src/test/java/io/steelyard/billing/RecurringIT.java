package io.steelyard.billing;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.TestApp;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Period after period: what is charged, when it becomes final, and what comes late. */
class RecurringIT {
  private static TestApp app;

  @BeforeAll
  static void start() {
    app = TestApp.start(Map.of("billing.pollMs", "50", "billing.claimMax", "7"));
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  @Test
  void eachBoundaryBillsTheNextPeriodAndTheUsageOfTheLast() {
    Account account = Account.subscribed(app);
    account.call(12, "2040-02-29T11:59:59.999Z");
    account.call(3, "2040-02-29T12:00:00Z");

    account.at("2040-02-29T12:00:00Z");

    assertThat(account.invoices()).isEqualTo(2);
    assertThat(account.invoice(1)).containsEntry("status", "pending");
    assertThat(account.lines(1))
        .containsExactly("2040-02-29..2040-03-31 1 49.00", "2040-01-31..2040-02-29 12 11.00");

    account.at("2040-03-01T00:00:00Z");

    assertThat(account.invoice(1))
        .containsEntry("status", "test")
        .containsEntry("issueDate", "2040-03-01T00:00:00.000Z")
        .containsEntry("dueDate", "2040-03-31T23:59:59.999Z")
        .containsEntry("total", 60);

    account.at("2040-04-01T12:00:00Z");
    assertThat(account.lines(2))
        .containsExactly("2040-03-31..2040-04-30 1 49.00", "2040-02-29..2040-03-31 3 3.00");
  }

  @Test
  void lateUsageWithinTheGraceIsInTheInvoiceAndAfterItOnTheNext() {
    Account account = Account.subscribed(app);
    account.call(8, "2040-02-01T00:00:00Z");
    account.at("2040-02-29T18:00:00Z");
    account.call(1, "2040-02-02T00:00:00Z");
    account.at("2040-03-01T01:00:00Z");
    assertThat(account.lines(1))
        .containsExactly("2040-02-29..2040-03-31 1 49.00", "2040-01-31..2040-02-29 9 9.00");

    account.call(5, "2040-02-03T00:00:00Z");
    account.at("2040-04-01T12:00:00Z");

    assertThat(account.lines(2))
        .containsExactly(
            "2040-03-31..2040-04-30 1 49.00",
            "2040-02-29..2040-03-31 0 0.00",
            "2040-01-31..2040-02-29 14 3.00"); // 10 x 1 + 4 x 0.5, of which 9 were billed
  }

  @Test
  void aSleepOfThreeMonthsMakesThreeInvoicesInOrder() {
    Account account = Account.subscribed(app);
    account.call(1, "2040-02-10T00:00:00Z");
    account.call(2, "2040-03-10T00:00:00Z");
    account.call(3, "2040-04-10T00:00:00Z");

    account.at("2040-05-01T12:00:00Z");

    assertThat(account.invoices()).isEqualTo(4);
    assertThat(account.lines(1)).contains("2040-01-31..2040-02-29 1 1.00");
    assertThat(account.lines(2)).contains("2040-02-29..2040-03-31 2 2.00");
    assertThat(account.lines(3)).contains("2040-03-31..2040-04-30 3 3.00");
    assertThat(account.invoice(3)).containsEntry("issueDate", "2040-05-01T00:00:00.000Z");
  }

  @Test
  void afterItsEndOnlyUsageIsBilledAndLateUsageOnAnInvoiceOfItsOwn() {
    Account account = Account.subscribed(app);
    account.change(account.subscription(), "cancel");
    account.call(4, "2040-02-10T00:00:00Z");
    account.at("2040-03-01T12:00:00Z");
    assertThat(account.invoices()).isEqualTo(2);
    assertThat(account.lines(1)).containsExactly("2040-01-31..2040-02-29 4 4.00");

    account.call(6, "2040-02-11T00:00:00Z");
    account.at("2040-03-02T00:00:00Z");
    account.at("2040-03-03T00:00:00Z");

    assertThat(account.invoices()).isEqualTo(3);
    assertThat(account.lines(2)).containsExactly("2040-01-31..2040-02-29 10 6.00");
  }

  @Test
  void thePreviewIsWhatTheInvoiceBecomes() {
    Account account = Account.subscribed(app);
    account.call(12, "2040-02-10T00:00:00Z");
    account.at("2040-02-20T00:00:00Z");
    List<String> upcoming = Account.shown(account.preview(account.subscription()));

    account.at("2040-03-01T12:00:00Z");

    assertThat(upcoming).isEqualTo(account.lines(1));
  }
}
