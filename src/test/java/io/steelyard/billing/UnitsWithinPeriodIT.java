package io.steelyard.billing;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Units that are allocated in the middle of a period, and usage that is known before they are. */
class UnitsWithinPeriodIT {
  private static final String MONTHLY_UNITS =
      Account.CATALOG
              .replace("annually: 490", "quarterly: 140, annually: 490, oneTime: 900")
              .stripTrailing()
          + "\n    allocations:"
          + " [{customPricingUnit: credits, amount: 100, billingCadence: monthly}]\n";

  private static final int MANY = 10_000;

  private static TestApp app;

  private final Account account = Account.of(app, MONTHLY_UNITS);

  @BeforeAll
  static void start() {
    app = TestApp.start(Map.of("billing.pollMs", "50", "aggregation.pollMs", "20"));
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  @AfterEach
  void isClean() {
    Answer report = account.merchant().operator("GET", "/integrity").send(200);
    assertThat(report.<List<?>>at("findings")).isEmpty();
    assertThat(report.<Boolean>at("clean")).isTrue();
  }

  /** {@code 2040-01-31..2040-02-29 70} for every block of the customer's, before any expiry. */
  private List<String> blocks() {
    return Tables.query(
        app.database(),
        """
        SELECT to_char(b.effective_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') || '..'
               || coalesce(to_char(b.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), '') || ' '
               || trim_scale((SELECT sum(t.amount) FROM credit_transaction t
                               WHERE t.allocation_block_id = b.id AND t.type <> 'expiration'))
          FROM allocation_block b
         WHERE b.merchant_id = '%s'
         ORDER BY b.effective_at, b.expires_at
        """
            .formatted(Id.parse(IdKind.MERCHANT, account.merchant().id()).orElseThrow().uuid()));
  }

  @Test
  void usageFromBeforeTheSubscriptionDrawsFromTheUnitsOfItsMonth() {
    account.use("token", 30, "2040-02-10T00:00:00Z");
    account.use("token", 30, "2040-03-02T00:00:00Z");
    account.at("2040-03-05T00:00:00Z");

    account.subscribe("billingCadence", "quarterly", "startDate", "2040-01-01T00:00:00Z");
    account.at("2040-03-05T01:00:00Z");

    assertThat(blocks())
        .containsExactly(
            "2040-01-01..2040-02-01 100", "2040-02-01..2040-03-01 70", "2040-03-01..2040-04-01 70");
    assertThat(account.remaining()).isEqualTo(70);
    account.at("2040-04-01T00:00:00Z");
    assertThat(account.lines(0)).containsExactly("2040-01-01..2040-04-01 1 140.00");
  }

  @Test
  void usageThatIsCountedBeforeItsUnitsAreThereWaitsForThem() {
    assertThat(
            account
                .merchant()
                .allocate(account.customer(), account.merchant().unitId(MONTHLY_UNITS), "50", null)
                .status())
        .isEqualTo(201);
    account.subscribe("billingCadence", "annually");
    account.use("token", 20, "2040-02-29T11:59:59.999Z");
    account.use("token", 30, "2040-02-29T12:00:00.200Z");
    account.call(5, "2040-02-29T12:00:00.200Z");
    account.use("token", 40, "2040-05-01T00:00:00Z");
    account.at("2040-02-29T12:00:00Z");

    assertThat(blocks())
        .containsExactly(
            "2040-01-31..2040-02-29 80", "2040-01-31.. 50", "2040-02-29..2040-03-31 70");
    account.use("token", 10, "2040-03-01T00:00:00Z");
    account.at("2040-06-01T00:00:00Z");
    assertThat(blocks())
        .containsExactly(
            "2040-01-31..2040-02-29 80",
            "2040-01-31.. 50",
            "2040-02-29..2040-03-31 60",
            "2040-03-31..2040-04-30 100",
            "2040-04-30..2040-05-31 60",
            "2040-05-31..2040-06-30 100");
    account.at("2041-02-05T00:00:00Z");
    assertThat(account.lines(1)).contains("2040-01-31..2041-01-31 5 5.00");
  }

  @Test
  void aClockThatIsSetAnswersWhenAllThatHasWaitedIsCounted() {
    account.subscribe("billingCadence", "quarterly");
    Instant ahead = Instant.parse("2040-03-01T00:00:00Z");
    account
        .merchant()
        .call("POST", "/external/event")
        .json(
            IntStream.range(0, MANY)
                .mapToObj(
                    i ->
                        account.merchant().event(account.customer(), "token", 1, "key-" + i, ahead))
                .toList())
        .send(202);

    account.at("2040-03-02T00:00:00Z");

    assertThat(account.remaining()).isEqualTo(0);
  }

  @Test
  void aPeriodWithoutEndIsCountedUpToTheUnitsThatItHas() {
    account.use("token", 10, "2040-02-01T00:00:00Z");
    account.use("token", 20, "2040-03-01T00:00:00Z");
    account.use("token", 30, "2040-04-01T00:00:00Z");
    account.subscribe("billingCadence", "oneTime");
    account.at("2040-03-31T12:00:00Z");

    assertThat(blocks())
        .containsExactly(
            "2040-01-31..2040-02-29 90", "2040-02-29..2040-03-31 80", "2040-03-31..2040-04-30 70");
  }
}
