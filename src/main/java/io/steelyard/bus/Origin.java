package io.steelyard.bus;

import io.vertx.core.internal.ContextInternal;
import java.util.function.Supplier;

/**
 * Where a request is worked on, so that a statement which several share is in the trace of the
 * first of them, and not of whichever request the one before it was made for.
 *
 * @param context null where nobody's request is worked on, or nothing is traced
 */
public record Origin(ContextInternal context) {
  private static final Origin NOWHERE = new Origin(null);

  /** Costs nothing where nothing is traced. */
  public static Origin here() {
    ContextInternal current = ContextInternal.current();
    return current == null || current.tracer() == null ? NOWHERE : new Origin(current);
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
