package io.steelyard.usage;

import io.steelyard.usage.BatchStore.Batch;
import io.vertx.core.Vertx;
import io.vertx.core.shareddata.Shareable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Events that this process has stored and not counted yet, so that its fold need not read them
 * back. A way round only: whatever is not held, or no more, is in the database. Safe for any
 * threads.
 */
final class HeldEvents implements Shareable {
  // By then another process has counted them, or the fold stands still.
  private static final long FORGOTTEN_NANOS = TimeUnit.SECONDS.toNanos(30);

  private static final int LATE_MAX = 1024;

  private record Held(List<EncodedEvents> requests, int count, long bytes, long sinceNanos) {}

  private final Map<Batch.Ref, Held> batches = new LinkedHashMap<>();
  // Claimed before they came here, between their commit and its answer: nobody will ask again.
  private final Set<Batch.Ref> late = new LinkedHashSet<>();
  private long bytesMax;
  private long bytes;
  private long eventsMax;
  private long events;

  private HeldEvents() {}

  static HeldEvents of(Vertx vertx) {
    return vertx
        .sharedData()
        .<String, HeldEvents>getLocalMap("steelyard.held")
        .computeIfAbsent("events", key -> new HeldEvents());
  }

  /**
   * Nothing is held until a fold asks for it.
   *
   * @param newEventsMax above which more are held, but others had better help to count them
   */
  synchronized void upTo(long newBytesMax, long newEventsMax) {
    bytesMax = newBytesMax;
    eventsMax = newEventsMax;
  }

  synchronized long events() {
    return events;
  }

  /** Whether so little waits here that it need not be left to others. */
  synchronized boolean keepsUp() {
    return events < eventsMax && bytes < bytesMax;
  }

  /**
   * @param requests all that the batch has in the database, and nothing else
   */
  synchronized void hold(Batch.Ref batch, List<EncodedEvents> requests) {
    long now = System.nanoTime();
    forget(now);
    if (late.remove(batch)) {
      return;
    }
    long more = requests.stream().mapToLong(EncodedEvents::bytes).sum();
    if (bytes + more <= bytesMax) {
      int count = requests.stream().mapToInt(EncodedEvents::count).sum();
      gone(batches.put(batch, new Held(requests, count, more, now)));
      bytes += more;
      events += count;
    }
  }

  private void gone(Held held) {
    if (held != null) {
      bytes -= held.bytes();
      events -= held.count();
    }
  }

  private void forget(long now) {
    Iterator<Held> oldestFirst = batches.values().iterator();
    while (oldestFirst.hasNext()) {
      Held oldest = oldestFirst.next();
      if (now - oldest.sinceNanos() < FORGOTTEN_NANOS) {
        return;
      }
      oldestFirst.remove();
      gone(oldest);
    }
  }

  /**
   * Takes the events of these batches out. Who then fails to count them reads them from the
   * database.
   *
   * @param events what is held is added to them
   * @return the batches that are not held
   */
  List<Batch.Ref> take(List<Batch> claimed, List<StoredEvent> events) {
    List<Batch.Ref> missing = new ArrayList<>();
    for (Batch batch : claimed) {
      Batch.Ref ref = batch.ref();
      Held held = remove(ref);
      if (held == null || held.count() != batch.events()) {
        missing.add(ref);
      } else {
        for (EncodedEvents request : held.requests()) {
          for (int i = 0; i < request.count(); i++) {
            events.add(new StoredEvent(ref.merchantId(), request.columns(), i));
          }
        }
      }
    }
    return missing;
  }

  private synchronized Held remove(Batch.Ref ref) {
    forget(System.nanoTime());
    Held held = batches.remove(ref);
    gone(held);
    if (held == null && bytesMax > 0) {
      late.add(ref);
      if (late.size() > LATE_MAX) {
        late.remove(late.iterator().next());
      }
    }
    return held;
  }
}
