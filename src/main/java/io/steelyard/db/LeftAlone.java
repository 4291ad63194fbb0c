package io.steelyard.db;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * What background work has failed on, to be passed by for a while that grows with every failure, so
 * that all else goes on. Remembers a bounded number; belongs to one event loop.
 */
public final class LeftAlone<K> {
  private static final Duration FIRST_DELAY = Duration.ofSeconds(1);
  private static final Duration DELAY_MAX = Duration.ofMinutes(5);
  private static final int DOUBLINGS_MAX = 10;
  private static final int ENTRIES_MAX = 1000;

  private record Entry(Instant until, int failures) {}

  private final Map<K, Entry> entries = new HashMap<>();

  public Set<K> at(Instant now) {
    Set<K> passedBy = new HashSet<>();
    entries.forEach(
        (key, entry) -> {
          if (now.isBefore(entry.until())) {
            passedBy.add(key);
          }
        });
    return passedBy;
  }

  public void succeeded(Collection<K> keys) {
    entries.keySet().removeAll(keys);
  }

  public void failed(K key, Instant now) {
    Entry before = entries.remove(key);
    if (entries.size() >= ENTRIES_MAX) {
      entries.entrySet().stream()
          .min(Comparator.comparing(entry -> entry.getValue().until()))
          .map(Map.Entry::getKey)
          .ifPresent(entries::remove);
    }
    int failures = before == null ? 0 : before.failures() + 1;
    Duration delay = FIRST_DELAY.multipliedBy(1L << Math.min(failures, DOUBLINGS_MAX));
    Duration bounded = delay.compareTo(DELAY_MAX) > 0 ? DELAY_MAX : delay;
    entries.put(key, new Entry(now.plus(bounded), failures));
  }
}
