package io.steelyard.oracle;

import static io.steelyard.oracle.PlainCalendar.NEVER;

import io.steelyard.oracle.Expected.Last;
import io.steelyard.oracle.Expected.Line;
import io.steelyard.oracle.Facts.Accepted;
import io.steelyard.oracle.Facts.Cancelled;
import io.steelyard.oracle.Facts.ClockSet;
import io.steelyard.oracle.Facts.Event;
import io.steelyard.oracle.Facts.Fact;
import io.steelyard.oracle.Facts.Renewed;
import io.steelyard.oracle.Facts.Subscribed;
import io.steelyard.oracle.Facts.Subscription;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** When one subscription's invoices are made and become final. */
final class Life {
  private final Facts facts;
  private final Subscription subscription;
  private final Duration grace;
  private final List<Expected> invoices = new ArrayList<>();
  private final Charges charges;
  private Instant now;
  private Instant createdAt;
  private boolean deleted;
  private boolean over;
  // the period to open next
  private int next;
  // the fact at which usage was last looked at for a final invoice
  private int taken;

  private Life(Facts facts, Subscription subscription, Duration grace) {
    this.facts = facts;
    this.subscription = subscription;
    this.grace = grace;
    this.charges = new Charges(facts, subscription, invoices);
  }

  /** The invoices of a subscription after all the facts, in the order of their boundaries. */
  static List<Expected> invoices(Facts facts, Subscription subscription, Duration grace) {
    Life life = new Life(facts, subscription, grace);
    for (int i = 0; i < facts.all().size(); i++) {
      life.live(i);
    }
    return life.invoices;
  }

  private void live(int position) {
    Fact fact = facts.all().get(position);
    if (fact instanceof ClockSet clock) {
      now = clock.now();
      run(position);
    }
    if (fact instanceof Subscribed it && it.subscription().equals(subscription)) {
      createdAt = now;
      charges.endsAt(it.subscription().end());
    }
    if (fact instanceof Cancelled it && it.subscription() == subscription.number()) {
      cancel();
    }
    if (fact instanceof Renewed it && it.subscription() == subscription.number()) {
      charges.endsAt(null);
    }
  }

  private void cancel() {
    deleted = now.isBefore(subscription.start());
    int period = 0;
    while (!now.isBefore(start(period + 1))) {
      period++;
    }
    Instant last = start(period + 1).equals(NEVER) ? endless(start(period)) : start(period + 1);
    charges.endsAt(earlier(charges.end(), last));
  }

  /** A period without end is over at once, but no period is empty. */
  private Instant endless(Instant start) {
    return now.isAfter(start) ? now : start.plusMillis(1);
  }

  /** Does what is due, in the order in which it fell due. */
  private void run(int position) {
    while (createdAt != null && !deleted) {
      Expected pending = invoices.stream().filter(Expected::isPending).findFirst().orElse(null);
      Instant boundary = over ? NEVER : earlier(charges.end(), start(next));
      Instant finalise = pending == null ? NEVER : pending.finaliseAt();
      boolean noMore = over || boundary.equals(NEVER);
      Instant late = noMore && pending == null ? lateAt(position) : NEVER;
      if (earlier(boundary, earlier(finalise, late)).isAfter(now)) {
        return;
      }
      if (!boundary.isAfter(finalise) && !boundary.isAfter(late)) {
        pass(position, boundary);
      } else if (!finalise.isAfter(late)) {
        invoices.set(invoices.indexOf(pending), finalised(position, pending));
      } else {
        add(position, late, List.of(), false);
      }
    }
  }

  private void pass(int position, Instant boundary) {
    over = boundary.equals(charges.end());
    boolean advance = !over && !charges.isSuppressed(next);
    List<Line> lines = advance ? charges.inAdvance(next) : List.of();
    if (next > 0 && charges.hasArrears(next - 1)) {
      Instant finaliseAt = boundary.plus(grace);
      invoices.add(new Expected(subscription.number(), next, boundary, finaliseAt, lines, null));
    } else {
      add(position, boundary, lines, advance);
    }
    next++;
  }

  /**
   * An invoice that is final at once. Without lines there is one only where a period begins, whose
   * units belong to it.
   */
  private void add(int position, Instant at, List<Line> advance, boolean begins) {
    Expected made = new Expected(subscription.number(), next, at, at, advance, null);
    Expected last = finalised(position, made);
    if (begins || !last.lines().isEmpty()) {
      invoices.add(last);
    }
  }

  private Expected finalised(int position, Expected made) {
    taken = position;
    List<Event> events = PlainUsage.accepted(facts.upTo(position));
    List<Line> others = new ArrayList<>();
    if (made.finaliseAt().isAfter(made.boundaryAt())) {
      others.addAll(charges.inArrears(made.boundary() - 1, events));
    }
    others.addAll(charges.adjustments(made.boundary(), events));
    Instant issue = made.finaliseAt().isBefore(createdAt) ? createdAt : made.finaliseAt();
    Instant due = PlainCalendar.endOfDay(issue, facts.plan().netTerms().days(), facts.zone());
    BigDecimal total =
        Stream.concat(made.advance().stream(), others.stream())
            .map(Line::amount)
            .reduce(BigDecimal.ZERO, BigDecimal::add);
    String status = total.signum() > 0 ? "test" : "paid";
    return new Expected(
        made.subscription(),
        made.boundary(),
        made.boundaryAt(),
        made.finaliseAt(),
        made.advance(),
        new Last(issue, due, status, others));
  }

  /** When usage that came after the last invoice is billed by one of its own. */
  private Instant lateAt(int position) {
    Set<String> keys = new HashSet<>();
    Instant clock = NEVER;
    for (int i = 0; i < position; i++) {
      if (facts.all().get(i) instanceof ClockSet set) {
        clock = set.now();
      }
      if (facts.all().get(i) instanceof Accepted accepted) {
        for (Event event : accepted.events()) {
          boolean first = keys.add(event.key());
          if (first && i > taken && charges.wasBilledWithout(event, next)) {
            return clock.plus(grace);
          }
        }
      }
    }
    return NEVER;
  }

  private Instant start(int period) {
    return PlainCalendar.start(subscription, facts.zone(), period);
  }

  private static Instant earlier(Instant a, Instant b) {
    return a == null || b.isBefore(a) ? b : a;
  }
}
