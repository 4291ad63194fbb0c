package io.steelyard.usage;

import io.steelyard.bus.Address;
import io.steelyard.bus.BusRecord;
import io.steelyard.bus.Reply;
import io.steelyard.bus.Request;
import java.util.UUID;

/** What the usage verticle may be asked: to store events, durably and once. */
public sealed interface UsageMessages<R extends Reply> extends Request<R> {
  @Override
  default Address address() {
    return Address.USAGE;
  }

  /** Answers only after every event is committed and flushed, or known as a duplicate. */
  record Ingest(EncodedEvents events) implements UsageMessages<Ingested> {}

  /**
   * @param accepted events stored by this request
   * @param duplicates events whose key was stored before, or came twice in this request
   */
  record Ingested(int accepted, int duplicates) implements Reply {}

  /**
   * What a process that stores or counts tells the others of the cluster.
   *
   * @param process that tells it
   * @param counts whether it counts, too
   * @param stored events since it told last
   * @param counted events since it told last
   * @param backlog stored and not counted by anybody, where it has just looked; else null
   */
  record EventsTold(UUID process, boolean counts, int stored, int counted, Long backlog)
      implements BusRecord {}
}
