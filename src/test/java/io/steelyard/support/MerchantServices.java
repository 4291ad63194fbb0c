package io.steelyard.support;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.steelyard.bus.Bus;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.RecordCodec;
import io.steelyard.bus.Reply;
import io.steelyard.bus.Request;
import io.steelyard.bus.ServiceVerticle;
import io.steelyard.catalog.CatalogMessages;
import io.steelyard.catalog.CatalogVerticle;
import io.steelyard.config.Config;
import io.steelyard.db.Endpoint;
import io.steelyard.db.Idempotency;
import io.steelyard.db.Pools;
import io.steelyard.db.SecretBox;
import io.steelyard.db.SqlFailures;
import io.steelyard.domain.Environment;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.merchant.MerchantMessages;
import io.steelyard.merchant.MerchantMessages.CreateMerchant;
import io.steelyard.merchant.MerchantMessages.MerchantCreated;
import io.steelyard.merchant.MerchantVerticle;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.Clock;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;

/** The merchant and catalog verticles on a Vert.x and a database of their own. */
public final class MerchantServices implements AutoCloseable {
  private static final long CALL_MS = 10_000;
  private static final long LAST_USE_MS = 60_000;

  public final Vertx vertx = Vertx.vertx();
  public final Pool pool;
  private final Bus bus = new Bus(vertx, true);

  public MerchantServices() {
    Endpoint database = PostgresSupport.migratedDatabase();
    new RecordCodec(List.of(MerchantMessages.class, CatalogMessages.class)).register(vertx);
    Pools pools =
        new Pools(
            new Config.Database(
                null, "unused", 0, "none", 8, 2, 1, 1, 1, 64, 5000, 5000, 5000, 5000, 10_000, 256),
            database);
    MerchantClock clock = new MerchantClock(Clock.systemUTC());
    ServiceVerticle.Settings settings =
        new ServiceVerticle.Settings(64, new SimpleMeterRegistry(), SqlFailures::of);
    Idempotency idempotency =
        new Idempotency(clock::systemNow, new SecretBox(null), settings.metrics());
    vertx
        .deployVerticle(new MerchantVerticle(settings, pools, clock, idempotency, LAST_USE_MS))
        .await();
    vertx.deployVerticle(new CatalogVerticle(settings, pools, clock)).await();
    pool = pools.api(vertx);
  }

  public <R extends Reply> Future<R> asking(Request<R> request, Call.Merchant merchant) {
    Call call = new Call("req-test", merchant, System.currentTimeMillis() + CALL_MS);
    return bus.ask(request, call);
  }

  public <R extends Reply> R ask(Request<R> request, Call.Merchant merchant) {
    return asking(request, merchant).await();
  }

  /** The failure that the request must end in. */
  public Failure refusal(Request<?> request, Call.Merchant merchant) {
    try {
      Reply reply = asking(request, merchant).await();
      throw new AssertionError("answered " + reply);
    } catch (FailureException e) {
      return e.failure();
    }
  }

  public Call.Merchant merchant(Environment environment) {
    MerchantCreated created =
        ask(new CreateMerchant("Acme", environment, ZoneId.of("Europe/Paris")), null);
    return new Call.Merchant(created.id(), created.environment(), created.timezone());
  }

  public List<Row> rows(String sql, Object... parameters) {
    List<Row> rows = new ArrayList<>();
    pool.preparedQuery(sql).execute(Tuple.wrap(parameters)).await().forEach(rows::add);
    return rows;
  }

  @Override
  public void close() {
    pool.close().await();
    vertx.close().await();
  }
}
