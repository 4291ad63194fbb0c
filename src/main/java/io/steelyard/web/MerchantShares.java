package io.steelyard.web;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.steelyard.bus.Waits;
import io.steelyard.config.Config;
import io.steelyard.domain.Id;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.shareddata.Shareable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiPredicate;
import java.util.function.Consumer;

/**
 * What each merchant has in flight in all instances of this process together, and may have: a
 * percentage of what a single instance takes, be it of HTTP or of a feature behind it. So however
 * many instances there are, and whichever of them its requests come to, one merchant that floods
 * fills none of them. What finds no place waits in line for a while, its body unread, so that a
 * sender is slowed down before it is refused.
 *
 * <p>A request whose body falls silent is not among those in flight until it is there: senders
 * behind a network that is lost keep their merchant's others from nothing. What has come of their
 * bodies counts, no longer what they promised; and how many they are is bounded by a percentage of
 * an instance's connections. For all threads.
 */
final class MerchantShares implements Shareable {
  private static final String NAME = "steelyard.merchant-shares";

  private final int requestsMax;
  private final int silentMax;
  private final long bytesMax;
  private final int bodyMax;
  private final long waitingBytesMax;
  private final long waitingBytesMaxEach;
  private final int waitMs;
  private final AtomicLong waitingBytes = new AtomicLong();
  private final AtomicLong waitingRequests = new AtomicLong();

  /** Those with requests in flight or in line, both of which are bounded. */
  private final ConcurrentMap<Id, Share> shares = new ConcurrentHashMap<>();

  private MerchantShares(Config.Limits limits, int waitMs, MeterRegistry metrics) {
    int placesOfOne =
        Math.min(limits.httpInFlightPerInstance(), limits.verticleInFlightPerInstance());
    this.requestsMax = Math.ceilDiv(placesOfOne * limits.httpInFlightPercentPerMerchant(), 100);
    this.silentMax =
        Math.ceilDiv(
            limits.connectionsPerInstance() * limits.httpInFlightPercentPerMerchant(), 100);
    this.bytesMax = limits.bodyBytesPerMerchant();
    this.bodyMax = limits.bodyBytes();
    this.waitingBytesMax = limits.bodyBytesInFlight();
    this.waitingBytesMaxEach = waitingBytesMax / 2;
    this.waitMs = waitMs;
    Gauge.builder("steelyard.http.waiting", waitingRequests, AtomicLong::get)
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
        .computeIfAbsent(NAME, name -> new MerchantShares(limits, waitMs, metrics));
  }

  /** How many requests are in line. */
  long waiting() {
    return waitingRequests.get();
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
          Share share = present == null ? new Share(id) : present;
          boolean isNext = bodyBytes == 0 || !share.isWaitedFor();
          entered[0] = isNext ? share.enter(bodyBytes) : null;
          return share;
        });
    return entered[0];
  }

  /**
   * Waits for a place behind those that wait already, for as long as a request may. What is too
   * much for the line waits as long, though only to be refused: who is refused at once would only
   * come back so much sooner.
   *
   * @param bodyBytes that are said to follow; negative where nothing is said
   * @param waits ends those of the caller's context, which must be one of Vert.x
   */
  PlaceWait await(Id merchant, long bodyBytes, Waits waits) {
    return await(
        new PlaceWait(this, merchant, bodyBytes, waitMs, waits), (share, wait) -> share.join(wait));
  }

  private PlaceWait await(PlaceWait wait, BiPredicate<Share, PlaceWait> join) {
    if (waitMs == 0) {
      wait.refuse();
    } else {
      wait.begin();
      change(wait.merchant(), share -> wait.joined(join.test(share, wait)));
    }
    return wait;
  }

  /** Whether it stood in line; no more then. */
  boolean leaveLine(PlaceWait wait) {
    boolean[] stood = new boolean[1];
    change(wait.merchant(), share -> stood[0] = share.leaveLine(wait));
    return stood[0];
  }

  /** Hands over what places there are then to those who have waited longest. */
  private void change(Id merchant, Consumer<Share> change) {
    List<PlaceWait> admitted = new ArrayList<>(1);
    shares.compute(
        merchant,
        (id, present) -> {
          Share share = present == null ? new Share(id) : present;
          change.accept(share);
          share.admit(admitted);
          return share.isIdle() ? null : share;
        });
    admitted.forEach(PlaceWait::handOver);
  }

  /** What one merchant has in flight, and who waits. */
  private final class Share {
    private final Id merchant;
    private final AtomicLong bytes = new AtomicLong();

    // These are read and written only while the map holds on to the merchant.
    private final Set<PlaceWait> line = new LinkedHashSet<>();

    /** Those whose bodies had fallen silent and have come, before those in line. */
    private final Set<PlaceWait> back = new LinkedHashSet<>();

    private long bytesInLine;
    private int requests;
    private int silent;

    private Share(Id merchant) {
      this.merchant = merchant;
    }

    private boolean fits(long more) {
      return more <= 0 || bytes.get() + more <= bytesMax;
    }

    private boolean take(long more) {
      if (more <= 0) {
        return true;
      }
      long before = bytes.get();
      while (before + more <= bytesMax) { // no other sees more than there is
        if (bytes.compareAndSet(before, before + more)) {
          return true;
        }
        before = bytes.get();
      }
      return false;
    }

    private boolean isIdle() {
      return requests == 0 && silent == 0 && !isWaitedFor();
    }

    private boolean isWaitedFor() {
      return !line.isEmpty() || !back.isEmpty();
    }

    /** Null where there is none; a request alone has one, whatever its body. */
    private Place enter(long bodyBytes) {
      long promised = Math.clamp(bodyBytes, 0, bodyMax);
      if (requests == 0 && silent == 0) {
        bytes.addAndGet(promised);
      } else if (requests >= requestsMax || !take(promised)) {
        return null;
      }
      requests++;
      return new Place(this, promised);
    }

    private boolean suspend(Place place) {
      if (silent >= silentMax) {
        return false;
      }
      silent++;
      requests--;
      place.suspended = true;
      bytes.addAndGet(place.bytes - place.counted(place.bytes));
      place.promised = 0;
      return true;
    }

    private boolean resume(Place place) {
      if (requests >= requestsMax) {
        return false;
      }
      silent--;
      requests++;
      place.suspended = false;
      return true;
    }

    private boolean joinBack(PlaceWait wait) {
      waitingRequests.incrementAndGet();
      return back.add(wait);
    }

    private void left(Place place) {
      if (place.suspended) {
        silent--;
      } else {
        requests--;
      }
    }

    private boolean join(PlaceWait wait) {
      if (bytesInLine + wait.bytes() > waitingBytesMaxEach) {
        return false;
      }
      if (waitingBytes.addAndGet(wait.bytes()) > waitingBytesMax) {
        waitingBytes.addAndGet(-wait.bytes());
        return false;
      }
      bytesInLine += wait.bytes();
      waitingRequests.incrementAndGet();
      return line.add(wait);
    }

    private boolean leaveLine(PlaceWait wait) {
      if (line.remove(wait)) {
        left(wait);
        return true;
      }
      if (back.remove(wait)) {
        waitingRequests.decrementAndGet();
        return true;
      }
      return false;
    }

    private void left(PlaceWait wait) {
      bytesInLine -= wait.bytes();
      waitingBytes.addAndGet(-wait.bytes());
      waitingRequests.decrementAndGet();
    }

    private void admit(List<PlaceWait> admitted) {
      Iterator<PlaceWait> came = back.iterator();
      while (came.hasNext()) {
        PlaceWait wait = came.next();
        if (!resume(wait.given())) {
          return;
        }
        came.remove();
        waitingRequests.decrementAndGet();
        admitted.add(wait);
      }
      Iterator<PlaceWait> first = line.iterator();
      while (first.hasNext()) {
        PlaceWait wait = first.next();
        Place place = enter(wait.bodyBytes());
        if (place == null) {
          return;
        }
        first.remove();
        left(wait);
        wait.given(place);
        admitted.add(wait);
      }
    }
  }

  /**
   * One request's, in flight. The bytes that it promised count from the beginning, or all that wait
   * would be let in upon the same room. (A merchant that promises more than it sends takes from
   * nobody else.) Belongs to one event loop.
   */
  final class Place {
    private final Share share;
    private long promised;
    private long bytes;

    /** Written only while the map holds on to the merchant. */
    private volatile boolean suspended;

    private Place(Share share, long promised) {
      this.share = share;
      this.promised = promised;
    }

    /**
     * Not in flight until {@link #resume}, and nothing of what it promised is its own any more;
     * false where too many of its merchant's are like it.
     */
    boolean suspend() {
      boolean[] done = new boolean[1];
      change(share.merchant, its -> done[0] = its.suspend(this));
      return done[0];
    }

    /**
     * In flight again, at once or when one of those in flight has ended. Fails as {@link
     * PlaceWait#place} does; it must be {@link #leave left} then too.
     *
     * @param waits ends those of the caller's context, which must be one of Vert.x
     */
    Future<?> resume(Waits waits) {
      if (!suspended) {
        return Future.succeededFuture();
      }
      boolean[] done = new boolean[1];
      change(share.merchant, its -> done[0] = its.resume(this));
      if (done[0]) {
        return Future.succeededFuture();
      }
      PlaceWait wait = new PlaceWait(MerchantShares.this, share.merchant, 0, waitMs, waits);
      wait.given(this);
      return await(wait, Share::joinBack).place();
    }

    /** Whether so many more bytes of its body would be within its merchant's share now. */
    boolean fits(long more) {
      return share.fits(counted(bytes + more) - counted(bytes));
    }

    boolean take(long more) {
      if (!share.take(counted(bytes + more) - counted(bytes))) {
        return false;
      }
      bytes += more;
      return true;
    }

    void giveBack(long fewer) {
      share.bytes.addAndGet(counted(bytes - fewer) - counted(bytes));
      bytes -= fewer;
    }

    private long counted(long ofBody) {
      return Math.max(promised, ofBody);
    }

    /** Gives all of it back, to whoever waits. Once. */
    void leave() {
      share.bytes.addAndGet(-counted(bytes));
      change(share.merchant, its -> its.left(this));
    }
  }
}
