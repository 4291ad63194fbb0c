package io.steelyard.bus;

import io.vertx.core.Completable;
import io.vertx.core.Future;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.spi.tracing.SpanKind;
import io.vertx.core.spi.tracing.TagExtractor;
import io.vertx.core.spi.tracing.VertxTracer;
import io.vertx.core.tracing.TracingPolicy;

/**
 * A request over the bus as a part of the trace that its caller is in: one span of the caller,
 * until it has its answer, and within that one of the verticle, as long as it works. Only where
 * traces are wanted; {@link ContextInternal#tracer} is null elsewhere.
 */
final class Spans {
  private static final TagExtractor<Request<?>> ADDRESS = new Destination();
  private static final TagExtractor<Failure> CODE = new Code();

  private Spans() {}

  private static final class Destination implements TagExtractor<Request<?>> {
    @Override
    public int len(Request<?> request) {
      return 1;
    }

    @Override
    public String name(Request<?> request, int index) {
      return "messaging.destination.name";
    }

    @Override
    public String value(Request<?> request, int index) {
      return request.address().value();
    }
  }

  /** Why the answer is none. */
  private static final class Code implements TagExtractor<Failure> {
    @Override
    public int len(Failure failure) {
      return failure == null ? 0 : 1;
    }

    @Override
    public String name(Failure failure, int index) {
      return "steelyard.failure";
    }

    @Override
    public String value(Failure failure, int index) {
      return failure.code();
    }
  }

  /**
   * Begins the caller's span, and lets the question tell of it.
   *
   * @param answer ends it
   */
  static void ask(ContextInternal caller, Asked asked, Future<Reply> answer) {
    VertxTracer<?, Object> tracer = tracer(caller);
    Request<?> request = asked.envelope().request();
    Object span =
        tracer.sendRequest(
            caller,
            SpanKind.RPC,
            TracingPolicy.PROPAGATE,
            request,
            name(request),
            asked::isPartOf,
            ADDRESS);
    if (span != null) {
      answer.onComplete(
          outcome ->
              tracer.receiveResponse(
                  caller, failure(outcome.cause()), span, fault(outcome.cause()), CODE));
    }
  }

  /**
   * Begins the span of the verticle that this is the context of.
   *
   * @return the way for the answer, which ends it
   */
  static Completable<Reply> receive(ContextInternal here, Asked asked) {
    VertxTracer<Object, ?> tracer = tracer(here);
    Request<?> request = asked.envelope().request();
    Object span =
        tracer.receiveRequest(
            here,
            SpanKind.RPC,
            TracingPolicy.PROPAGATE,
            request,
            name(request),
            asked.trace().entrySet(),
            ADDRESS);
    if (span == null) {
      return asked;
    }
    return (reply, error) -> {
      tracer.sendResponse(here, failure(error), span, fault(error), CODE);
      asked.complete(reply, error);
    };
  }

  @SuppressWarnings("unchecked") // what it makes is handed back to it only
  private static <I, O> VertxTracer<I, O> tracer(ContextInternal context) {
    return context.tracer();
  }

  private static String name(Request<?> request) {
    return request.getClass().getSimpleName();
  }

  private static Failure failure(Throwable error) {
    return error instanceof FailureException known ? known.failure() : null;
  }

  /** The error, where it is the service's own: what a caller asks wrongly is no fault of a span. */
  private static Throwable fault(Throwable error) {
    return failure(error) != null && BusMetrics.isRefusal(failure(error)) ? null : error;
  }
}
