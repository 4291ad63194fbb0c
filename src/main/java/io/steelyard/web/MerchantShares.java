package io.steelyard.web;

import io.steelyard.config.Config;
import io.steelyard.domain.Id;
import io.vertx.core.Vertx;
import io.vertx.core.shareddata.Shareable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What each merchant has in flight in all instances of this process together, and may have: a
 * percentage of what a single instance takes, be it of HTTP or of a feature behind it. So however
 * many instances there are, and whichever of them its requests come to, one merchant that floods
 * fills none of them. For all threads.
 */
final class MerchantShares implements Shareable {
  private static final String NAME = "steelyard.merchant-shares";

  private final int requestsMax;
  private final long bytesMax;

  /** Those with requests in flight, which are bounded. */
  private final ConcurrentMap<Id, Share> shares = new ConcurrentHashMap<>();

  private MerchantShares(Config.Limits limits) {
    int placesOfOne =
        Math.min(limits.httpInFlightPerInstance(), limits.verticleInFlightPerInstance());
    this.requestsMax = Math.ceilDiv(placesOfOne * limits.httpInFlightPercentPerMerchant(), 100);
    this.bytesMax = limits.bodyBytesPerMerchant();
  }

  /** Those of one Vert.x. */
  static MerchantShares of(Vertx vertx, Config.Limits limits) {
    return vertx
        .sharedData()
        .<String, MerchantShares>getLocalMap(NAME)
        .computeIfAbsent(NAME, name -> new MerchantShares(limits));
  }

  /** A merchant with a place taken for one more request; null where it has all that it may have. */
  Share enter(Id merchant) {
    boolean[] entered = new boolean[1];
    Share share =
        shares.compute(
            merchant,
            (id, present) -> {
              Share its = present == null ? new Share(id) : present;
              entered[0] = its.requests < requestsMax;
              its.requests += entered[0] ? 1 : 0;
              return its;
            });
    return entered[0] ? share : null;
  }

  /** What one merchant has in flight. */
  final class Share {
    private final Id merchant;
    private final AtomicLong bytes = new AtomicLong();

    /** Read and written only while the map holds on to the merchant. */
    private int requests;

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
      shares.compute(merchant, (id, its) -> --its.requests == 0 ? null : its);
    }
  }
}
