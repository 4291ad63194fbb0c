package io.steelyard.gateway;

import io.vertx.core.http.RequestOptions;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.spi.tracing.SpanKind;
import io.vertx.core.spi.tracing.TagExtractor;
import io.vertx.core.spi.tracing.VertxTracer;
import io.vertx.core.tracing.TracingPolicy;
import java.util.List;
import java.util.function.Function;

/**
 * One attempt at a gateway as a part of the trace that it is made in: method, host and status, but
 * no path, in which ids are. The gateway is not told of the trace, which is none of its business.
 */
final class GatewaySpan {
  private static final TagExtractor<RequestOptions> WHAT =
      new Tags<>(
          List.of("http.request.method", "server.address", "server.port"),
          List.of(
              options -> options.getMethod().name(),
              RequestOptions::getHost,
              options -> String.valueOf(options.getPort())));
  private static final TagExtractor<Integer> STATUS =
      new Tags<>(List.of("http.response.status_code"), List.of(String::valueOf));
  private static final TagExtractor<Integer> NO_STATUS = TagExtractor.empty();

  private final ContextInternal context;
  private final Object span;

  private GatewaySpan(ContextInternal context, Object span) {
    this.context = context;
    this.span = span;
  }

  /** Names, and in their order where their values come from. */
  private record Tags<T>(List<String> names, List<Function<T, String>> values)
      implements TagExtractor<T> {
    @Override
    public int len(T tagged) {
      return names.size();
    }

    @Override
    public String name(T tagged, int index) {
      return names.get(index);
    }

    @Override
    public String value(T tagged, int index) {
      return values.get(index).apply(tagged);
    }
  }

  /** Begins one where the caller is traced; its end is nothing elsewhere. */
  static GatewaySpan begin(RequestOptions options) {
    ContextInternal context = ContextInternal.current();
    if (context == null || context.tracer() == null) {
      return new GatewaySpan(null, null);
    }
    VertxTracer<?, Object> tracer = tracer(context);
    Object span =
        tracer.sendRequest(
            context,
            SpanKind.RPC,
            TracingPolicy.PROPAGATE,
            options,
            options.getMethod().name(),
            (header, value) -> {},
            WHAT);
    return new GatewaySpan(context, span);
  }

  /**
   * @param status null where there was no answer
   * @param failure why that is none of use; null for a verdict
   */
  void end(Integer status, Throwable failure) {
    if (span != null) {
      VertxTracer<?, Object> tracer = tracer(context);
      tracer.receiveResponse(context, status, span, failure, status == null ? NO_STATUS : STATUS);
    }
  }

  @SuppressWarnings("unchecked") // what it makes is handed back to it only
  private static <I> VertxTracer<I, Object> tracer(ContextInternal context) {
    return context.tracer();
  }
}
