package io.steelyard;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import io.netty.util.concurrent.EventExecutor;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import java.util.concurrent.TimeUnit;

/**
 * How late an event loop comes to what is due: a task that looks at the clock, on each of them. One
 * that does not come to it at all is seen by how long that has been so.
 */
final class EventLoopLag {
  private static final long EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private final Timer lag;
  private volatile long dueAt = System.nanoTime() + EVERY_NANOS;

  private EventLoopLag(String loop, MeterRegistry registry) {
    this.lag =
        Timer.builder("steelyard.event.loop.lag")
            .description("How late the event loop came to what was due")
            .tag("loop", loop)
            .register(registry);
    TimeGauge.builder(
            "steelyard.event.loop.overdue", this, TimeUnit.NANOSECONDS, each -> each.late())
        .description("For how long what is due now has been waiting for the event loop")
        .tag("loop", loop)
        .strongReference(true)
        .register(registry);
  }

  /** Watches every event loop of {@code vertx} until it is closed. */
  static void watch(Vertx vertx, MeterRegistry registry) {
    int number = 0;
    for (EventExecutor loop : ((VertxInternal) vertx).nettyEventLoopGroup()) {
      EventLoopLag watch = new EventLoopLag(Integer.toString(number++), registry);
      loop.scheduleWithFixedDelay(watch::tick, EVERY_NANOS, EVERY_NANOS, TimeUnit.NANOSECONDS);
    }
  }

  private void tick() {
    lag.record(late(), TimeUnit.NANOSECONDS);
    dueAt = System.nanoTime() + EVERY_NANOS;
  }

  private long late() {
    return Math.max(0, System.nanoTime() - dueAt);
  }
}
