package io.steelyard.usage;

import io.steelyard.usage.EventStore.Entry;
import io.steelyard.usage.EventStore.EventId;
import io.steelyard.usage.UsageMessages.Ingested;
import io.steelyard.usage.UsageMessages.UsageEvent;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** The requests that share one statement, and which of their events it has to store. */
final class Flush {
  /** A request that waits for its answer. */
  record Pending(UUID merchantId, List<UsageEvent> events, long bytes, Promise<Ingested> answer) {}

  /** Where an id came first in this flush. */
  private record First(Entry entry, int request) {}

  private final List<Pending> requests;
  private final Map<EventId, First> firsts = new HashMap<>();
  private final List<Entry> repeats = new ArrayList<>();

  Flush(List<Pending> requests) {
    this.requests = requests;
    for (int i = 0; i < requests.size(); i++) {
      for (UsageEvent event : requests.get(i).events()) {
        Entry entry = new Entry(new EventId(requests.get(i).merchantId(), event.key()), event);
        if (firsts.putIfAbsent(entry.id(), new First(entry, i)) != null) {
          repeats.add(entry);
        }
      }
    }
  }

  List<Pending> requests() {
    return requests;
  }

  /** Every id once. */
  List<Entry> entries() {
    return firsts.values().stream().map(First::entry).toList();
  }

  /** What each request is told, in the order of {@link #requests}. */
  List<Ingested> outcomes(Set<EventId> stored) {
    int[] accepted = new int[requests.size()];
    for (EventId id : stored) {
      accepted[firsts.get(id).request()]++;
    }
    List<Ingested> outcomes = new ArrayList<>(accepted.length);
    for (int i = 0; i < accepted.length; i++) {
      outcomes.add(new Ingested(accepted[i], requests.get(i).events().size() - accepted[i]));
    }
    return outcomes;
  }

  /** The events whose id was there before this flush. */
  List<Entry> storedBefore(Set<EventId> stored) {
    List<Entry> before = new ArrayList<>();
    for (First first : firsts.values()) {
      if (!stored.contains(first.entry().id())) {
        before.add(first.entry());
      }
    }
    for (Entry repeat : repeats) {
      if (!stored.contains(repeat.id())) {
        before.add(repeat);
      }
    }
    return before;
  }

  /** Repetitions within this flush that differ from the event that was stored for their id. */
  long conflictsWithin(Set<EventId> stored) {
    return repeats.stream()
        .filter(repeat -> stored.contains(repeat.id()))
        .filter(repeat -> repeat.event().payloadHash() != firstHash(repeat.id()))
        .count();
  }

  private long firstHash(EventId id) {
    return firsts.get(id).entry().event().payloadHash();
  }
}
