package io.steelyard;

import io.vertx.core.Deployable;
import io.vertx.core.ThreadingModel;
import java.util.function.Supplier;

/**
 * One line of the {@link Deployment}: a verticle, and how it is run.
 *
 * @param kind says when it starts and stops
 * @param instances 0 leaves it out of this process
 * @param verticle a new one at every call
 */
record Entry(
    Kind kind,
    String name,
    int instances,
    ThreadingModel threadingModel,
    Supplier<? extends Deployable> verticle) {

  static Entry eventLoop(
      Kind kind, String name, int instances, Supplier<? extends Deployable> verticle) {
    return new Entry(kind, name, instances, ThreadingModel.EVENT_LOOP, verticle);
  }

  static Entry worker(
      Kind kind, String name, int instances, Supplier<? extends Deployable> verticle) {
    return new Entry(kind, name, instances, ThreadingModel.WORKER, verticle);
  }

  /** What an entry is to the others, in the order in which they start. */
  enum Kind {
    /** Answers for the process while the rest starts and stops. */
    MANAGEMENT,

    /** Does what it is asked. */
    FEATURE,

    /** Takes requests: after what they ask is there, and before any of it goes. */
    EDGE,

    /**
     * Works by itself, which would take the processors from the start if it began earlier. What it
     * is asked besides, such as for a preview, is 503 until then; the process is not ready.
     */
    CLOCKWORK;

    /** Its turn when all stop, from 1. */
    int stops() {
      return switch (this) {
        case EDGE -> 1;
        case FEATURE, CLOCKWORK -> 2;
        case MANAGEMENT -> 3;
      };
    }
  }
}
