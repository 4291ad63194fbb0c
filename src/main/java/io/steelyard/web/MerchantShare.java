package io.steelyard.web;

import io.steelyard.domain.Id;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What one merchant has in flight in this process, and who waits for a place. The bytes of its
 * bodies are for all threads; all else is read and written only while {@link MerchantShares} holds
 * on to the merchant.
 */
final class MerchantShare {
  private final MerchantShares shares;
  private final Id merchant;
  private final ShareLimits limits;
  private final InFlight requests;
  private final AtomicLong bytes = new AtomicLong();
  private final PlaceLine line;

  MerchantShare(MerchantShares shares, Id merchant, ShareLimits limits, PlaceLine.Total waiting) {
    this.shares = shares;
    this.merchant = merchant;
    this.limits = limits;
    this.requests = new InFlight(limits.requestsMax(), limits.silentMax());
    this.line = new PlaceLine(limits.lineBytesMax(), waiting);
  }

  Id merchant() {
    return merchant;
  }

  /** Whether nothing of the merchant is here any more, so that the share may go. */
  boolean isIdle() {
    return requests.isEmpty() && line.isEmpty();
  }

  PlaceLine line() {
    return line;
  }

  /**
   * Null where there is no place; a request alone has one, whatever its body.
   *
   * @param bodyBytes that are said to follow; negative where nothing is said
   */
  Place enter(long bodyBytes) {
    long promised = Math.clamp(bodyBytes, 0, limits.bodyMax());
    if (requests.isEmpty()) {
      add(promised);
    } else if (requests.isFull() || !take(promised)) {
      return null;
    }
    return new Place(shares, this, requests.enter(), promised);
  }

  /**
   * Takes out of the line whoever there is a place for now, and gives it to them.
   *
   * @param admitted gets them, to be told once the merchant is let go of
   */
  void admit(List<PlaceWait> admitted) {
    PlaceWait next = line.first();
    while (next != null && admit(next)) {
      line.leave(next);
      admitted.add(next);
      next = line.first();
    }
  }

  private boolean admit(PlaceWait wait) {
    if (wait.isReturning()) {
      return wait.given().enterAgain();
    }
    Place place = enter(wait.bodyBytes());
    wait.given(place);
    return place != null;
  }

  /** Whether so many more bytes would be within the share now. */
  boolean fits(long more) {
    return more <= 0 || bytes.get() + more <= limits.bytesMax();
  }

  boolean take(long more) {
    if (more <= 0) {
      return true;
    }
    long before = bytes.get();
    while (before + more <= limits.bytesMax()) { // no other sees more than there is
      if (bytes.compareAndSet(before, before + more)) {
        return true;
      }
      before = bytes.get();
    }
    return false;
  }

  /**
   * Counts them whatever the share.
   *
   * @param more negative where they are given back
   */
  void add(long more) {
    bytes.addAndGet(more);
  }
}
