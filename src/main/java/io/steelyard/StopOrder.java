package io.steelyard;

import io.steelyard.bus.Nodes;
import io.steelyard.config.Config;
import io.steelyard.db.Database;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * How a service ends. Every step has a limit; with the defaults of 3 s unready and 12 s of drain
 * all of it stays below 30 s, the usual grace of a container.
 */
final class StopOrder {
  private static final Duration DRAIN_MARGIN = Duration.ofMillis(500);
  private static final Duration VERTICLES_LIMIT = Duration.ofSeconds(3);
  private static final Duration VERTX_LIMIT = Duration.ofSeconds(2); // and the last traces
  private static final Duration CLUSTER_LIMIT = Duration.ofSeconds(8); // no embedded database then
  private static final Duration DATABASE_LIMIT = Duration.ofSeconds(9);

  /** Of an embedded PostgreSQL. */
  static final Duration POSTGRES_LIMIT = Duration.ofSeconds(4);

  private final Config config;
  private final Platform platform;
  private final Database database;

  StopOrder(Config config, Platform platform, Database database) {
    this.config = config;
    this.platform = platform;
    this.database = database;
  }

  /**
   * No longer asked by any other node, but still taking requests for {@code timeouts.unreadyMs};
   * then the verticles one after the other, HTTP first and with time for the requests in flight;
   * then Vert.x, and then the cluster or the embedded database.
   *
   * @param asked whether somebody may still send requests here, who has to see first that it goes
   * @param nodes null outside of a cluster
   * @param deployment null where the start has not come so far
   * @return whether all of it went in order; what did not is logged
   */
  Future<Boolean> run(boolean asked, Nodes nodes, Deployment deployment) {
    Shutdown shutdown = new Shutdown();
    if (nodes != null) {
      nodes.leave();
    }
    if (asked) {
      Duration unready = Duration.ofMillis(config.unreadyMs());
      shutdown.step("what sends requests here", unready.plus(DRAIN_MARGIN), () -> pause(unready));
    }
    if (deployment != null) {
      Duration drain = Duration.ofMillis(config.timeouts().drainMs()).plus(DRAIN_MARGIN);
      deployment.addStopSteps(platform.vertx(), shutdown, drain, VERTICLES_LIMIT);
    }
    shutdown.step("Vert.x", nodes == null ? VERTX_LIMIT : CLUSTER_LIMIT, platform::close);
    // Vert.x is gone by now, so this cannot run on one of its workers.
    shutdown.step(
        "the database",
        DATABASE_LIMIT,
        () ->
            Future.fromCompletionStage(
                CompletableFuture.supplyAsync(() -> database.close(POSTGRES_LIMIT))));
    return shutdown.run();
  }

  private Future<?> pause(Duration duration) {
    return duration.isZero()
        ? Future.succeededFuture()
        : platform.vertx().timer(duration.toMillis());
  }
}
