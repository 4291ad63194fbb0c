package io.steelyard.oracle;

import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.BillingMode;
import io.steelyard.domain.Calculation;
import io.steelyard.domain.NetTerms;
import io.steelyard.domain.PriceType;
import io.steelyard.oracle.Facts.Plan;
import io.steelyard.oracle.Facts.Price;
import io.steelyard.oracle.Facts.Subscription;
import io.steelyard.oracle.Facts.Tier;
import io.steelyard.oracle.Script.Asked;
import io.steelyard.oracle.Script.Change;
import io.steelyard.oracle.Script.Moment;
import io.steelyard.oracle.Script.Post;
import io.steelyard.oracle.Script.Sent;
import io.steelyard.oracle.Script.Step;
import io.steelyard.oracle.Script.Trip;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Tuple;

/** Random histories: small ones, and most of what happens in them happens near a boundary. */
final class Scripts {
  private static final List<ZoneId> ZONES =
      List.of(
              "UTC",
              "Europe/Berlin",
              "America/New_York",
              "Australia/Lord_Howe",
              "America/Havana",
              "Asia/Beirut",
              "Pacific/Kiritimati",
              "Africa/Casablanca")
          .stream()
          .map(ZoneId::of)
          .toList();
  private static final List<LocalTime> TIMES =
      List.of(
          LocalTime.MIDNIGHT,
          LocalTime.of(12, 0),
          LocalTime.of(2, 30),
          LocalTime.of(0, 30),
          LocalTime.of(23, 59, 59, 999_000_000));
  private static final List<Duration> BEYOND =
      List.of(
          Duration.ZERO,
          Duration.ofMillis(-1),
          Duration.ofMillis(1),
          HistoriesIT.GRACE,
          HistoriesIT.GRACE,
          HistoriesIT.GRACE.minusMillis(1),
          Duration.ofDays(10),
          Duration.ofDays(10));

  private Scripts() {}

  static Arbitrary<Script> scripts() {
    Arbitrary<LocalDate> days =
        Arbitraries.integers()
            .between(0, 730)
            .map(day -> LocalDate.of(2039, 1, 1).plusDays(day))
            .flatMap(day -> Arbitraries.of(day, day.withDayOfMonth(day.lengthOfMonth())));
    return Combinators.combine(Arbitraries.of(ZONES), days, Arbitraries.of(TIMES), plans(), steps())
        .flatAs(
            (zone, day, time, plan, steps) ->
                subscriptions(zone, day.atTime(time), plan, steps.size())
                    .map(
                        asked ->
                            new Script(
                                zone,
                                PlainCalendar.instant(day.atTime(time), zone),
                                plan,
                                asked,
                                steps)));
  }

  private static Arbitrary<Plan> plans() {
    return Combinators.combine(
            Arbitraries.of(false, false, true),
            Arbitraries.of(NetTerms.values()),
            Arbitraries.of(0, 14, 1, 40),
            Arbitraries.of(true, false),
            Arbitraries.of(
                number("49"), number("49"), number("9.99"), number("9.99"), number("0.07"), null),
            prices())
        .as(Plan::new);
  }

  private static Arbitrary<List<Price>> prices() {
    return price()
        .list()
        .ofMinSize(1)
        .ofMaxSize(3)
        .map(
            prices -> {
              List<Price> named = new ArrayList<>();
              for (int i = 0; i < prices.size(); i++) {
                named.add(named("m" + i, prices.get(i)));
              }
              return List.copyOf(named);
            });
  }

  private static Price named(String slug, Price price) {
    return new Price(
        slug,
        price.calculation(),
        price.mode(),
        price.type(),
        price.quantity(),
        price.price(),
        price.tiers(),
        price.limit(),
        price.maxUsage(),
        price.blockOverage());
  }

  private static Arbitrary<Price> price() {
    Arbitrary<Tuple.Tuple3<BigDecimal, BigDecimal, Boolean>> limits =
        Arbitraries.of(
            Tuple.of(null, null, false),
            Tuple.of(null, null, false),
            Tuple.of(number("10"), null, false),
            Tuple.of(number("10"), number("50"), false),
            Tuple.of(null, number("20"), false),
            Tuple.of(number("10"), null, true));
    return Combinators.combine(
            Arbitraries.of(Calculation.values()),
            Arbitraries.of(BillingMode.ARREARS, BillingMode.ARREARS, BillingMode.ADVANCE),
            Arbitraries.of(PriceType.values()),
            Arbitraries.of(number("1"), number("10"), number("3"), number("0.5")),
            Arbitraries.of(number("2"), number("0.015"), number("0.333"), number("0")),
            tiers(),
            limits)
        .as(
            (calculation, mode, type, quantity, price, tiers, limit) ->
                new Price(
                    "",
                    calculation,
                    mode,
                    type,
                    quantity,
                    isTiered(type) ? null : price,
                    isTiered(type) ? tiers : List.of(),
                    limit.get1(),
                    limit.get2(),
                    limit.get3()));
  }

  private static boolean isTiered(PriceType type) {
    return type == PriceType.TIERED || type == PriceType.VOLUME;
  }

  private static Arbitrary<List<Tier>> tiers() {
    BigDecimal none = BigDecimal.ZERO;
    return Arbitraries.of(
        List.of(tier("10", "1", none), tier(null, "0.5", none)),
        List.of(tier("5", "2", number("5")), tier("20", "1", none), tier(null, "0.1", number("1"))),
        List.of(tier("20", "0", none), tier(null, "0.333", number("0.005"))));
  }

  private static Tier tier(String upTo, String price, BigDecimal flatFee) {
    return new Tier(upTo == null ? null : number(upTo), number(price), flatFee);
  }

  private static Arbitrary<List<Asked>> subscriptions(
      ZoneId zone, LocalDateTime origin, Plan plan, int steps) {
    Arbitrary<Asked> asked =
        Combinators.combine(
                Arbitraries.integers().between(0, 1),
                Arbitraries.frequency(Tuple.of(3, 0), Tuple.of(1, 1)),
                Arbitraries.of(
                    BillingCadence.MONTHLY,
                    BillingCadence.MONTHLY,
                    BillingCadence.MONTHLY,
                    BillingCadence.MONTHLY,
                    BillingCadence.QUARTERLY,
                    BillingCadence.ANNUALLY,
                    BillingCadence.ONE_TIME),
                Arbitraries.of(0, 0, 0, -1, -31, -75, 1, 10),
                Arbitraries.of(null, null, null, 1, 15, 30, 45, 100),
                Arbitraries.of(null, null, null, null, 0, 20, 31, 70))
            .as(
                (customer, step, cadence, startDays, endDays, invoiceDays) -> {
                  LocalDateTime start = origin.plusDays(startDays);
                  return new Asked(
                      Math.min(step, steps - 1),
                      new Subscription(
                          0,
                          customer,
                          false,
                          cadence,
                          PlainCalendar.instant(start, zone),
                          null,
                          after(start, endDays, zone),
                          after(start, invoiceDays, zone)));
                });
    return asked
        .list()
        .ofMinSize(plan.byDefault() ? 0 : 1)
        .ofMaxSize(2)
        .map(bulk -> numbered(bulk, plan, origin, zone));
  }

  private static Instant after(LocalDateTime start, Integer days, ZoneId zone) {
    return days == null ? null : PlainCalendar.instant(start.plusDays(days), zone);
  }

  /** A default subscription for every customer, if the plan is the default, and those of bulk. */
  private static List<Asked> numbered(
      List<Asked> bulk, Plan plan, LocalDateTime origin, ZoneId zone) {
    List<Asked> all = new ArrayList<>();
    Instant start = PlainCalendar.instant(origin, zone);
    Instant trialEnd =
        plan.trialDays() == 0
            ? null
            : PlainCalendar.instant(
                start.atZone(zone).toLocalDateTime().plusDays(plan.trialDays()), zone);
    int defaults =
        plan.byDefault()
            ? 1 + bulk.stream().mapToInt(asked -> asked.terms().customer()).max().orElse(0)
            : 0;
    for (int i = 0; i < defaults; i++) {
      BillingCadence monthly = BillingCadence.MONTHLY;
      all.add(new Asked(0, new Subscription(i, i, true, monthly, start, trialEnd, null, null)));
    }
    for (Asked asked : bulk) {
      Subscription terms = asked.terms();
      all.add(
          new Asked(
              asked.step(),
              new Subscription(
                  all.size(),
                  terms.customer(),
                  false,
                  terms.cadence(),
                  terms.start(),
                  null,
                  terms.end(),
                  terms.invoicesFrom())));
    }
    return List.copyOf(all);
  }

  private static Arbitrary<List<Step>> steps() {
    Arbitrary<Change> changes =
        Combinators.combine(Arbitraries.integers().between(0, 2), Arbitraries.of(true, false))
            .as(Change::new);
    return Combinators.combine(
            posts().list().ofMinSize(1).ofMaxSize(2),
            Arbitraries.frequencyOf(
                Tuple.of(3, Arbitraries.just(List.<Change>of())),
                Tuple.of(1, changes.list().ofMaxSize(2))),
            Arbitraries.of(true, false),
            trips())
        .as(Step::new)
        .list()
        .ofMinSize(2)
        .ofMaxSize(6);
  }

  private static Arbitrary<Post> posts() {
    Arbitrary<Object> values =
        Arbitraries.frequencyOf(
            Tuple.of(
                12,
                Arbitraries.of("1", "10", "5", "0.5", "20.001", "3", "7.25", "0", "-4", "100")
                    .map(BigDecimal::new)),
            Tuple.of(1, Arbitraries.of("seven", "10")),
            Tuple.of(1, Arbitraries.just((Object) null)));
    return Combinators.combine(
            Arbitraries.integers().between(0, 2),
            moments(),
            Arbitraries.frequency(Tuple.of(7, false), Tuple.of(1, true)),
            values)
        .as(Sent::new)
        .list()
        .ofMinSize(1)
        .ofMaxSize(5)
        .map(Post::new);
  }

  private static Arbitrary<Moment> moments() {
    return Combinators.combine(
            Arbitraries.integers().between(0, 2),
            Arbitraries.frequency(
                Tuple.of(5, 0), Tuple.of(4, 1), Tuple.of(1, 2), Tuple.of(1, 3), Tuple.of(1, -1)),
            Arbitraries.integers().between(1, 999),
            Arbitraries.of(null, null, null, -1, 0, 1))
        .as(Moment::new);
  }

  private static Arbitrary<Trip> trips() {
    return Combinators.combine(
            Arbitraries.integers().between(0, 2),
            Arbitraries.frequency(Tuple.of(1, 0), Tuple.of(6, 1), Tuple.of(2, 2), Tuple.of(1, 4)),
            Arbitraries.frequency(Tuple.of(4, false), Tuple.of(1, true)),
            Arbitraries.of(BEYOND))
        .as(Trip::new);
  }

  private static BigDecimal number(String text) {
    return new BigDecimal(text);
  }
}
