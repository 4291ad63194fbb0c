package io.steelyard.web;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Those of one merchant who wait for a place, in the order in which they get one: first those whose
 * bodies had fallen silent and are whole, then those who have had none yet, each by how long they
 * have waited. The latter are bounded by the memory that they take, of one merchant and of all; the
 * former by how many may be silent.
 *
 * <p>Read and written only while {@link MerchantShares} holds on to the merchant.
 */
final class PlaceLine {
  private final long bytesMax;
  private final Total total;
  private final Set<PlaceWait> returning = new LinkedHashSet<>();
  private final Set<PlaceWait> entering = new LinkedHashSet<>();
  private long bytes;

  /** What the lines of all merchants come to. For all threads. */
  static final class Total {
    private final long bytesMax;
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong requests = new AtomicLong();
    private final AtomicLong inVain = new AtomicLong();

    Total(long bytesMax) {
      this.bytesMax = bytesMax;
    }

    long requests() {
      return requests.get();
    }

    /**
     * Counts one more that is in no line and only waits to be refused; false where these already
     * take as much memory as lines may.
     */
    boolean addInVain() {
      if (inVain.incrementAndGet() > bytesMax / PlaceWait.HEAD_BYTES) {
        inVain.decrementAndGet();
        return false;
      }
      return true;
    }

    void removeInVain() {
      inVain.decrementAndGet();
    }

    private boolean take(long more) {
      if (bytes.addAndGet(more) > bytesMax) {
        bytes.addAndGet(-more);
        return false;
      }
      return true;
    }
  }

  PlaceLine(long bytesMax, Total total) {
    this.bytesMax = bytesMax;
    this.total = total;
  }

  boolean isEmpty() {
    return entering.isEmpty() && returning.isEmpty();
  }

  /** Whether there was room for one more; for who had a place and left it there always is. */
  boolean join(PlaceWait wait) {
    if (!wait.isReturning()) {
      if (bytes + wait.bytes() > bytesMax || !total.take(wait.bytes())) {
        return false;
      }
      bytes += wait.bytes();
    }
    total.requests.incrementAndGet();
    return (wait.isReturning() ? returning : entering).add(wait);
  }

  /** Who is next; null where nobody waits. */
  PlaceWait first() {
    if (!returning.isEmpty()) {
      return returning.iterator().next();
    }
    return entering.isEmpty() ? null : entering.iterator().next();
  }

  /** Whether it stood here; no more then. */
  boolean leave(PlaceWait wait) {
    if (entering.remove(wait)) {
      bytes -= wait.bytes();
      total.bytes.addAndGet(-wait.bytes());
    } else if (!returning.remove(wait)) {
      return false;
    }
    total.requests.decrementAndGet();
    return true;
  }
}
