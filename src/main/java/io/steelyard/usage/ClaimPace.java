package io.steelyard.usage;

import io.steelyard.db.LeftAlone;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/**
 * How much to claim at once, and what to pass by. A claim that fails is halved until the one thing
 * that makes it fail stands alone; that is left in place for a growing while, and all else goes on.
 *
 * @param <K> what is claimed
 */
final class ClaimPace<K> {
  private final int claimMax;
  private final LeftAlone<K> parked = new LeftAlone<>();
  private int limit;
  private List<K> claimed = List.of();

  ClaimPace(int first, int claimMax) {
    this.limit = Math.min(first, claimMax);
    this.claimMax = claimMax;
  }

  int limit() {
    return limit;
  }

  Set<K> passedBy(Instant now) {
    return parked.at(now);
  }

  /** A round has begun that has claimed nothing yet. */
  void begin() {
    claimed = List.of();
  }

  void claimed(List<K> keys) {
    claimed = List.copyOf(keys);
  }

  List<K> claimed() {
    return claimed;
  }

  /**
   * @param wanted whether more would have been welcome, or fewer enough
   */
  void succeeded(Demand wanted) {
    parked.succeeded(claimed);
    limit =
        switch (wanted) {
          case MORE -> Math.min(claimMax, limit * 2);
          case SAME -> limit;
          case FEWER -> Math.max(1, limit / 2);
        };
  }

  enum Demand {
    MORE,
    SAME,
    FEWER
  }

  /** Whether what failed is now left alone for a while. */
  boolean failed(Instant now) {
    if (claimed.size() > 1) {
      limit = Math.max(1, claimed.size() / 2);
      return false;
    }
    claimed.forEach(key -> parked.failed(key, now));
    return !claimed.isEmpty();
  }
}
