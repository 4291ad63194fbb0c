package io.steelyard.web;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.steelyard.bus.Waits;
import io.steelyard.config.Config;
import io.steelyard.domain.Id;
import io.vertx.core.Vertx;
import io.vertx.core.shareddata.Shareable;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Predicate;

/**
 * What each merchant has in flight in all instances of this process together, and may have, see
 * {@link ShareLimits}. So however many instances there are, and whichever of them its requests come
 * to, one merchant that floods fills none of them. What finds no place waits in line for a while,
 * its body unread, so that a sender is slowed down before it is refused.
 *
 * <p>A request whose body falls silent is not among those in flight until it is there: senders
 * behind a network that is lost keep their merchant's others from nothing. What has come of their
 * bodies counts, no longer what they promised; and how many they are is bounded by a percentage of
 * an instance's connections.
 *
 * <p>For all threads: a merchant's share changes while the map holds on to the merchant, and who
 * gets a place by that is told afterwards, on the event loop that it waits on.
 */
final class MerchantShares implements Shareable {
  private static final String NAME = "steelyard.merchant-shares";

  private final ShareLimits limits;
  private final int waitMs;
  private final PlaceLine.Total waiting;

  /** Those with requests in flight or in line, both of which are bounded. */
  private final ConcurrentMap<Id, MerchantShare> shares = new ConcurrentHashMap<>();

  private MerchantShares(ShareLimits limits, int waitMs, MeterRegistry metrics) {
    this.limits = limits;
    this.waitMs = waitMs;
    this.waiting = new PlaceLine.Total(limits.linesBytesMax());
    Gauge.builder("steelyard.http.waiting", waiting, PlaceLine.Total::requests)
        .description("Requests that wait for one of their merchant's to end")
        .register(metrics);
  }

  /**
   * Those of one Vert.x.
   *
   * @param waitMs for a place; 0 for not at all
   */
  static MerchantShares of(Vertx vertx, Config.Limits limits, int waitMs, MeterRegistry metrics) {
    return vertx
        .sharedData()
        .<String, MerchantShares>getLocalMap(NAME)
        .computeIfAbsent(NAME, name -> new MerchantShares(ShareLimits.of(limits), waitMs, metrics));
  }

  /** How many requests are in line. */
  long waiting() {
    return waiting.requests();
  }

  /** Whether nobody has anything in flight or in line. */
  boolean isIdle() {
    return shares.isEmpty();
  }

  /**
   * One more request's place, if there is one now and nobody waits for it; else null. While those
   * who wait lack room for their bodies, a request without one takes nothing from them.
   *
   * @param bodyBytes that are said to follow; negative where nothing is said
   */
  Place enter(Id merchant, long bodyBytes) {
    Place[] entered = new Place[1];
    shares.compute(
        merchant,
        (id, present) -> {
          MerchantShare share = of(id, present);
          boolean isNext = bodyBytes == 0 || share.line().isEmpty();
          entered[0] = isNext ? share.enter(bodyBytes) : null;
          return share;
        });
    return entered[0];
  }

  private MerchantShare of(Id merchant, MerchantShare present) {
    return present == null ? new MerchantShare(this, merchant, limits, waiting) : present;
  }

  /**
   * Waits for a place behind those that wait already, for as long as a request may. What is too
   * much for the line waits as long, though only to be refused: who is refused at once would only
   * come back so much sooner. What comes while too many wait like that is refused at once.
   *
   * @param bodyBytes that are said to follow; negative where nothing is said
   * @param waits ends those of the caller's context, which must be one of Vert.x
   */
  PlaceWait await(Id merchant, long bodyBytes, Waits waits) {
    return begun(new PlaceWait(this, merchant, bodyBytes, waitMs, waits));
  }

  /** Likewise to be in flight again, before those who wait for their first place. */
  PlaceWait awaitAgain(Place suspended, Waits waits) {
    return begun(new PlaceWait(this, suspended, waitMs, waits));
  }

  private PlaceWait begun(PlaceWait wait) {
    if (waitMs == 0) {
      wait.refuse();
      return wait;
    }
    wait.begin();
    if (change(wait.merchant(), share -> share.line().join(wait))) {
      wait.joined();
    } else if (waiting.addInVain()) {
      wait.endsInVain(waiting::removeInVain);
    } else {
      wait.giveUp();
    }
    return wait;
  }

  /** Whether it stood in line; no more then. */
  boolean leaveLine(PlaceWait wait) {
    return change(wait.merchant(), share -> share.line().leave(wait));
  }

  /**
   * Makes a change while no other thread makes one for this merchant, and hands over what places
   * there are then to those who have waited longest.
   *
   * @return what the change did
   */
  boolean change(Id merchant, Predicate<MerchantShare> change) {
    boolean[] done = new boolean[1];
    List<PlaceWait> admitted = new ArrayList<>(1);
    shares.compute(
        merchant,
        (id, present) -> {
          MerchantShare share = of(id, present);
          done[0] = change.test(share);
          share.admit(admitted);
          return share.isIdle() ? null : share;
        });
    admitted.forEach(PlaceWait::handOver);
    return done[0];
  }
}
