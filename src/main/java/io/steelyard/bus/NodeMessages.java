package io.steelyard.bus;

import java.util.List;

/** What the nodes of a cluster tell each other of themselves. */
public sealed interface NodeMessages extends BusRecord {

  /**
   * Broadcast now and then, and whenever it changes.
   *
   * @param node of the cluster, who tells it
   * @param answers names of addresses; one that a receiver does not know is of another version
   */
  record Announcement(String node, List<String> answers) implements NodeMessages {
    public Announcement {
      answers = List.copyOf(answers);
    }
  }
}
