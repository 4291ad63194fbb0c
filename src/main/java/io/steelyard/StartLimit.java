package io.steelyard;

import io.vertx.core.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * How long a start may take. What a migration of the schema takes, or the wait for that of another
 * node, is not counted: it depends on what there is to migrate. For all threads.
 */
final class StartLimit {
  private static final long LOOKED_EVERY_MS = 1000;

  private final Duration limit;
  private long usedNanos;
  private long resumedAt = System.nanoTime();
  private boolean paused;

  /** Counts from now on. */
  StartLimit(Duration limit) {
    this.limit = limit;
  }

  synchronized void pause() {
    usedNanos = usedNanos();
    paused = true;
  }

  /** Counts on; nothing where it does count. */
  synchronized void resume() {
    if (paused) {
      resumedAt = System.nanoTime();
      paused = false;
    }
  }

  private synchronized long usedNanos() {
    return paused ? usedNanos : usedNanos + System.nanoTime() - resumedAt;
  }

  /**
   * What the future brings; what it fails with is thrown.
   *
   * @throws TimeoutException when the limit is reached before
   */
  <T> T await(Future<T> future) throws TimeoutException {
    while (true) {
      long leftMs = limit.minusNanos(usedNanos()).toMillis();
      if (leftMs <= 0) {
        throw new TimeoutException("not within " + limit);
      }
      try {
        return future.await(Math.min(leftMs, LOOKED_EVERY_MS), TimeUnit.MILLISECONDS);
      } catch (TimeoutException notYet) {
        // it may be paused by now, or have been
      }
    }
  }
}
