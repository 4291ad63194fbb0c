package io.steelyard.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.BillingCadence;
import io.steelyard.oracle.Facts.Subscription;
import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/**
 * Random usage of units that are allocated every month and expire with it. All of it comes in time:
 * what is left is what was allocated this month less what was used in it.
 */
class BalancesIT {
  private static final String CATALOG =
      """
      customPricingUnits:
        - {key: credits, displayName: Credits, displayNameSingular: Credit, shortName: cr}
      billables:
        - slug: tokens
          name: Tokens
          eventQueryRules:
            conditions: [[{key: eventName, rule: matches, value: tokens}]]
            calculation: sum
            overProperty: data.count
      plans:
        - externalId: plan
          name: Plan
          basePrices: {monthly: 49}
          prices:
            - {name: Tokens, billable: tokens, billingMode: arrears, priceType: unit,
               rules: {quantity: 4, price: 2}, usesCustomPricingUnit: true,
               customPricingUnit: credits}
          allocations:
            - {customPricingUnit: credits, amount: 100, billingCadence: monthly}
      defaultPlan: plan
      """;
  private static final Instant START = Instant.parse("2039-01-31T00:00:00Z");
  private static final BigDecimal ALLOCATED = new BigDecimal("100");

  private static final Subscription SUBSCRIPTION =
      new Subscription(0, 0, true, BillingCadence.MONTHLY, START, null, null, null);

  private static TestApp app;

  @BeforeContainer
  static void start() {
    app = TestApp.start(Map.of("aggregation.pollMs", "10"));
  }

  @AfterContainer
  static void stop() {
    app.close();
  }

  /** Tokens used at one instant, and how far the clock goes on then. */
  record Use(List<Integer> tokens, Duration on) {}

  @Provide
  Arbitrary<List<Use>> uses() {
    return Combinators.combine(
            Arbitraries.integers().between(0, 150).list().ofMaxSize(3),
            Arbitraries.of(0L, 1L, 12L * 86_400_000, 31L * 86_400_000).map(Duration::ofMillis))
        .as(Use::new)
        .list()
        .ofMinSize(1)
        .ofMaxSize(6);
  }

  @Property(tries = 25)
  void whatIsLeftIsThisMonthsUnitsLessItsUsage(@ForAll("uses") List<Use> uses) {
    Merchant merchant = app.merchant("test", CATALOG).at(START.toString());
    String customer = merchant.customerId("acme");
    String unit = merchant.unitId(CATALOG);
    List<Map.Entry<Instant, Integer>> used = new ArrayList<>();
    Instant now = START;
    for (Use use : uses) {
      for (int tokens : use.tokens()) {
        Map<String, Object> event =
            merchant.event(customer, "tokens", tokens, "key-" + used.size(), now);
        merchant.call("POST", "/external/event").json(List.of(event)).send(202);
        used.add(Map.entry(now, tokens));
      }
      merchant.at(now.toString());
      assertBalance(merchant, unit, used, now);
      now = now.plus(use.on());
      merchant.at(now.toString());
      assertBalance(merchant, unit, used, now);
    }
  }

  private static void assertBalance(
      Merchant merchant, String unit, List<Map.Entry<Instant, Integer>> used, Instant now) {
    Instant from = START;
    Instant to = START;
    for (int month = 1; !now.isBefore(to); month++) {
      from = to;
      to = PlainCalendar.start(SUBSCRIPTION, ZoneOffset.UTC, month);
    }
    BigDecimal units = BigDecimal.ZERO;
    for (Map.Entry<Instant, Integer> use : used) {
      if (!use.getKey().isBefore(from) && use.getKey().isBefore(to)) {
        units = units.add(new BigDecimal(use.getValue()).multiply(new BigDecimal("0.5")));
      }
    }
    BigDecimal drawn = units.min(ALLOCATED);
    Answer shown =
        merchant.get("/external/customers/external-id/acme/customPricingUnits/" + unit + "/usage");
    Map<String, BigDecimal> balance = new HashMap<>();
    for (String field : List.of("totalAllocated", "totalUsed", "remaining")) {
      balance.put(field, plain(new BigDecimal(shown.<Object>at(field).toString())));
    }
    assertThat(balance)
        .as("at %s, after %s", now, used)
        .isEqualTo(
            Map.of(
                "totalAllocated", plain(ALLOCATED),
                "totalUsed", plain(drawn),
                "remaining", plain(ALLOCATED.subtract(drawn))));
  }

  private static BigDecimal plain(BigDecimal number) {
    return number.setScale(6);
  }
}
