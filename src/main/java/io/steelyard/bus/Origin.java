package io.steelyard.bus;

import io.vertx.core.internal.ContextInternal;
import java.util.function.Supplier;

/**
 * Where a request is worked on, so that a statement which several share is in the trace of the
 * first of them, and not of whichever request the one before it was made for.
 *
 * @param context null where nobody's request is worked on
 */
public record Origin(ContextInternal context) {
  public static Origin here() {
    return new Origin(ContextInternal.current());
  }

  /** Does {@code work} there; on another thread than the context's, as part of no request's. */
  public <T> T run(Supplier<T> work) {
    if (context == null || !context.inThread()) {
      return work.get();
    }
    ContextInternal before = context.beginDispatch();
    try {
      return work.get();
    } finally {
      context.endDispatch(before);
    }
  }
}
