package io.steelyard.db;

import io.steelyard.bus.Address;
import io.steelyard.bus.Request;
import io.steelyard.bus.ServiceVerticle;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;

/** A feature's verticle with its handle of the pool for requests. */
public abstract class StoreVerticle<Q extends Request<?>> extends ServiceVerticle<Q> {
  private final Pools pools;

  /** Open while requests are handled. */
  protected Pool pool;

  protected StoreVerticle(Address address, Settings settings, Pools pools) {
    super(address, settings);
    this.pools = pools;
  }

  @Override
  protected Future<?> open() {
    pool = pools.api(vertx);
    return Future.succeededFuture();
  }

  @Override
  protected Future<?> close() {
    return pool.close();
  }
}
