package io.steelyard.usage;

import io.steelyard.bus.Failure;
import java.util.List;

/** What a request body turned out to be: events, all of them sound, or everything wrong with it. */
public sealed interface Decoded {
  record Events(List<UsageMessages.UsageEvent> events) implements Decoded {
    public Events {
      events = List.copyOf(events);
    }
  }

  record Faults(Failure.Invalid failure) implements Decoded {}
}
