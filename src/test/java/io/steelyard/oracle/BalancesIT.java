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
 * Random usage of units that are allocated every month and expire with it: what is left is what was
 * allocated this month less what was used in it, be it told in time, before there was a
 * subscription, or ahead; and however late what is of another month is told, as long as that
 * month's own units cover it.
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
            calculation: {calculation}
            overProperty: data.count
      plans:
        - externalId: plan
          name: Plan
          basePrices: {monthly: 49, quarterly: 140, annually: 490, oneTime: 900}
          prices:
            - {name: Tokens, billable: tokens, billingMode: arrears, priceType: unit,
               rules: {quantity: 4, price: 2}, usesCustomPricingUnit: true,
               customPricingUnit: credits}
          allocations:
            - {customPricingUnit: credits, amount: 100, billingCadence: monthly}
      """;
  private static final Instant START = Instant.parse("2039-01-31T00:00:00Z");
  private static final Duration GRACE = Duration.ofHours(12);
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
    String catalog = catalog(false) + "defaultPlan: plan\n";
    Merchant merchant = app.merchant("test", catalog).at(START.toString());
    String customer = merchant.customerId("acme");
    String unit = merchant.unitId(catalog);
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

  private static String catalog(boolean latest) {
    return CATALOG.replace("{calculation}", latest ? "latest" : "sum");
  }

  /**
   * A subscription that begins at {@link #START}, and when it is made of that: after so many uses.
   *
   * @param latest whether what counts is what an event told last, not all of it
   */
  record Plan(BillingCadence cadence, boolean latest, int madeAfter) {}

  @Provide
  Arbitrary<Plan> plans() {
    return Combinators.combine(
            Arbitraries.of(BillingCadence.class),
            Arbitraries.of(true, false),
            Arbitraries.integers().between(0, 3))
        // what counts last goes on for a whole period, which must be a month then
        .as(
            (cadence, latest, after) ->
                new Plan(latest ? BillingCadence.MONTHLY : cadence, latest, after));
  }

  /** Tokens that are used so long after the instant at which they are told. */
  record Told(int tokens, Duration ahead) {}

  /** What is told at one instant, one after the other, and how far the clock goes on then. */
  record Telling(List<Told> told, Duration on) {}

  @Provide
  Arbitrary<List<Telling>> tellings() {
    Arbitrary<Told> told =
        Combinators.combine(
                Arbitraries.integers().between(0, 200),
                Arbitraries.of(0, 1, 24 * 12, 24 * 40, -1, -24 * 3).map(Duration::ofHours))
            .as(Told::new);
    return Combinators.combine(
            told.list().ofMaxSize(3),
            Arbitraries.of(0L, 1L, 24L * 12, 24L * 28, 24L * 28 + 2, 24L * 31)
                .map(Duration::ofHours))
        .as(Telling::new)
        .list()
        .ofMinSize(2)
        .ofMaxSize(6);
  }

  @Property(tries = 50)
  void whatIsLeftIsThisMonthsUnitsHoweverUsageIsTold(
      @ForAll("plans") Plan plan, @ForAll("tellings") List<Telling> tellings) {
    String catalog = catalog(plan.latest());
    Merchant merchant = app.merchant("test", catalog).at(START.toString());
    String customer = merchant.customerId("acme");
    String unit = merchant.unitId(catalog);
    List<Map.Entry<Instant, Integer>> used = new ArrayList<>();
    Instant now = START;
    for (int i = 0; i < tellings.size(); i++) {
      if (i == Math.min(plan.madeAfter(), tellings.size() - 1)) {
        subscribe(merchant, catalog, customer, plan.cadence());
      }
      for (Told told : tellings.get(i).told()) {
        // no two at the same instant
        Instant at = now.plus(told.ahead()).plusMillis(used.size());
        if (i < plan.madeAfter() || isCovered(used, told.tokens(), at, now, plan.latest())) {
          tell(merchant, customer, told.tokens(), at, used.size());
          used.add(Map.entry(at, told.tokens()));
        }
      }
      merchant.at(now.toString());
      now = now.plus(tellings.get(i).on());
      merchant.at(now.toString());
      if (i >= plan.madeAfter()) {
        BigDecimal drawn = units(used, month(now), plan.latest()).min(ALLOCATED);
        assertThat(new BigDecimal(usage(merchant, unit).<Object>at("remaining").toString()))
            .as("at %s, after %s", now, used)
            .isEqualByComparingTo(ALLOCATED.subtract(drawn));
      }
    }
  }

  private static void subscribe(
      Merchant merchant, String catalog, String customer, BillingCadence cadence) {
    merchant.subscribe(
        Map.of(
            "customerId", customer,
            "planId", merchant.planId(catalog, "plan"),
            "billingCadence", cadence.wire(),
            "startDate", START.toString()));
  }

  private static void tell(Merchant merchant, String customer, int tokens, Instant at, int number) {
    Map<String, Object> event = merchant.event(customer, "tokens", tokens, "key-" + number, at);
    merchant.call("POST", "/external/event").json(List.of(event)).send(202);
  }

  /** Whether it is of this month or a later one, or may draw on the units of its own, and can. */
  private static boolean isCovered(
      List<Map.Entry<Instant, Integer>> used, int tokens, Instant at, Instant now, boolean latest) {
    if (!at.isBefore(month(now).start())) {
      return true;
    }
    boolean inGrace = now.isBefore(month(now).start().plus(GRACE));
    Month own = month(at);
    return inGrace
        && own.end().equals(month(now).start())
        && (latest || units(used, own, false).add(units(tokens)).compareTo(ALLOCATED) <= 0);
  }

  /**
   * @param end exclusive
   */
  private record Month(Instant start, Instant end) {
    boolean contains(Instant t) {
      return !t.isBefore(start) && t.isBefore(end);
    }
  }

  /** Of what comes before the start, an empty one. */
  private static Month month(Instant t) {
    Instant from = START;
    Instant to = START;
    for (int month = 1; !t.isBefore(to); month++) {
      from = to;
      to = PlainCalendar.start(SUBSCRIPTION, ZoneOffset.UTC, month);
    }
    return new Month(from, to);
  }

  private static BigDecimal units(int tokens) {
    return new BigDecimal(tokens).multiply(new BigDecimal("0.5"));
  }

  private static BigDecimal units(
      List<Map.Entry<Instant, Integer>> used, Month month, boolean latest) {
    List<Map.Entry<Instant, Integer>> inMonth =
        used.stream()
            .filter(each -> month.contains(each.getKey()))
            .sorted(Map.Entry.comparingByKey())
            .toList();
    return (latest && !inMonth.isEmpty() ? List.of(inMonth.getLast()) : inMonth)
        .stream().map(each -> units(each.getValue())).reduce(BigDecimal.ZERO, BigDecimal::add);
  }

  private static void assertBalance(
      Merchant merchant, String unit, List<Map.Entry<Instant, Integer>> used, Instant now) {
    BigDecimal drawn = units(used, month(now), false).min(ALLOCATED);
    Map<String, BigDecimal> balance = new HashMap<>();
    Answer shown = usage(merchant, unit);
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

  private static Answer usage(Merchant merchant, String unit) {
    return merchant.get(
        "/external/customers/external-id/acme/customPricingUnits/" + unit + "/usage");
  }

  private static BigDecimal plain(BigDecimal number) {
    return number.setScale(6);
  }
}
