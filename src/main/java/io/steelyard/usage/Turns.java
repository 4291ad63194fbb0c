package io.steelyard.usage;

import io.steelyard.usage.Flush.Pending;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Requests that wait to be flushed: each merchant's in their order, and the merchants in turns, so
 * that one that floods delays another by no more than the requests of one round.
 */
final class Turns {
  private static final class Queue {
    private final Deque<Pending> requests = new ArrayDeque<>();
    private final UUID merchantId;
    private long events;
    private long bytes;

    private Queue(UUID merchantId) {
      this.merchantId = merchantId;
    }
  }

  private final Map<UUID, Queue> queues = new HashMap<>();
  private final Deque<Queue> turns = new ArrayDeque<>();
  private long events;
  private long bytes;

  boolean isEmpty() {
    return turns.isEmpty();
  }

  long events() {
    return events;
  }

  long bytes() {
    return bytes;
  }

  long eventsOf(UUID merchantId) {
    Queue queue = queues.get(merchantId);
    return queue == null ? 0 : queue.events;
  }

  long bytesOf(UUID merchantId) {
    Queue queue = queues.get(merchantId);
    return queue == null ? 0 : queue.bytes;
  }

  void add(Pending request) {
    Queue queue = queues.get(request.merchantId());
    if (queue == null) {
      queue = new Queue(request.merchantId());
      queues.put(request.merchantId(), queue);
      turns.add(queue);
    }
    queue.requests.add(request);
    change(queue, request.count(), request.bytes());
  }

  /** Whole requests, one of each merchant at a time; the first may be larger than what is asked. */
  List<Pending> take(int eventsMax, long bytesMax) {
    List<Pending> taken = new ArrayList<>();
    long takenEvents = 0;
    long takenBytes = 0;
    while (!turns.isEmpty()) {
      Queue queue = turns.peek();
      Pending next = queue.requests.peek();
      takenEvents += next.count();
      takenBytes += next.bytes();
      if (!taken.isEmpty() && (takenEvents > eventsMax || takenBytes > bytesMax)) {
        return taken;
      }
      taken.add(queue.requests.poll());
      change(queue, -next.count(), -next.bytes());
      turns.poll();
      if (queue.requests.isEmpty()) {
        queues.remove(queue.merchantId);
      } else {
        turns.add(queue);
      }
    }
    return taken;
  }

  private void change(Queue queue, long moreEvents, long moreBytes) {
    queue.events += moreEvents;
    queue.bytes += moreBytes;
    events += moreEvents;
    bytes += moreBytes;
  }
}
