package io.steelyard.usage;

import io.vertx.core.Vertx;
import io.vertx.core.shareddata.Shareable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How many stored events wait to be counted, as far as this process knows: it adds what it stores,
 * takes off what it counts, and now and then the database says how many there are. What stores
 * events holds back while they are many, so that counting keeps up; not when counting stands still,
 * since that would only lose the storing too.
 */
final class FoldBacklog implements Shareable {
  // Longer than a claim takes.
  private static final long STANDSTILL_NANOS = TimeUnit.SECONDS.toNanos(3);

  private final AtomicLong events = new AtomicLong();
  private volatile long countedAtNanos = System.nanoTime() - STANDSTILL_NANOS;

  private FoldBacklog() {}

  static FoldBacklog of(Vertx vertx) {
    return vertx
        .sharedData()
        .<String, FoldBacklog>getLocalMap("steelyard.backlog")
        .computeIfAbsent("events", key -> new FoldBacklog());
  }

  long events() {
    return Math.max(0, events.get());
  }

  void stored(int count) {
    events.addAndGet(count);
  }

  void counted(int count) {
    events.addAndGet(-count);
    countedAtNanos = System.nanoTime();
  }

  void measured(long count) {
    events.set(count);
  }

  /** Whether more wait than {@code max}, and are being counted. */
  boolean holdsBack(long max) {
    return events.get() > max && System.nanoTime() - countedAtNanos < STANDSTILL_NANOS;
  }
}
