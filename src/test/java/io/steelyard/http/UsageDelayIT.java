package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** How soon an event that was accepted is seen in the balance. */
@Isolated("it measures seconds of a machine of its own")
class UsageDelayIT {
  private static Duration untilSeen(Merchant merchant, String usage, String customer, int used)
      throws Exception {
    Instant sent = Instant.now();
    merchant
        .call("POST", "/external/event")
        .json(merchant.event(customer, "tokens", 1000, "key-" + used))
        .send(202);
    int seen =
        Merchant.eventually(
            () -> merchant.call("GET", usage).send(200).<Integer>at("totalUsed"),
            total -> total == used);
    assertThat(seen).isEqualTo(used);
    return Duration.between(sent, Instant.now());
  }

  @Test
  void usageIsSeenWithinTwoSeconds() throws Exception {
    try (TestApp app = TestApp.start()) {
      Merchant merchant = app.merchant("test", Merchant.CATALOG);
      String customer = merchant.customerId("acme");
      String usage =
          "/external/customers/external-id/acme/customPricingUnits/%s/usage"
              .formatted(merchant.unitId(Merchant.CATALOG));
      untilSeen(merchant, usage, customer, 2); // the first of a process is nobody's measure

      assertThat(untilSeen(merchant, usage, customer, 4)).isLessThan(Duration.ofSeconds(2));
    }
  }
}
