package io.steelyard.bus;

import io.vertx.core.Completable;
import io.vertx.core.Promise;
import java.util.HashMap;
import java.util.Map;

/**
 * A question to a verticle of the same process, as it travels over the event bus. It takes its
 * answer back with it, which saves the bus a reply's address, handler and timer. Answered once: in
 * time, or not at all.
 */
final class Asked extends Waits.Wait implements BusRecord, Completable<Reply> {
  private final Envelope envelope;
  private final Waits waits;
  private final Promise<Reply> answer;

  /** Which trace it is part of; not among the message's headers, where the bus would take it up. */
  private Map<String, String> trace = Map.of();

  /**
   * @param answer on the context that asks
   */
  Asked(Envelope envelope, Waits waits, Promise<Reply> answer) {
    super(envelope.call().remainingMs());
    this.envelope = envelope;
    this.waits = waits;
    this.answer = answer;
  }

  Map<String, String> trace() {
    return trace;
  }

  /** Before it is sent. */
  void isPartOf(String header, String value) {
    if (trace.isEmpty()) {
      trace = new HashMap<>();
    }
    trace.put(header, value);
  }

  Envelope envelope() {
    return envelope;
  }

  @Override
  public void complete(Reply reply, Throwable failure) {
    waits.remove(this);
    if (failure == null) {
      answer.tryComplete(reply);
    } else {
      answer.tryFail(failure);
    }
  }

  @Override
  protected void expire() {
    answer.tryFail(Bus.timedOut().asException());
  }
}
