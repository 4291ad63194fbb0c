package io.steelyard.web;

import io.steelyard.bus.Waits;
import io.steelyard.domain.Id;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import java.util.function.Supplier;

/** An event loop, and what ends the waits of those on it. */
final class Loop {
  static final long NEVER_MS = 3_600_000;

  private final Context context;
  private final Waits waits;

  /**
   * @param everyMs it looks for what has waited too long
   */
  Loop(Vertx vertx, long everyMs) {
    context = ((VertxInternal) vertx).createEventLoopContext();
    waits = call(() -> new Waits(vertx, everyMs));
  }

  Context context() {
    return context;
  }

  Waits waits() {
    return waits;
  }

  /** What {@code work} comes to there. */
  <T> T call(Supplier<T> work) {
    Promise<T> done = Promise.promise();
    context.runOnContext(now -> Future.<T>future(it -> it.complete(work.get())).onComplete(done));
    return done.future().await();
  }

  PlaceWait await(MerchantShares shares, Id merchant, long bodyBytes) {
    return call(() -> shares.await(merchant, bodyBytes, waits));
  }
}
