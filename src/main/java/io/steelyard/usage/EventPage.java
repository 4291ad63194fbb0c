package io.steelyard.usage;

import java.time.Instant;
import java.util.List;
import java.util.UUID;

/**
 * Some of the events that are read in their order.
 *
 * @param next where to go on, also when there are no events here; null at the end
 */
record EventPage(List<StoredEvent> events, Place next) {
  private static final UUID LOWEST = new UUID(0, 0);
  private static final UUID HIGHEST = new UUID(-1, -1);

  // How few events chunks may hold on average before a page comes out smaller than asked for.
  private static final int EVENTS_OF_A_CHUNK = 4;

  /** A place in the order of events, next to an event or between two. */
  record Place(Instant at, UUID key, UUID merchantId) {
    static final Place START = since(Instant.EPOCH);

    /** What comes behind it, forwards, is from this instant on. */
    static Place since(Instant at) {
      return new Place(at.minusMillis(1), HIGHEST, HIGHEST);
    }

    /** What comes behind it, backwards, is earlier than this instant. */
    static Place until(Instant at) {
      return new Place(at, LOWEST, LOWEST);
    }

    /** Forwards, a page that begins here ends later than this instant, or would be empty. */
    Instant laterEdge() {
      return at.plusMillis(1);
    }

    static Place of(StoredEvent event) {
      return new Place(event.generatedAt(), event.key(), event.merchantId());
    }
  }

  /** How many chunks may begin in the span of a page. */
  static int chunksMax(int eventsMax) {
    return Math.max(1, eventsMax / EVENTS_OF_A_CHUNK);
  }

  /**
   * @param edge exclusive, where the page had to end; null for the end of all
   */
  static EventPage forwards(List<StoredEvent> events, Instant edge, int eventsMax) {
    if (events.size() == eventsMax) {
      return new EventPage(events, Place.of(events.getLast()));
    }
    return new EventPage(events, edge == null ? null : Place.since(edge));
  }

  /**
   * @param edge inclusive, where the page had to end; null for the beginning of all
   */
  static EventPage backwards(List<StoredEvent> events, Instant edge, int eventsMax) {
    if (events.size() == eventsMax) {
      return new EventPage(events, Place.of(events.getLast()));
    }
    return new EventPage(events, edge == null ? null : Place.until(edge));
  }
}
