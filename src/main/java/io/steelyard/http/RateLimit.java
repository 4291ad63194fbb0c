package io.steelyard.http;

import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * So many units a second for each merchant, with what a second brings as the most at once (the
 * generic cell rate algorithm: of each merchant only the time is kept at which all is restored). A
 * batch of more than a second's worth passes when all is there, and then costs its time. For all
 * threads; knows no clock.
 */
final class RateLimit {
  /** What all that is left is restored in, at the most, unless a single batch took more. */
  private static final long SECOND_NANOS = 1_000_000_000;

  private final int perSecond;
  private final int merchantsMax;

  /**
   * When all is restored, in nanoseconds of the caller's time; in the past is as good as absent.
   */
  private final ConcurrentMap<UUID, Long> restoredAt = new ConcurrentHashMap<>();

  /**
   * @param merchantsMax remembered at once; above it some are let off what they have used
   */
  RateLimit(int perSecond, int merchantsMax) {
    this.perSecond = perSecond;
    this.merchantsMax = merchantsMax;
  }

  /**
   * What became of a try.
   *
   * @param taken whether the units were there; if not, nothing was taken
   * @param left units that are there at once
   * @param restoredS until all are there again
   * @param retryAfterS until the same try can succeed, 0 if it has
   */
  record Outcome(boolean taken, long left, long restoredS, int retryAfterS) {}

  int perSecond() {
    return perSecond;
  }

  /**
   * Takes units of a merchant if they are there.
   *
   * @param nowNanos of a time that never goes back, such as {@link System#nanoTime}
   */
  Outcome take(UUID merchant, int units, long nowNanos) {
    long cost = nanos(units);
    boolean[] taken = new boolean[1];
    long after =
        restoredAt.compute(
            merchant,
            (key, restored) -> {
              long from = restored == null || restored - nowNanos < 0 ? nowNanos : restored;
              taken[0] = from == nowNanos || from + cost - nowNanos <= SECOND_NANOS;
              return taken[0] ? from + cost : from;
            });
    if (restoredAt.size() > merchantsMax) {
      forget(nowNanos);
    }
    return outcome(taken[0], cost, after - nowNanos);
  }

  /**
   * Gives back units that a merchant was not served for, less what time has restored of them since:
   * nobody comes by more than without the try.
   *
   * @param takenAtNanos when they were taken
   */
  Outcome giveBack(UUID merchant, int units, long takenAtNanos, long nowNanos) {
    long left = Math.max(0, nanos(units) - (nowNanos - takenAtNanos));
    Long after = restoredAt.computeIfPresent(merchant, (key, restored) -> restored - left);
    return outcome(true, 0, after == null ? 0 : Math.max(0, after - nowNanos));
  }

  /**
   * @param used time for which the merchant has used what comes
   */
  private Outcome outcome(boolean taken, long cost, long used) {
    long left = Math.max(0, SECOND_NANOS - used) * perSecond / SECOND_NANOS;
    long wait = taken ? 0 : used - Math.max(0, SECOND_NANOS - cost);
    return new Outcome(taken, left, seconds(used), Math.toIntExact(seconds(wait)));
  }

  private long nanos(int units) {
    return units * SECOND_NANOS / perSecond;
  }

  private static long seconds(long nanos) {
    return Math.ceilDiv(nanos, SECOND_NANOS);
  }

  /** Those who have all again first; then any, down to three quarters, so that it is rare. */
  private void forget(long nowNanos) {
    restoredAt.values().removeIf(restored -> restored - nowNanos <= 0);
    int keep = merchantsMax - merchantsMax / 4;
    for (UUID merchant : restoredAt.keySet()) {
      if (restoredAt.size() <= keep) {
        return;
      }
      restoredAt.remove(merchant);
    }
  }
}
