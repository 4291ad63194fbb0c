package io.steelyard.usage;

import io.steelyard.bus.Address;
import io.steelyard.usage.UsageMessages.EventsTold;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.EventBus;
import io.vertx.core.eventbus.Message;
import io.vertx.core.shareddata.Shareable;
import io.vertx.core.tracing.TracingPolicy;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How many stored events wait to be counted, as far as this process knows: it adds what it stores,
 * takes off what it counts, and now and then the database says how many there are. The processes of
 * a cluster tell each other what they store and count, and so also which of them count. What stores
 * events holds back while they are many, so that counting keeps up; not when counting stands still,
 * since that would only lose the storing too. Safe for any threads.
 */
public final class FoldBacklog implements Shareable {
  private static final Logger LOG = LoggerFactory.getLogger(FoldBacklog.class);
  private static final String NAME = "steelyard.backlog";
  private static final DeliveryOptions IN_NO_TRACE =
      new DeliveryOptions().setTracingPolicy(TracingPolicy.IGNORE);

  // Longer than a claim takes.
  private static final long STANDSTILL_NANOS = TimeUnit.SECONDS.toNanos(3);
  private static final long TELL_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  // Whoever counts asks the database how many wait more often, and tells it.
  private static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final UUID process = UUID.randomUUID();
  private final AtomicLong events = new AtomicLong();
  private final EventBus others;
  private final Map<UUID, Long> othersCountedAtNanos = new ConcurrentHashMap<>();
  private volatile long countedAtNanos = System.nanoTime() - STANDSTILL_NANOS;
  private volatile long workedAtNanos = System.nanoTime() - SILENCE_NANOS;
  private int untoldStored;
  private int untoldCounted;
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
        .<String, FoldBacklog>getLocalMap(NAME)
        .computeIfAbsent(
            NAME, key -> new FoldBacklog(vertx.isClustered() ? vertx.eventBus() : null));
  }

  /**
   * Begins to listen to the other nodes of a cluster, on an event loop: not on the thread that
   * counts, where they would not be heard in time.
   */
  public static Future<Void> listen(Vertx vertx) {
    FoldBacklog backlog = of(vertx);
    return vertx
        .eventBus()
        .<EventsTold>consumer(Address.EVENTS_TOLD, backlog::receive)
        .completion();
  }

  private void receive(Message<EventsTold> message) {
    EventsTold told;
    try {
      told = message.body();
    } catch (IllegalArgumentException e) {
      LOG.debug("a node tells what cannot be read: {}", e.getMessage());
      return;
    }
    hear(told);
  }

  long events() {
    return Math.max(0, events.get());
  }

  /** Who means to count what this process stores, so that others may leave it; null for nobody. */
  UUID holder() {
    return others != null && counts() ? process : null;
  }

  /** Whether this process has lately counted, or looked whether there is anything to count. */
  private boolean counts() {
    return System.nanoTime() - workedAtNanos < SILENCE_NANOS;
  }

  /** The other processes that have lately said that they count. */
  List<UUID> othersCounting() {
    long now = System.nanoTime();
    othersCountedAtNanos.values().removeIf(atNanos -> now - atNanos > SILENCE_NANOS);
    return List.copyOf(othersCountedAtNanos.keySet());
  }

  void stored(int count) {
    events.addAndGet(count);
    tell(count, 0, null);
  }

  void counted(int count) {
    events.addAndGet(-count);
    countedAtNanos = System.nanoTime();
    workedAtNanos = countedAtNanos;
    tell(0, count, null);
  }

  void measured(long count) {
    workedAtNanos = System.nanoTime();
    events.set(count);
    tell(0, 0, count);
  }

  private synchronized void tell(int stored, int counted, Long backlog) {
    if (others == null) {
      return;
    }
    untoldStored += stored;
    untoldCounted += counted;
    long now = System.nanoTime();
    if (backlog != null || now - toldAtNanos > TELL_EVERY_NANOS) {
      others.publish(
          Address.EVENTS_TOLD,
          new EventsTold(process, counts(), untoldStored, untoldCounted, backlog),
          IN_NO_TRACE);
      untoldStored = 0;
      untoldCounted = 0;
      toldAtNanos = now;
    }
  }

  /** What was told in between is in a measured backlog already, or not; the next one mends it. */
  private void hear(EventsTold told) {
    if (told.process().equals(process)) {
      return;
    }
    long now = System.nanoTime();
    if (told.counts()) {
      othersCountedAtNanos.put(told.process(), now);
    }
    if (told.counted() > 0) {
      countedAtNanos = now;
    }
    if (told.backlog() != null && !counts()) {
      events.set(told.backlog());
    } else {
      events.addAndGet(told.stored() - told.counted());
    }
  }

  /** Whether more wait than {@code max}, and are being counted. */
  boolean holdsBack(long max) {
    return events.get() > max && System.nanoTime() - countedAtNanos < STANDSTILL_NANOS;
  }
}
