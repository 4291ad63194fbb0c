package io.steelyard;

import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Steps that run one after the other, each with a limit; a failed one does not stop the next. */
final class Shutdown {
  private static final Logger LOG = LoggerFactory.getLogger(Shutdown.class);

  private record Step(String name, Duration limit, Supplier<Future<?>> action) {}

  private final List<Step> steps = new ArrayList<>();

  /** An action whose result is {@code false} counts as failed, and has logged why. */
  void step(String name, Duration limit, Supplier<Future<?>> action) {
    steps.add(new Step(name, limit, action));
  }

  /** Whether every step succeeded within its limit. */
  Future<Boolean> run() {
    Future<Boolean> clean = Future.succeededFuture(true);
    for (Step step : steps) {
      clean = clean.compose(before -> run(step).map(now -> before && now));
    }
    return clean;
  }

  private static Future<Boolean> run(Step step) {
    Future<?> action;
    try {
      action = step.action().get();
    } catch (RuntimeException e) {
      action = Future.failedFuture(e);
    }
    // Not Future.timeout, whose timer goes with Vert.x, which one of the steps closes.
    return Future.fromCompletionStage(
            action
                .toCompletionStage()
                .toCompletableFuture()
                .orTimeout(step.limit().toMillis(), TimeUnit.MILLISECONDS))
        .map(result -> !Boolean.FALSE.equals(result))
        .recover(
            error -> {
              LOG.error("{} did not stop in order within {}", step.name(), step.limit(), error);
              return Future.succeededFuture(false);
            });
  }
}
