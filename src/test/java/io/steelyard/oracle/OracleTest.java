package io.steelyard.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.BillingMode;
import io.steelyard.domain.Calculation;
import io.steelyard.domain.NetTerms;
import io.steelyard.domain.PriceType;
import io.steelyard.oracle.Facts.Accepted;
import io.steelyard.oracle.Facts.Cancelled;
import io.steelyard.oracle.Facts.ClockSet;
import io.steelyard.oracle.Facts.Event;
import io.steelyard.oracle.Facts.Fact;
import io.steelyard.oracle.Facts.Plan;
import io.steelyard.oracle.Facts.Price;
import io.steelyard.oracle.Facts.Renewed;
import io.steelyard.oracle.Facts.Subscribed;
import io.steelyard.oracle.Facts.Subscription;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The oracle itself, on histories that can be checked with pencil and paper. */
class OracleTest {
  /** 2 for each unit above 10. */
  private static final Price CALLS =
      new Price(
          "calls",
          Calculation.SUM,
          BillingMode.ARREARS,
          PriceType.UNIT,
          BigDecimal.ONE,
          new BigDecimal("2"),
          List.of(),
          BigDecimal.TEN,
          null,
          false);

  private static final Subscribed FROM_JANUARY_31 = subscribed("2040-01-31T00:00:00Z", null, null);

  private int keys;

  private static Subscribed subscribed(String start, String trialEnd, String end) {
    return new Subscribed(
        new Subscription(
            0, 0, false, BillingCadence.MONTHLY, time(start), time(trialEnd), time(end), null));
  }

  private static Instant time(String text) {
    return text == null ? null : Instant.parse(text);
  }

  private static ClockSet clock(String now) {
    return new ClockSet(time(now));
  }

  private Accepted event(String at, String value) {
    return new Accepted(
        List.of(new Event(0, "calls", "key-" + ++keys, time(at), new BigDecimal(value))));
  }

  private static String invoices(List<Fact> facts) {
    Plan plan = new Plan(false, NetTerms.NET30, 14, false, new BigDecimal("30"), List.of(CALLS));
    Facts all = new Facts(ZoneId.of("UTC"), plan, facts);
    Subscription subscription =
        facts.stream()
            .filter(Subscribed.class::isInstance)
            .map(fact -> ((Subscribed) fact).subscription())
            .findFirst()
            .orElseThrow();
    return Life.invoices(all, subscription, HistoriesIT.GRACE).stream()
        .map(invoice -> invoice + "\n")
        .collect(Collectors.joining())
        .replaceAll("T00:00:00Z", "")
        .replaceAll("T23:59:59.999Z", "*");
  }

  @Test
  void usageIsBilledAtTheEndOfItsPeriodAndWhatComesLateOnTheNextInvoice() {
    String invoices =
        invoices(
            List.of(
                clock("2040-01-31T00:00:00Z"),
                FROM_JANUARY_31,
                event("2040-01-31T00:00:00Z", "12"), // 2 above the limit: 4.00
                event("2040-02-29T00:00:00Z", "11"), // the next period's: 1 above
                clock("2040-03-03T00:00:00Z"),
                event("2040-02-28T23:59:59.999Z", "3"), // 12 + 3: 5 above, 6.00 more
                clock("2040-04-03T00:00:00Z")));

    assertThat(invoices)
        .isEqualTo(
            """
            s0 b0 at 2040-01-31 test 2040-01-31 due 2040-03-01*
                ADVANCE base p0 2040-01-31..2040-02-29 x 1.000000 = 30.00
            s0 b1 at 2040-02-29 test 2040-03-03 due 2040-04-02*
                ADVANCE base p1 2040-02-29..2040-03-31 x 1.000000 = 30.00
                ARREARS calls p0 2040-01-31..2040-02-29 x 12.000000 = 4.00
            s0 b2 at 2040-03-31 test 2040-04-03 due 2040-05-03*
                ADVANCE base p2 2040-03-31..2040-04-30 x 1.000000 = 30.00
                ARREARS calls p1 2040-02-29..2040-03-31 x 11.000000 = 2.00
                ADJUSTMENT calls p0 2040-01-31..2040-02-29 x 15.000000 = 6.00
            """);
  }

  @Test
  void afterTheEndLateUsageHasAnInvoiceOfItsOwn() {
    String invoices =
        invoices(
            List.of(
                clock("2040-02-01T00:00:00Z"),
                FROM_JANUARY_31,
                new Cancelled(0),
                clock("2040-03-10T00:00:00Z"),
                event("2040-02-01T00:00:00Z", "11"),
                clock("2040-04-01T00:00:00Z")));

    assertThat(invoices)
        .isEqualTo(
            """
            s0 b0 at 2040-01-31 test 2040-02-01 due 2040-03-02*
                ADVANCE base p0 2040-01-31..2040-02-29 x 1.000000 = 30.00
            s0 b1 at 2040-02-29 paid 2040-03-03 due 2040-04-02*
                ARREARS calls p0 2040-01-31..2040-02-29 x 0.000000 = 0.00
            s0 b2 at 2040-03-13 test 2040-03-13 due 2040-04-12*
                ADJUSTMENT calls p0 2040-01-31..2040-02-29 x 11.000000 = 2.00
            """);
  }

  @Test
  void whatARenewalGivesBackIsChargedOnTheNextInvoice() {
    String invoices =
        invoices(
            List.of(
                clock("2040-04-01T00:00:00Z"),
                subscribed("2040-04-01T00:00:00Z", null, "2040-04-11T00:00:00Z"),
                clock("2040-04-02T00:00:00Z"),
                new Renewed(0),
                clock("2040-05-01T00:00:00Z"),
                clock("2040-05-04T00:00:00Z")));

    // Ten days of thirty, then the other twenty.
    assertThat(invoices)
        .isEqualTo(
            """
            s0 b0 at 2040-04-01 test 2040-04-01 due 2040-05-01*
                ADVANCE base p0 2040-04-01..2040-04-11 x 1.000000 = 10.00
            s0 b1 at 2040-05-01 test 2040-05-04 due 2040-06-03*
                ADVANCE base p1 2040-05-01..2040-06-01 x 1.000000 = 30.00
                ARREARS calls p0 2040-04-01..2040-05-01 x 0.000000 = 0.00
                ADJUSTMENT base p0 2040-04-01..2040-05-01 x 1.000000 = 20.00
            """);
  }

  @Test
  void aTrialIsFreeAndAnInvoiceStaysPendingThroughItsGrace() {
    String invoices =
        invoices(
            List.of(
                clock("2040-01-17T00:00:00Z"),
                subscribed("2040-01-17T00:00:00Z", "2040-01-31T00:00:00Z", null),
                event("2040-01-20T00:00:00Z", "100"),
                clock("2040-02-29T00:00:00Z")));

    assertThat(invoices)
        .isEqualTo(
            """
            s0 b0 at 2040-01-17 paid 2040-01-17 due 2040-02-16*
                ADVANCE base p0 2040-01-17..2040-01-31 x 1.000000 = 0.00
            s0 b1 at 2040-01-31 test 2040-01-31 due 2040-03-01*
                ADVANCE base p1 2040-01-31..2040-02-29 x 1.000000 = 30.00
            s0 b2 at 2040-02-29 pending until 2040-03-03
                ADVANCE base p2 2040-02-29..2040-03-31 x 1.000000 = 30.00
            """);
  }
}
