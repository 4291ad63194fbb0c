package io.steelyard.faults;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * What was sent and what was said to it, by key, written down before and after each call. The file
 * is for whoever looks into a failure: {@code > key hash} before, {@code < key outcome} after.
 */
final class Ledger implements AutoCloseable {
  /** What a client knows of an event, in the order in which it may change. */
  enum Outcome {
    /** Sent; no answer, or one that does not tell. */
    UNKNOWN,
    /** Told that it will never be stored as it is: a status of 4xx. */
    REFUSED,
    /** Told that it is stored: 202. */
    ACKED
  }

  /**
   * An event as it was sent.
   *
   * @param customer its number among the customers of the run
   * @param atMillis since 1970
   */
  record Sent(UUID key, int customer, String name, int count, long atMillis) {}

  record Entry(Sent event, Outcome outcome) {}

  private final Map<UUID, Entry> entries = new ConcurrentHashMap<>();
  private final BufferedWriter file;

  Ledger(Path file) {
    try {
      this.file = Files.newBufferedWriter(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** About to be sent, for the first time or again. */
  void before(List<Sent> events) {
    for (Sent event : events) {
      entries.putIfAbsent(event.key(), new Entry(event, Outcome.UNKNOWN));
    }
    write(events, event -> "> " + event.key() + ' ' + Integer.toHexString(event.hashCode()));
  }

  void after(List<Sent> events, Outcome outcome) {
    for (Sent event : events) {
      entries.compute(
          event.key(),
          (key, entry) ->
              outcome.compareTo(entry.outcome()) > 0 ? new Entry(event, outcome) : entry);
    }
    write(events, event -> "< " + event.key() + ' ' + outcome);
  }

  private void write(List<Sent> events, Function<Sent, String> line) {
    StringBuilder lines = new StringBuilder(events.size() * 50);
    events.forEach(event -> lines.append(line.apply(event)).append('\n'));
    synchronized (file) {
      try {
        file.append(lines);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  Map<UUID, Entry> entries() {
    return entries;
  }

  long count(Outcome outcome) {
    return entries.values().stream().filter(entry -> entry.outcome() == outcome).count();
  }

  @Override
  public void close() {
    synchronized (file) {
      try {
        file.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
