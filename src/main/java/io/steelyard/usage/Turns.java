package io.steelyard.usage;

import io.steelyard.usage.Flush.Pending;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Predicate;

/**
 * Requests that wait to be flushed: each merchant's in their order, and the merchants in turns, so
 * that one that floods delays another by no more than the requests of one round. Those of merchants
 * who have little, waiting and in flushes under way together, can be taken by themselves, so that
 * they need not go where much goes.
 */
final class Turns {
  private static final class Queue {
    private final Deque<Pending> requests = new ArrayDeque<>();
    private final UUID merchantId;
    private long events;
    private long bytes;
    private int requestsUnderWay;
    private long eventsUnderWay;
    private long bytesUnderWay;

    private Queue(UUID merchantId) {
      this.merchantId = merchantId;
    }
  }

  private final Map<UUID, Queue> queues = new HashMap<>();
  private final Deque<Queue> turns = new ArrayDeque<>();
  private final long littleEventsMax;
  private final long littleBytesMax;
  private long events;
  private long bytes;
  private long eventsOfLittle;
  private long bytesOfLittle;

  /**
   * @param littleEventsMax the most that a merchant who has little has
   */
  Turns(long littleEventsMax, long littleBytesMax) {
    this.littleEventsMax = littleEventsMax;
    this.littleBytesMax = littleBytesMax;
  }

  boolean isEmpty() {
    return turns.isEmpty();
  }

  /** Whether nothing is waiting, nor under way. */
  boolean isIdle() {
    return queues.isEmpty();
  }

  long events() {
    return events;
  }

  long bytes() {
    return bytes;
  }

  /** Those that wait of merchants who have little. */
  long eventsOfLittle() {
    return eventsOfLittle;
  }

  long bytesOfLittle() {
    return bytesOfLittle;
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
    Queue queue = queues.computeIfAbsent(request.merchantId(), Queue::new);
    if (queue.requests.isEmpty()) {
      turns.add(queue);
    }
    queue.requests.add(request);
    change(queue, request, 1, 0);
  }

  /** Whole requests, one of each merchant at a time; the first may be larger than what is asked. */
  List<Pending> take(int eventsMax, long bytesMax) {
    return take(eventsMax, bytesMax, queue -> true);
  }

  /** The same, of merchants who have little. */
  List<Pending> takeOfLittle(int eventsMax, long bytesMax) {
    return take(eventsMax, bytesMax, this::isLittle);
  }

  /** The same, of the others. */
  List<Pending> takeOfMuch(int eventsMax, long bytesMax) {
    return take(eventsMax, bytesMax, queue -> !isLittle(queue));
  }

  private List<Pending> take(int eventsMax, long bytesMax, Predicate<Queue> which) {
    List<Pending> taken = new ArrayList<>();
    Deque<Queue> passedBy = new ArrayDeque<>();
    long takenEvents = 0;
    long takenBytes = 0;
    while (!turns.isEmpty()) {
      Queue queue = turns.poll();
      if (!which.test(queue)) {
        passedBy.push(queue);
        continue;
      }
      Pending next = queue.requests.peek();
      takenEvents += next.count();
      takenBytes += next.bytes();
      if (!taken.isEmpty() && (takenEvents > eventsMax || takenBytes > bytesMax)) {
        turns.push(queue);
        break;
      }
      taken.add(queue.requests.poll());
      queue.requestsUnderWay++;
      change(queue, next, -1, 1);
      if (!queue.requests.isEmpty()) {
        turns.add(queue);
      }
    }
    passedBy.forEach(turns::push); // the last first, so that each has its turn again
    return taken;
  }

  /** What was taken is no longer under way. */
  void ended(List<Pending> requests) {
    for (Pending request : requests) {
      Queue queue = queues.get(request.merchantId());
      change(queue, request, 0, -1);
      queue.requestsUnderWay--;
      if (queue.requests.isEmpty() && queue.requestsUnderWay == 0) {
        queues.remove(queue.merchantId);
      }
    }
  }

  private boolean isLittle(Queue queue) {
    return queue.events + queue.eventsUnderWay <= littleEventsMax
        && queue.bytes + queue.bytesUnderWay <= littleBytesMax;
  }

  /**
   * @param waiting 1 where the request begins to wait, -1 where it ends to, 0 for neither
   * @param underWay the same
   */
  private void change(Queue queue, Pending request, int waiting, int underWay) {
    ofLittle(queue, -1);
    queue.events += waiting * request.count();
    queue.bytes += waiting * request.bytes();
    queue.eventsUnderWay += underWay * request.count();
    queue.bytesUnderWay += underWay * request.bytes();
    ofLittle(queue, 1);
    events += waiting * request.count();
    bytes += waiting * request.bytes();
  }

  private void ofLittle(Queue queue, int times) {
    if (isLittle(queue)) {
      eventsOfLittle += times * queue.events;
      bytesOfLittle += times * queue.bytes;
    }
  }
}
