package io.steelyard.usage;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How much to claim at once, and what to pass by. A claim that fails is halved until the one thing
 * that makes it fail stands alone; that is left in place for a growing while, and all else goes on.
 *
 * @param <K> what is claimed
 */
final class ClaimPace<K> {
  private static final Duration FIRST_DELAY = Duration.ofSeconds(1);
  private static final Duration DELAY_MAX = Duration.ofMinutes(5);
  private static final int DOUBLINGS_MAX = 10;
  private static final int PARKED_MAX = 1000;

  private record Parked(Instant until, int failures) {}

  private final int claimMax;
  private final Map<K, Parked> parked = new HashMap<>();
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
    Set<K> passedBy = new HashSet<>();
    parked.forEach(
        (key, entry) -> {
          if (now.isBefore(entry.until())) {
            passedBy.add(key);
          }
        });
    return passedBy;
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
    parked.keySet().removeAll(claimed);
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
    claimed.forEach(key -> park(key, now));
    return !claimed.isEmpty();
  }

  private void park(K key, Instant now) {
    Parked before = parked.remove(key);
    if (parked.size() >= PARKED_MAX) {
      parked.entrySet().stream()
          .min(Comparator.comparing(entry -> entry.getValue().until()))
          .map(Map.Entry::getKey)
          .ifPresent(parked::remove);
    }
    int failures = before == null ? 0 : before.failures() + 1;
    Duration delay = FIRST_DELAY.multipliedBy(1L << Math.min(failures, DOUBLINGS_MAX));
    parked.put(
        key, new Parked(now.plus(delay.compareTo(DELAY_MAX) > 0 ? DELAY_MAX : delay), failures));
  }
}
