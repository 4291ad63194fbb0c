package io.steelyard.web;

import io.steelyard.bus.Waits;
import io.steelyard.domain.Id;
import io.vertx.core.Future;

/**
 * One request's, among those that its merchant has in flight. The bytes that its body promised
 * count from the beginning, or all that wait would be let in upon the same room. (A merchant that
 * promises more than it sends takes from nobody else.)
 *
 * <p>Belongs to the event loop of its request. Only while it waits to be in flight again may
 * another thread let it in, which then tells that loop.
 */
final class Place {
  private final MerchantShares shares;
  private final MerchantShare share;
  private final InFlight.Slot slot;
  private long promised;
  private long bytes;

  /**
   * @param slot in flight
   * @param promised bytes, which the share counts already
   */
  Place(MerchantShares shares, MerchantShare share, InFlight.Slot slot, long promised) {
    this.shares = shares;
    this.share = share;
    this.slot = slot;
    this.promised = promised;
  }

  Id merchant() {
    return share.merchant();
  }

  /**
   * Not in flight until {@link #resume}, and nothing of what it promised is its own any more; false
   * where too many of its merchant's are like it.
   */
  boolean suspend() {
    return shares.change(merchant(), its -> fallSilent());
  }

  private boolean fallSilent() {
    if (!slot.suspend()) {
      return false;
    }
    share.add(bytes - counted(bytes));
    promised = 0;
    return true;
  }

  /**
   * In flight again, at once or when one of those in flight has ended. Fails as {@link
   * PlaceWait#place} does; it must be {@link #leave left} then too.
   *
   * @param waits ends those of the caller's context, which must be one of Vert.x
   */
  Future<?> resume(Waits waits) {
    if (!slot.isSilent() || shares.change(merchant(), its -> enterAgain())) {
      return Future.succeededFuture();
    }
    return shares.awaitAgain(this, waits).place();
  }

  /** Whether there was room. To be called only while {@link MerchantShares} holds on to both. */
  boolean enterAgain() {
    return slot.enter();
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
    share.add(counted(bytes - fewer) - counted(bytes));
    bytes -= fewer;
  }

  private long counted(long ofBody) {
    return Math.max(promised, ofBody);
  }

  /** Gives all of it back, to whoever waits. Once. */
  void leave() {
    share.add(-counted(bytes));
    shares.change(merchant(), its -> left());
  }

  private boolean left() {
    slot.leave();
    return true;
  }
}
