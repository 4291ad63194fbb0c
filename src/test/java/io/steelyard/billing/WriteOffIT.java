package io.steelyard.billing;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * When a live merchant's units that have ended are written off, while events wait to be counted.
 */
class WriteOffIT {
  private static final Duration GRACE = Duration.ofSeconds(1);

  private static TestApp app;

  /** Nobody counts: what waits does until it is taken away. */
  @BeforeAll
  static void start() {
    app =
        TestApp.start(
            Map.of(
                "billing.pollMs",
                "50",
                "billing.usageGraceMs",
                "" + GRACE.toMillis(),
                "verticles.billing.instances",
                "1",
                "verticles.aggregation.instances",
                "0"));
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static List<String> remaining() {
    return Tables.query(
        app.database(), "SELECT trim_scale(remaining) FROM allocation_block ORDER BY expires_at");
  }

  private static void await(Instant at) throws InterruptedException {
    Thread.sleep(Math.max(0, Duration.between(Instant.now(), at).toMillis()));
  }

  private static void use(Merchant merchant, String customer, Instant at) {
    merchant
        .call("POST", "/external/event")
        .json(merchant.event(customer, "token", 1, null, at))
        .send(202);
  }

  /** As if the oldest of two batches had been counted. */
  private static void takeOldest() {
    PostgresSupport.execute(
        app.database(),
        "DELETE FROM event_batch WHERE stored_at = (SELECT min(stored_at) FROM event_batch)");
  }

  @Test
  void whatEndedIsThereUntilEveryEventThatCameWithinItsGraceIsCounted() throws Exception {
    Merchant merchant = app.merchant("live", Account.CATALOG);
    String unit = merchant.unitId(Account.CATALOG);
    String customer = merchant.customerId("acme");
    Instant before = Instant.now().plusSeconds(2);
    Instant end = before.plusSeconds(3);
    assertThat(merchant.allocate(customer, unit, "10", before.toString()).status()).isEqualTo(201);
    assertThat(merchant.allocate(customer, unit, "20", end.toString()).status()).isEqualTo(201);
    use(merchant, customer, before.minusSeconds(1));
    // from when the first block's grace is over, billing asks about the events accepted by then
    await(end.plus(GRACE).minusMillis(500));
    use(merchant, customer, end.minusSeconds(1));
    await(end.plus(GRACE).plusMillis(500));
    assertThat(remaining()).as("the first event waits").containsExactly("10", "20");

    takeOldest();

    assertThat(Merchant.eventually(WriteOffIT::remaining, left -> left.getFirst().equals("0")))
        .as("the second event waits, which came in time to draw from the second block")
        .containsExactly("0", "20");
    takeOldest();
    assertThat(Merchant.eventually(WriteOffIT::remaining, left -> left.getLast().equals("0")))
        .containsExactly("0", "0");
  }
}
