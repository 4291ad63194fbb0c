package io.steelyard.bus;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;

/** Asks the features' verticles. */
public final class Bus {
  private final Vertx vertx;
  private final boolean localOnly;

  /**
   * @param localOnly whether only this process's verticles answer; a cluster whose nodes each run
   *     every verticle wants that
   */
  public Bus(Vertx vertx, boolean localOnly) {
    this.vertx = vertx;
    this.localOnly = localOnly;
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
    DeliveryOptions options =
        new DeliveryOptions().setSendTimeout(call.remainingMs()).setLocalOnly(localOnly);
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
      return new Failure.Unavailable(
              "not_serving", "This part of the service is not running here.", 1)
          .asException();
    }
    if (reply.failureType() == ReplyFailure.TIMEOUT) {
      return timedOut().asException();
    }
    return error;
  }

  private static Failure timedOut() {
    return new Failure.TimedOut(
        "No answer in time. Whether the request took effect is unknown: read before repeating it."
            + " Events and upserts of customers may be repeated safely.");
  }
}
