package io.steelyard.bus;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import io.vertx.core.internal.ContextInternal;

/**
 * Asks the features' verticles over the event bus. Within one process an instance that is full is
 * asked only when all are, one on the caller's own thread before others, and deadlines are watched
 * together.
 */
public final class Bus {
  /** How late the end of a call's time is noticed. */
  private static final long LATE_MS = 50;

  private static final DeliveryOptions LOCALLY = new DeliveryOptions().setLocalOnly(true);

  private final Vertx vertx;
  private final boolean localOnly;
  private final Answering answering;
  private final Waits waits;

  /**
   * @param localOnly whether only this process's verticles answer; a cluster whose nodes each run
   *     every verticle wants that
   */
  public Bus(Vertx vertx, boolean localOnly) {
    this.vertx = vertx;
    this.localOnly = localOnly;
    this.answering = Answering.of(vertx);
    this.waits = new Waits(vertx, LATE_MS);
  }

  /**
   * Sends {@code request} and waits for its answer until the call's deadline.
   *
   * @return the answer, or a {@link FailureException}
   */
  public <R extends Reply> Future<R> ask(Request<R> request, Call call) {
    if (call.expired()) {
      return FailureException.failed(timedOut());
    }
    return localOnly ? askHere(request, call) : askAnywhere(request, call);
  }

  /**
   * As {@link #ask}, where the call may carry an idempotency key: then the answer may also be
   * {@link Replayed}.
   */
  public Future<Reply> askOnce(Request<? extends Reply> request, Call call) {
    return ask(request, call).map(reply -> reply);
  }

  @SuppressWarnings("unchecked") // a request says itself what its answer is
  private <R extends Reply> Future<R> askHere(Request<R> request, Call call) {
    Answering.Instance verticle = answering.choose(request.address());
    if (verticle == null) {
      return FailureException.failed(notServing());
    }
    // its own context, so that the answer comes to where the question was asked
    Promise<Reply> answer = ((ContextInternal) vertx.getOrCreateContext()).promise();
    Asked asked = new Asked(new Envelope(call, request), waits, answer);
    waits.add(asked);
    vertx.eventBus().send(verticle.ownAddress(), asked, LOCALLY);
    return (Future<R>) answer.future();
  }

  private <R extends Reply> Future<R> askAnywhere(Request<R> request, Call call) {
    DeliveryOptions options = new DeliveryOptions().setSendTimeout(call.remainingMs());
    return vertx
        .eventBus()
        .<R>request(request.address().value(), new Envelope(call, request), options)
        .map(message -> message.body())
        .recover(error -> Future.failedFuture(translate(error)));
  }

  private static Throwable translate(Throwable error) {
    if (error instanceof FailureException || !(error instanceof ReplyException reply)) {
      return error;
    }
    if (reply.failureType() == ReplyFailure.NO_HANDLERS) {
      return notServing().asException();
    }
    if (reply.failureType() == ReplyFailure.TIMEOUT) {
      return timedOut().asException();
    }
    return error;
  }

  static Failure notServing() {
    return new Failure.Unavailable(
        "not_serving", "This part of the service is not running here.", 1);
  }

  static Failure timedOut() {
    return new Failure.TimedOut(
        "No answer in time. Whether the request took effect is unknown: read before repeating it."
            + " What carries an Idempotency-Key, events and upserts of customers may be repeated"
            + " safely.");
  }
}
