package io.steelyard.oracle;

import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.BillingMode;
import io.steelyard.domain.Calculation;
import io.steelyard.domain.NetTerms;
import io.steelyard.domain.PriceType;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;

/** What a merchant and its customers did, in the order in which they did it. */
record Facts(ZoneId zone, Plan plan, List<Fact> all) {
  Facts {
    all = List.copyOf(all);
  }

  /** All that had happened before the fact at this position, and that one. */
  Facts upTo(int position) {
    return new Facts(zone, plan, all.subList(0, position + 1));
  }

  /**
   * @param upTo null for no end
   */
  record Tier(BigDecimal upTo, BigDecimal price, BigDecimal flatFee) {}

  /**
   * The price of one meter, whose events have its slug as their name and {@code data.value}.
   *
   * @param limit null for none
   * @param maxUsage null for none
   */
  record Price(
      String slug,
      Calculation calculation,
      BillingMode mode,
      PriceType type,
      BigDecimal quantity,
      BigDecimal price,
      List<Tier> tiers,
      BigDecimal limit,
      BigDecimal maxUsage,
      boolean blockOverage) {
    boolean inArrears() {
      return mode == BillingMode.ARREARS;
    }
  }

  /**
   * The only plan.
   *
   * @param base the base price of any cadence, per month of it; null for none
   * @param byDefault whether every new customer is subscribed to it
   */
  record Plan(
      boolean byDefault,
      NetTerms netTerms,
      int trialDays,
      boolean chargeUsageDuringTrial,
      BigDecimal base,
      List<Price> prices) {
    BigDecimal baseOf(BillingCadence cadence) {
      return base.multiply(BigDecimal.valueOf(Math.max(1, cadence.months())));
    }
  }

  /**
   * A subscription as it was asked for.
   *
   * @param number its position among all subscriptions
   * @param trialEnd null without a trial; then it is a customer's default subscription
   * @param end null for none
   * @param invoicesFrom invoiceGenerationStartDate; null for none
   */
  record Subscription(
      int number,
      int customer,
      boolean byDefault,
      BillingCadence cadence,
      Instant start,
      Instant trialEnd,
      Instant end,
      Instant invoicesFrom) {}

  /**
   * @param value of {@code data.value}: BigDecimal, String or null for none
   */
  record Event(int customer, String name, String key, Instant at, Object value) {
    @Override
    public String toString() {
      String shown = value instanceof String text ? '"' + text + '"' : String.valueOf(value);
      return "event c%d %s %s at %s value %s".formatted(customer, key, name, at, shown);
    }
  }

  sealed interface Fact {}

  record ClockSet(Instant now) implements Fact {}

  record Subscribed(Subscription subscription) implements Fact {}

  record Accepted(List<Event> events) implements Fact {}

  record Cancelled(int subscription) implements Fact {}

  record Renewed(int subscription) implements Fact {}

  /** Readable, one fact a line. */
  String story() {
    StringBuilder story = new StringBuilder();
    story.append("zone ").append(zone).append('\n').append(plan).append('\n');
    for (int i = 0; i < all.size(); i++) {
      switch (all.get(i)) {
        case Accepted accepted ->
            accepted.events().forEach(event -> story.append("      ").append(event).append('\n'));
        case Fact fact -> story.append("%4d  ".formatted(i)).append(fact).append('\n');
      }
    }
    return story.toString();
  }
}
