package io.steelyard.faults;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;

/** Where senders reach a node, whether they should, and what they heard there. */
final class Door {
  private final String host;
  private final int port;
  private final BooleanSupplier open;
  private final Map<Integer, LongAdder> statuses = new ConcurrentHashMap<>();
  private volatile long troubledAtNanos;
  private volatile long acceptedAtNanos;

  Door(String host, int port, BooleanSupplier open) {
    this.host = host;
    this.port = port;
    this.open = open;
  }

  String host() {
    return host;
  }

  int port() {
    return port;
  }

  boolean isOpen() {
    return open.getAsBoolean();
  }

  void heard(int status) {
    statuses.computeIfAbsent(status, each -> new LongAdder()).increment();
    if (status == 202) {
      acceptedAtNanos = System.nanoTime();
    } else if (status != 400) {
      troubledAtNanos = System.nanoTime();
    }
  }

  /** Calls by status. */
  Map<Integer, Long> statuses() {
    Map<Integer, Long> counts = new TreeMap<>();
    statuses.forEach((status, count) -> counts.put(status, count.sum()));
    return counts;
  }

  /** When the last call was neither accepted nor rightly refused; 0 for never. */
  long troubledAtNanos() {
    return troubledAtNanos;
  }

  /** When the last call was accepted; 0 for never. */
  long acceptedAtNanos() {
    return acceptedAtNanos;
  }
}
