package io.steelyard.faults;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Asks nodes for their readiness again and again, as a proxy in front of them does. */
final class ReadinessWatch implements AutoCloseable {
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(2);

  private final Map<Node, Boolean> ready = new ConcurrentHashMap<>();
  private final List<Thread> watchers;
  private final long everyMs;
  private volatile boolean stopped;

  ReadinessWatch(List<Node> nodes, long everyMs) {
    this.everyMs = everyMs;
    nodes.forEach(node -> ready.put(node, node.process() != null));
    this.watchers =
        nodes.stream().map(node -> Thread.startVirtualThread(() -> watch(node))).toList();
  }

  private void watch(Node node) {
    try {
      while (!stopped) {
        ready.put(node, node.process() != null && node.process().isReady(ANSWER_LIMIT));
        Thread.sleep(everyMs);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // closed
    }
  }

  /** As far as is known. */
  boolean isReady(Node node) {
    return ready.get(node);
  }

  @Override
  public void close() {
    stopped = true;
    watchers.forEach(Thread::interrupt);
  }
}
