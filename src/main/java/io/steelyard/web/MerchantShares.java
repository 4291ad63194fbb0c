package io.steelyard.web;

import io.steelyard.bus.Failure;
import io.steelyard.bus.Waits;
import io.steelyard.config.Config;
import io.steelyard.domain.Id;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.shareddata.Shareable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What each merchant has in flight in all instances of this process together, and may have: a
 * percentage of what a single instance takes, be it of HTTP or of a feature behind it. So however
 * many instances there are, and whichever of them its requests come to, one merchant that floods
 * fills none of them. What finds no place waits in line for a while, its body unread, so that a
 * sender is slowed down before it is refused. For all threads.
 */
final class MerchantShares implements Shareable {
  private static final String NAME = "steelyard.merchant-shares";

  // What a request takes while it waits: its head, and as much of its body as comes before the
  // connection is no longer read.
  private static final int HEAD_BYTES = 2048;
  private static final int UNREAD_BYTES_MAX = 256 * 1024;

  private final int requestsMax;
  private final long bytesMax;
  private final long waitingBytesMax;
  private final long waitingBytesMaxEach;
  private final int waitMs;
  private final AtomicLong waitingBytes = new AtomicLong();
  private final AtomicLong waitingRequests = new AtomicLong();

  /** Those with requests in flight, which are bounded. */
  private final ConcurrentMap<Id, Share> shares = new ConcurrentHashMap<>();

  private MerchantShares(Config.Limits limits, int waitMs) {
    int placesOfOne =
        Math.min(limits.httpInFlightPerInstance(), limits.verticleInFlightPerInstance());
    this.requestsMax = Math.ceilDiv(placesOfOne * limits.httpInFlightPercentPerMerchant(), 100);
    this.bytesMax = limits.bodyBytesPerMerchant();
    this.waitingBytesMax = limits.bodyBytesInFlight();
    this.waitingBytesMaxEach = waitingBytesMax / 2;
    this.waitMs = waitMs;
  }

  /** Those of one Vert.x. */
  static MerchantShares of(Vertx vertx, Config config) {
    return vertx
        .sharedData()
        .<String, MerchantShares>getLocalMap(NAME)
        .computeIfAbsent(
            NAME, name -> new MerchantShares(config.limits(), config.timeouts().placeMs()));
  }

  /** How many requests wait for a place. */
  long waiting() {
    return waitingRequests.get();
  }

  /**
   * A merchant with a place taken for one more request, if there is one now and nobody waits for
   * it; else null.
   *
   * @param bodyBytes that are said to follow
   */
  Share enter(Id merchant, long bodyBytes) {
    boolean[] entered = new boolean[1];
    Share share =
        shares.compute(
            merchant,
            (id, present) -> {
              Share its = present == null ? new Share(id) : present;
              entered[0] = its.line.isEmpty() && its.enter(bodyBytes);
              return its;
            });
    return entered[0] ? share : null;
  }

  /**
   * Waits for a place behind those that wait already, for as long as a request may; then {@link
   * Failure.Overloaded}. So does what is too much for the line, though it has nothing to wait for:
   * who is refused at once would only come back so much sooner.
   *
   * @param bodyBytes that are said to follow; negative where nothing is said
   * @param waits ends those of the caller's context
   */
  Waiting await(Id merchant, long bodyBytes, Waits waits) {
    Waiting waiting = new Waiting(merchant, bodyBytes, waits);
    if (waitMs == 0) {
      waiting.refuse();
      return waiting;
    }
    shares.compute(
        merchant,
        (id, present) -> {
          Share its = present == null ? new Share(id) : present;
          waiting.inLine = its.join(waiting);
          return its.isIdle() ? null : its;
        });
    waits.add(waiting);
    if (waiting.inLine) {
      admit(merchant); // places may have become free since there was none
    }
    return waiting;
  }

  /** Gives places to those who have waited longest, as far as there are any. */
  private void admit(Id merchant) {
    List<Waiting> admitted = new ArrayList<>(1);
    Share share =
        shares.computeIfPresent(
            merchant,
            (id, its) -> {
              its.admit(admitted);
              return its.isIdle() ? null : its;
            });
    admitted.forEach(waiting -> waiting.take(share));
  }

  /** A request that has no place yet. */
  final class Waiting extends Waits.Wait {
    private final Id merchant;
    private final long bodyBytes;
    private final long bytes;
    private final Waits waits;
    private final Promise<Share> place = ContextInternal.current().promise();
    private boolean inLine;

    private Waiting(Id merchant, long bodyBytes, Waits waits) {
      super(waitMs);
      this.merchant = merchant;
      this.bodyBytes = bodyBytes;
      this.bytes =
          HEAD_BYTES + (bodyBytes < 0 ? UNREAD_BYTES_MAX : Math.min(bodyBytes, UNREAD_BYTES_MAX));
      this.waits = waits;
    }

    /** Whether it may get one; otherwise it only waits to be refused. */
    boolean isInLine() {
      return inLine;
    }

    /** On the context of who waits. */
    Future<Share> place() {
      return place.future();
    }

    /** No place is wanted any more. */
    void giveUp() {
      waits.remove(this);
      expire();
    }

    private void take(Share share) {
      waits.remove(this);
      place.complete(share);
    }

    private void refuse() {
      waits.remove(this);
      place.tryFail(
          new Failure.Overloaded(
                  "overloaded",
                  "Too many requests of this merchant, or bytes of their bodies, are under way."
                      + " Try again.",
                  1)
              .asException());
    }

    @Override
    protected void expire() {
      boolean[] left = {!inLine};
      shares.computeIfPresent(
          merchant,
          (id, its) -> {
            left[0] |= its.leaveLine(this);
            return its;
          });
      if (left[0]) {
        refuse();
        admit(merchant); // who stood behind may want less
      }
    }
  }

  /** What one merchant has in flight. */
  final class Share {
    private final Id merchant;
    private final AtomicLong bytes = new AtomicLong();

    // These are read and written only while the map holds on to the merchant.
    private final Set<Waiting> line = new LinkedHashSet<>();
    private int requests;
    private long bytesInLine;

    private Share(Id merchant) {
      this.merchant = merchant;
    }

    /** Whether so many more bytes of bodies would be within it now. */
    boolean fits(long more) {
      return bytes.get() + more <= bytesMax;
    }

    boolean take(long more) {
      if (bytes.addAndGet(more) <= bytesMax) {
        return true;
      }
      bytes.addAndGet(-more);
      return false;
    }

    void giveBack(long fewer) {
      bytes.addAndGet(-fewer);
    }

    /** Gives a request's place back; its bytes must have been given back before. */
    void leave() {
      List<Waiting> admitted = new ArrayList<>(1);
      shares.compute(
          merchant,
          (id, its) -> {
            requests--;
            admit(admitted);
            return isIdle() ? null : its;
          });
      admitted.forEach(waiting -> waiting.take(this));
    }

    private boolean isIdle() {
      return requests == 0 && line.isEmpty();
    }

    /** A request alone has a place, whatever its body. */
    private boolean enter(long bodyBytes) {
      if (requests > 0 && (requests >= requestsMax || !fits(Math.max(0, bodyBytes)))) {
        return false;
      }
      requests++;
      return true;
    }

    private boolean join(Waiting waiting) {
      if (bytesInLine + waiting.bytes > waitingBytesMaxEach
          || waitingBytes.get() + waiting.bytes > waitingBytesMax) {
        return false;
      }
      line.add(waiting);
      inLine(waiting, 1);
      return true;
    }

    private boolean leaveLine(Waiting waiting) {
      boolean stood = line.remove(waiting);
      if (stood) {
        inLine(waiting, -1);
      }
      return stood;
    }

    private void admit(List<Waiting> admitted) {
      Iterator<Waiting> first = line.iterator();
      while (first.hasNext()) {
        Waiting waiting = first.next();
        if (!enter(waiting.bodyBytes)) {
          return;
        }
        first.remove();
        inLine(waiting, -1);
        admitted.add(waiting);
      }
    }

    private void inLine(Waiting waiting, int more) {
      bytesInLine += more * waiting.bytes;
      waitingBytes.addAndGet(more * waiting.bytes);
      waitingRequests.addAndGet(more);
    }
  }
}
