package io.steelyard.usage;

import io.steelyard.bus.Failure;

/** What a request body turned out to be: events, all of them sound, or everything wrong with it. */
public sealed interface Decoded {
  record Events(EncodedEvents events) implements Decoded {}

  record Faults(Failure.Invalid failure) implements Decoded {}
}
