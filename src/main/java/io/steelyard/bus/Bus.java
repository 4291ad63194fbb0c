package io.steelyard.bus;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.tracing.TracingPolicy;

/**
 * Asks the features' verticles over the event bus: one of this process where there is one, else one
 * of another node of the cluster, else the answer is at once that nobody serves this. Within one
 * process an instance that is full is asked only when all are, one on the caller's own thread
 * before others, and deadlines are watched together.
 */
public final class Bus {
  /** How late the end of a call's time is noticed. */
  private static final long LATE_MS = 50;

  /** Traced here, not by the bus, which would not know when the answer has come. */
  private static final DeliveryOptions LOCALLY =
      new DeliveryOptions().setLocalOnly(true).setTracingPolicy(TracingPolicy.IGNORE);

  private final Vertx vertx;
  private final Nodes nodes;
  private final Answering answering;
  private final Waits waits;

  /**
   * @param localOnly whether only this process's verticles answer, also where it is in a cluster
   */
  public Bus(Vertx vertx, boolean localOnly) {
    this.vertx = vertx;
    this.nodes = localOnly ? null : Nodes.of(vertx);
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
    Answering.Instance verticle = answering.choose(request.address());
    if (verticle != null) {
      return ask(verticle, request, call);
    }
    return nodes == null ? FailureException.failed(notServing()) : nodes.ask(request, call);
  }

  /**
   * As {@link #ask}, where the call may carry an idempotency key: then the answer may also be
   * {@link Replayed}.
   */
  public Future<Reply> askOnce(Request<? extends Reply> request, Call call) {
    return ask(request, call).map(reply -> reply);
  }

  @SuppressWarnings("unchecked") // a request says itself what its answer is
  private <R extends Reply> Future<R> ask(
      Answering.Instance verticle, Request<R> request, Call call) {
    // its own context, so that the answer comes to where the question was asked
    ContextInternal caller = (ContextInternal) vertx.getOrCreateContext();
    Promise<Reply> answer = caller.promise();
    Asked asked = new Asked(new Envelope(call, request), waits, answer);
    waits.add(asked);
    if (caller.tracer() != null) {
      Spans.ask(caller, asked, answer.future());
    }
    vertx.eventBus().send(verticle.ownAddress(), asked, LOCALLY);
    return (Future<R>) answer.future();
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
