package io.steelyard.usage;

import io.steelyard.bus.Address;
import io.steelyard.usage.UsageMessages.EventsCounted;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.EventBus;
import io.vertx.core.shareddata.Shareable;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How many stored events wait to be counted, as far as this process knows: it adds what it stores,
 * takes off what it counts, and now and then the database says how many there are. A process of a
 * cluster that counts none is told all that by those that do. What stores events holds back while
 * they are many, so that counting keeps up; not when counting stands still, since that would only
 * lose the storing too.
 */
final class FoldBacklog implements Shareable {
  // Longer than a claim takes.
  private static final long STANDSTILL_NANOS = TimeUnit.SECONDS.toNanos(3);
  private static final long TELL_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final String process = UUID.randomUUID().toString();
  private final AtomicLong events = new AtomicLong();
  private final EventBus others;
  private volatile long countedAtNanos = System.nanoTime() - STANDSTILL_NANOS;
  private volatile boolean counts;
  private int untold;
  private long toldAtNanos = System.nanoTime();

  /**
   * @param others of the cluster; null for none
   */
  private FoldBacklog(EventBus others) {
    this.others = others;
  }

  static FoldBacklog of(Vertx vertx) {
    return vertx
        .sharedData()
        .<String, FoldBacklog>getLocalMap("steelyard.backlog")
        .computeIfAbsent("events", key -> create(vertx));
  }

  private static FoldBacklog create(Vertx vertx) {
    if (!vertx.isClustered()) {
      return new FoldBacklog(null);
    }
    FoldBacklog backlog = new FoldBacklog(vertx.eventBus());
    vertx
        .eventBus()
        .<EventsCounted>consumer(
            Address.EVENTS_COUNTED_ELSEWHERE, message -> backlog.hear(message.body()));
    return backlog;
  }

  long events() {
    return Math.max(0, events.get());
  }

  void stored(int count) {
    events.addAndGet(count);
  }

  void counted(int count) {
    counts = true;
    subtract(count);
    tell(count, null);
  }

  private void subtract(int count) {
    events.addAndGet(-count);
    countedAtNanos = System.nanoTime();
  }

  void measured(long count) {
    counts = true;
    events.set(count);
    tell(0, count);
  }

  private synchronized void tell(int count, Long backlog) {
    if (others == null) {
      return;
    }
    untold += count;
    long now = System.nanoTime();
    if (backlog != null || now - toldAtNanos > TELL_EVERY_NANOS) {
      others.publish(Address.EVENTS_COUNTED_ELSEWHERE, new EventsCounted(process, untold, backlog));
      untold = 0;
      toldAtNanos = now;
    }
  }

  private void hear(EventsCounted told) {
    if (counts) {
      return; // it knows itself
    }
    if (told.events() > 0) {
      subtract(told.events());
    }
    if (told.backlog() != null) {
      events.set(told.backlog());
    }
  }

  /** Whether more wait than {@code max}, and are being counted. */
  boolean holdsBack(long max) {
    return events.get() > max && System.nanoTime() - countedAtNanos < STANDSTILL_NANOS;
  }
}
