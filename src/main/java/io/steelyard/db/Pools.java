package io.steelyard.db;

import io.steelyard.config.Config;
import io.vertx.core.Vertx;
import io.vertx.core.net.NetClientOptions;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * One named, bounded pool per bulkhead, shared by the verticle instances that ask for it. Each
 * verticle takes its own handle in {@code open()} and closes it in {@code close()}; the pool goes
 * with the last handle.
 */
public final class Pools {
  /** One for the check that runs by itself, one for those that were asked for. */
  static final int INTEGRITY_SIZE = 2;

  /** One for a drop, one for who looks meanwhile. */
  public static final int RETENTION_SIZE = 2;

  private static final String INTEGRITY = "integrity";

  private static final int IDLE_S = 300;
  private static final int LIFETIME_S = 1800;
  private static final int MARGIN_MS = 1000;

  /** How much later than its own limit the server's answer to a statement may arrive. */
  private static final int ANSWER_MARGIN_MS = 2000;

  private final Config.Database config;
  private final Endpoint endpoint;
  private final Map<String, String> session;

  public Pools(Config.Database config, Endpoint endpoint) {
    this(config, endpoint, Map.of());
  }

  /**
   * @param session settings that every session begins with, besides those that a pool has
   */
  Pools(Config.Database config, Endpoint endpoint, Map<String, String> session) {
    this.config = config;
    this.endpoint = endpoint;
    this.session = session;
  }

  /**
   * How long some statements in a row can take at the most while the database answers: the server
   * ends each after its timeout, the pool ends the wait for a connection. Whoever must not wait for
   * ever gives up after that, and does not know then what has become of the statements. Their
   * connection stays taken until TCP notices that the other side is gone; the pool drops it then.
   */
  public long patienceMs(int statements) {
    return patienceMs(statements, usual(config.statementTimeoutMs()));
  }

  /** As {@link #patienceMs(int)}, for the clockwork's and the fold's statements. */
  public long patienceMs(int statements, int statementTimeoutMs) {
    return patienceMs(statements, background(statementTimeoutMs));
  }

  private long patienceMs(int statements, Limits limits) {
    return (long) limits.waitMs()
        + config.connectTimeoutMs()
        + (long) statements * limits.statementMs()
        + MARGIN_MS;
  }

  /**
   * @param statementMs of one statement
   * @param lockMs of the wait for a lock
   * @param waitMs of the wait for a connection
   */
  private record Limits(int statementMs, int lockMs, int waitMs) {}

  private Limits usual(int statementTimeoutMs) {
    return new Limits(statementTimeoutMs, config.lockTimeoutMs(), config.poolWaitMs());
  }

  /**
   * Nobody is kept waiting by it, and its connections may be fewer than those who want one: they
   * have their turn after whole transactions.
   */
  private Limits background(int statementTimeoutMs) {
    return new Limits(
        statementTimeoutMs, statementTimeoutMs, Math.max(config.poolWaitMs(), statementTimeoutMs));
  }

  /** For the requests of the external and the operator API. */
  public Pool api(Vertx vertx) {
    return pool(vertx, "api", config.apiPoolSize(), config.statementTimeoutMs());
  }

  /** For knowing callers and readiness, both short, however busy the other pools are. */
  public Pool control(Vertx vertx) {
    return pool(vertx, "control", config.controlPoolSize(), config.statementTimeoutMs());
  }

  /** For storing events only, so that nothing else can hold it up. */
  public Pool ingest(Vertx vertx) {
    return pool(vertx, "ingest", config.ingestPoolSize(), config.statementTimeoutMs());
  }

  /** For the fold, whose statements may take longer, and which may wait for another fold. */
  public Pool aggregation(Vertx vertx, int statementTimeoutMs) {
    return pool(vertx, "aggregation", config.aggregationPoolSize(), background(statementTimeoutMs));
  }

  /** For integrity checks, whose statements may take as long as a check may. */
  public Pool integrity(Vertx vertx, int statementTimeoutMs) {
    return pool(vertx, INTEGRITY, INTEGRITY_SIZE, statementTimeoutMs);
  }

  /** For dropping events, whose statements look at the periods of all merchants. */
  public Pool retention(Vertx vertx, int statementTimeoutMs) {
    return pool(vertx, "retention", RETENTION_SIZE, background(statementTimeoutMs));
  }

  /** For the clockwork, whose statements may take longer, and which waits for the fold. */
  public Pool billing(Vertx vertx, int statementTimeoutMs) {
    // A shorter wait for locks, so that it is told from a statement that is slow.
    Limits limits = background(statementTimeoutMs);
    return pool(
        vertx,
        "billing",
        config.billingPoolSize(),
        new Limits(statementTimeoutMs, Math.max(1, statementTimeoutMs / 2), limits.waitMs()));
  }

  private Pool pool(Vertx vertx, String name, int size, int statementTimeoutMs) {
    return pool(vertx, name, size, usual(statementTimeoutMs));
  }

  private Pool pool(Vertx vertx, String name, int size, Limits limits) {
    boolean readsAll = name.equals(INTEGRITY);
    PgConnectOptions connect =
        new PgConnectOptions()
            .setHost(endpoint.host())
            .setPort(endpoint.port())
            .setDatabase(endpoint.database())
            .setUser(endpoint.user())
            .setPassword(endpoint.password())
            .setCachePreparedStatements(true)
            .setPreparedStatementCacheMaxSize(config.statementCacheSize())
            .setPreparedStatementCacheSqlFilter(sql -> true)
            .addProperty("application_name", "steelyard-" + name)
            .addProperty("TimeZone", "UTC")
            .addProperty("statement_timeout", Integer.toString(limits.statementMs()))
            .addProperty("lock_timeout", Integer.toString(limits.lockMs()))
            // Plans made while tables were empty are kept, those of foreign keys above all, and
            // would read all of a table that has grown since. Lookups by keys cost little more than
            // reading in order, from memory or a solid-state disk: else a few hundred are taken for
            // dearer than a whole index. Only a check of all books wants to read all.
            .addProperty("enable_seqscan", readsAll ? "on" : "off")
            .addProperty("random_page_cost", readsAll ? "4" : "1.1")
            .addProperty(
                "idle_in_transaction_session_timeout",
                Integer.toString(config.idleInTransactionTimeoutMs()));
    session.forEach(connect::addProperty);
    PoolOptions pool =
        new PoolOptions()
            .setName("steelyard-" + name)
            .setShared(true)
            .setMaxSize(size)
            .setMaxWaitQueueSize(config.poolWaitQueueMax())
            .setConnectionTimeout(limits.waitMs())
            .setConnectionTimeoutUnit(TimeUnit.MILLISECONDS)
            .setIdleTimeout(IDLE_S)
            .setIdleTimeoutUnit(TimeUnit.SECONDS)
            .setMaxLifetime(LIFETIME_S)
            .setMaxLifetimeUnit(TimeUnit.SECONDS);
    // The server's limits are worth nothing once its answer is lost on the way: a connection on
    // which nothing was heard for longer is dead, or has nothing to do and is as well closed.
    int silenceMs = limits.statementMs() + ANSWER_MARGIN_MS;
    return PgBuilder.pool()
        .with(pool)
        .with(
            new NetClientOptions()
                .setConnectTimeout(config.connectTimeoutMs())
                .setReadIdleTimeout(silenceMs)
                .setIdleTimeoutUnit(TimeUnit.MILLISECONDS)
                .setTcpKeepAlive(true))
        .connectingTo(Encrypting.apply(endpoint.encryption(), connect))
        .using(vertx)
        .build();
  }
}
