package io.steelyard.oracle;

import io.steelyard.oracle.Expected.Kind;
import io.steelyard.oracle.Expected.Line;
import io.steelyard.oracle.Facts.Event;
import io.steelyard.oracle.Facts.Price;
import io.steelyard.oracle.Facts.Subscription;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The lines of one subscription's invoices. Every amount is worked out anew from all events
 * accepted so far and from what the invoices before say.
 */
final class Charges {
  private final Facts facts;
  private final Subscription subscription;
  private final List<Expected> invoices;
  private Instant end;

  Charges(Facts facts, Subscription subscription, List<Expected> invoices) {
    this.facts = facts;
    this.subscription = subscription;
    this.invoices = invoices;
  }

  void endsAt(Instant endDate) {
    end = endDate;
  }

  /** The subscription's end date; null for none. */
  Instant end() {
    return end;
  }

  List<Line> inAdvance(int period) {
    List<Line> lines = new ArrayList<>();
    if (facts.plan().base() != null) {
      lines.add(fixed(Kind.ADVANCE, "base", period, fixedCost("base", period)));
    }
    for (Price price : facts.plan().prices()) {
      if (!price.inArrears()) {
        lines.add(fixed(Kind.ADVANCE, price.slug(), period, fixedCost(price.slug(), period)));
      }
    }
    return lines;
  }

  List<Line> inArrears(int period, List<Event> events) {
    List<Line> lines = new ArrayList<>();
    for (Price price : facts.plan().prices()) {
      if (price.inArrears()) {
        lines.add(usage(Kind.ARREARS, price, period, events));
      }
    }
    return lines;
  }

  /** What earlier periods cost now, less what invoices say of them. */
  List<Line> adjustments(int boundary, List<Event> events) {
    List<Line> lines = new ArrayList<>();
    for (int period = 0; period < boundary; period++) {
      if (facts.plan().base() != null && isCharged("base", period)) {
        add(lines, fixed(Kind.ADJUSTMENT, "base", period, fixedCost("base", period)));
      }
      for (Price price : facts.plan().prices()) {
        if (price.inArrears()) {
          if (isBilled(price.slug(), period)) {
            add(lines, usage(Kind.ADJUSTMENT, price, period, events));
          }
        } else if (isCharged(price.slug(), period)) {
          BigDecimal amount = fixedCost(price.slug(), period);
          add(lines, fixed(Kind.ADJUSTMENT, price.slug(), period, amount));
        }
      }
    }
    return lines;
  }

  private void add(List<Line> lines, Line whole) {
    BigDecimal difference = whole.amount().subtract(billed(whole.price(), whole.period()));
    if (difference.signum() != 0) {
      lines.add(
          new Line(
              whole.kind(),
              whole.price(),
              whole.period(),
              whole.start(),
              whole.end(),
              whole.quantity(),
              difference,
              whole.events()));
    }
  }

  private Stream<Line> linesOf(String price, int period) {
    return invoices.stream()
        .flatMap(invoice -> invoice.lines().stream())
        .filter(line -> line.price().equals(price) && line.period() == period);
  }

  private boolean isBilled(String price, int period) {
    return linesOf(price, period).findAny().isPresent();
  }

  /**
   * Whether a fixed price is charged for a period: where it was, and where it was not since the
   * period was to end before invoices begin, and then was renewed beyond that.
   */
  private boolean isCharged(String slug, int period) {
    boolean opened = end == null || start(period).isBefore(end);
    return isBilled(slug, period) || opened && !isSuppressed(period);
  }

  private BigDecimal billed(String price, int period) {
    return linesOf(price, period).map(Line::amount).reduce(BigDecimal.ZERO, BigDecimal::add);
  }

  private Line usage(Kind kind, Price price, int period, List<Event> events) {
    List<Event> counted =
        PlainUsage.of(events, subscription.customer(), price, start(period), endOf(period));
    Fraction used = PlainUsage.quantity(counted, price.calculation());
    BigDecimal amount = PlainPricing.usage(price, used).toCents();
    return new Line(
        kind, price.slug(), period, start(period), endOf(period), used, amount, counted);
  }

  /** A fixed price's share of the period's time, to the cent; what is charged once has no share. */
  private BigDecimal fixedCost(String slug, int period) {
    boolean trial = PlainCalendar.isTrial(subscription, period);
    boolean base = slug.equals("base");
    if (trial && (base || !facts.plan().chargeUsageDuringTrial())) {
      return new BigDecimal("0.00");
    }
    Fraction whole =
        base
            ? Fraction.of(facts.plan().baseOf(subscription.cadence()))
            : PlainPricing.inAdvance(price(slug));
    if (start(period + 1).equals(PlainCalendar.NEVER)) {
      return whole.toCents();
    }
    long share = Duration.between(start(period), endOf(period)).toMillis();
    long all = Duration.between(start(period), start(period + 1)).toMillis();
    return whole.times(Fraction.of(share)).dividedBy(Fraction.of(all)).toCents();
  }

  private Line fixed(Kind kind, String slug, int period, BigDecimal amount) {
    Fraction quantity = slug.equals("base") ? Fraction.of(1) : Fraction.of(price(slug).quantity());
    return new Line(kind, slug, period, start(period), endOf(period), quantity, amount, null);
  }

  private Price price(String slug) {
    return facts.plan().prices().stream()
        .filter(price -> price.slug().equals(slug))
        .findFirst()
        .orElseThrow();
  }

  boolean hasArrears(int period) {
    boolean charged =
        !PlainCalendar.isTrial(subscription, period) || facts.plan().chargeUsageDuringTrial();
    return charged
        && !isSuppressed(period)
        && facts.plan().prices().stream().anyMatch(Price::inArrears);
  }

  boolean isSuppressed(int period) {
    return subscription.invoicesFrom() != null
        && !endOf(period).isAfter(subscription.invoicesFrom());
  }

  /** Whether the event belongs to a period whose usage an invoice shows. */
  boolean wasBilledWithout(Event event, int next) {
    for (Price price : facts.plan().prices()) {
      for (int period = 0; period < next && price.inArrears(); period++) {
        if (isBilled(price.slug(), period)
            && !PlainUsage.of(
                    List.of(event), subscription.customer(), price, start(period), endOf(period))
                .isEmpty()) {
          return true;
        }
      }
    }
    return false;
  }

  private Instant start(int period) {
    return PlainCalendar.start(subscription, facts.zone(), period);
  }

  private Instant endOf(int period) {
    Instant whole = start(period + 1);
    return end != null && end.isBefore(whole) ? end : whole;
  }
}
