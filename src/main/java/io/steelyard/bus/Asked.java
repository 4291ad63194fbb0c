package io.steelyard.bus;

import io.vertx.core.Completable;
import io.vertx.core.Promise;

/**
 * A question to a verticle of the same process, as it travels over the event bus. It takes its
 * answer back with it, which saves the bus a reply's address, handler and timer. Answered once: in
 * time, or not at all.
 */
final class Asked extends Waits.Wait implements BusRecord, Completable<Reply> {
  private final Envelope envelope;
  private final Waits waits;
  private final Promise<Reply> answer;

  /**
   * @param answer on the context that asks
   */
  Asked(Envelope envelope, Waits waits, Promise<Reply> answer) {
    super(envelope.call().remainingMs());
    this.envelope = envelope;
    this.waits = waits;
    this.answer = answer;
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
