package io.steelyard.oracle;

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
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;

/**
 * A random history before its times are known: they are told by the periods of its subscriptions.
 *
 * @param origin where the merchant's clock is first set
 */
record Script(ZoneId zone, Instant origin, Plan plan, List<Asked> subscriptions, List<Step> steps) {
  private static final Duration LONGEST_TRIP = Duration.ofDays(3 * 366);

  /**
   * A subscription, asked for in a step.
   *
   * @param endsAfter null for no end
   */
  record Asked(int step, Subscription terms) {}

  /** What is done while the clock stands, and how far it is set then. */
  record Step(List<Post> posts, List<Change> changes, boolean settled, Trip trip) {}

  record Post(List<Sent> events) {}

  /**
   * @param repeats whether it takes the key of the event sent before
   */
  record Sent(int meter, Moment at, boolean repeats, Object value) {}

  /**
   * An instant of a subscription's period.
   *
   * @param back how many periods before the one that is open when it is sent
   * @param permille how far into the period, when {@code edge} is null
   * @param edge milliseconds from the period's start
   */
  record Moment(int subscription, int back, int permille, Integer edge) {}

  record Change(int subscription, boolean cancels) {}

  /**
   * To a boundary of a subscription, or by some days.
   *
   * @param boundaries how many boundaries ahead; 0 for by days
   * @param toEnd to the subscription's end instead of a boundary
   */
  record Trip(int subscription, int boundaries, boolean toEnd, Duration more) {}

  /** The history with all its times. */
  Facts facts(Duration grace) {
    Telling telling = new Telling(grace);
    telling.tell(new ClockSet(origin));
    for (int i = 0; i < steps.size(); i++) {
      telling.step(i, steps.get(i));
    }
    return new Facts(zone, plan, telling.told);
  }

  @Override
  public String toString() {
    return "\n" + facts(Duration.ofDays(3)).story();
  }

  private Subscription subscription(int number) {
    return subscriptions.get(number % subscriptions.size()).terms();
  }

  private final class Telling {
    private final List<Fact> told = new ArrayList<>();
    private final Duration grace;
    private final Instant[] ends = new Instant[subscriptions.size()];
    private final boolean[] known = new boolean[subscriptions.size()];
    private final boolean[] deleted = new boolean[subscriptions.size()];
    private Instant now = origin;
    private String key;
    private int keys;

    Telling(Duration grace) {
      this.grace = grace;
    }

    void tell(Fact fact) {
      told.add(fact);
    }

    void step(int number, Step step) {
      boolean subscribed = false;
      for (Asked asked : subscriptions) {
        if (asked.step() == number) {
          tell(new Subscribed(asked.terms()));
          ends[asked.terms().number()] = asked.terms().end();
          known[asked.terms().number()] = true;
          subscribed = true;
        }
      }
      // what is due at once is done before anything else happens
      if (subscribed) {
        tell(new ClockSet(now));
      }
      step.posts().forEach(this::post);
      step.changes().forEach(this::change);
      // the clock at which late usage is counted dates the invoice of a subscription that is over
      if (step.settled() || anyEnded()) {
        tell(new ClockSet(now));
      }
      now = after(step.trip());
      tell(new ClockSet(now));
    }

    private boolean anyEnded() {
      for (int i = 0; i < ends.length; i++) {
        if (known[i] && ends[i] != null && !now.isBefore(ends[i])) {
          return true;
        }
      }
      return false;
    }

    private void post(Post post) {
      List<Event> events = new ArrayList<>();
      for (Sent sent : post.events()) {
        if (key == null || !sent.repeats()) {
          key = "00000000-0000-4000-8000-%012d".formatted(++keys);
        }
        Price price = plan.prices().get(sent.meter() % plan.prices().size());
        int customer = subscription(sent.at().subscription()).customer();
        events.add(new Event(customer, price.slug(), key, instant(sent.at()), sent.value()));
      }
      tell(new Accepted(events));
    }

    private Instant instant(Moment moment) {
      Subscription subscription = subscription(moment.subscription());
      int period = Math.max(0, nextBoundary(subscription) - 1 - moment.back());
      Instant start = PlainCalendar.start(subscription, zone, period);
      if (start.equals(PlainCalendar.NEVER)) {
        start = now;
      }
      if (moment.edge() != null) {
        return start.plusMillis(moment.edge());
      }
      Instant end = PlainCalendar.start(subscription, zone, period + 1);
      Duration length = Duration.between(start, end);
      length = length.compareTo(LONGEST_TRIP) > 0 ? Duration.ofDays(30) : length;
      return start.plusMillis(length.toMillis() / 1000 * moment.permille());
    }

    /** The index of the first period that has not started. */
    private int nextBoundary(Subscription subscription) {
      int index = 0;
      while (!now.isBefore(PlainCalendar.start(subscription, zone, index))) {
        index++;
      }
      return index;
    }

    private void change(Change change) {
      int number = change.subscription() % ends.length;
      boolean ended = ends[number] != null && !now.isBefore(ends[number]);
      if (!known[number] || deleted[number] || ended) {
        return;
      }
      Subscription subscription = subscription(number);
      boolean endless = boundary(subscription, 1).equals(PlainCalendar.NEVER);
      if (!change.cancels()) {
        ends[number] = null;
        tell(new Renewed(number));
        return;
      }
      tell(new Cancelled(number));
      if (now.isBefore(subscription.start())) {
        deleted[number] = true;
        return;
      }
      Instant last = boundary(subscription, 1);
      last = endless ? (now.isAfter(subscription.start()) ? now : now.plusMillis(1)) : last;
      ends[number] = ends[number] == null || last.isBefore(ends[number]) ? last : ends[number];
      if (endless) {
        tell(new ClockSet(now));
      }
    }

    private Instant boundary(Subscription subscription, int ahead) {
      return PlainCalendar.start(subscription, zone, nextBoundary(subscription) + ahead - 1);
    }

    private Instant after(Trip trip) {
      Instant then = now;
      int number = trip.subscription() % ends.length;
      if (trip.toEnd() && ends[number] != null) {
        then = ends[number];
      } else if (trip.boundaries() > 0) {
        then = boundary(subscription(number), trip.boundaries());
      }
      then = then.plus(trip.more());
      boolean tooFar = Duration.between(now, then).compareTo(LONGEST_TRIP) > 0;
      return tooFar || !then.isAfter(now) ? now.plus(grace) : then;
    }
  }
}
