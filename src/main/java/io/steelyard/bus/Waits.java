package io.steelyard.bus;

import io.vertx.core.Vertx;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Ends waits that take too long, with one look at all of them now and then: a timer for each would
 * cost more than most of what is waited for. A wait ends up to a look's interval late, never early.
 * What waits is bounded by those who add. For all threads.
 */
public final class Waits {
  private static final int LOOKS = 20;

  private final Set<Wait> waits = ConcurrentHashMap.newKeySet();

  /** Something that ends by itself at some time; compared by identity. */
  public abstract static class Wait {
    private final long endsAtNanos;

    /**
     * @param ms from now
     */
    protected Wait(long ms) {
      this.endsAtNanos = System.nanoTime() + ms * 1_000_000;
    }

    /** Called once, at the end of its time, unless it was removed; on any context. */
    protected abstract void expire();
  }

  /** For waits of so many milliseconds, which end at most a twentieth or a second late. */
  public static Waits of(Vertx vertx, long waitMs) {
    return new Waits(vertx, Math.clamp(waitMs / LOOKS, 10, 1000));
  }

  /**
   * Looks until the context that this is called on is closed.
   *
   * @param everyMs how late a wait may end
   */
  public Waits(Vertx vertx, long everyMs) {
    vertx.setPeriodic(everyMs, look -> expire());
  }

  public void add(Wait wait) {
    waits.add(wait);
  }

  public void remove(Wait wait) {
    waits.remove(wait);
  }

  private void expire() {
    long now = System.nanoTime();
    for (Wait wait : waits) {
      if (now - wait.endsAtNanos >= 0 && waits.remove(wait)) {
        wait.expire();
      }
    }
  }
}
