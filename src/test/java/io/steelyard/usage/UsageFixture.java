package io.steelyard.usage;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.steelyard.billing.BillingMessages;
import io.steelyard.bus.Bus;
import io.steelyard.bus.Call;
import io.steelyard.bus.RecordCodec;
import io.steelyard.bus.ServiceVerticle;
import io.steelyard.catalog.CatalogStore;
import io.steelyard.config.Config;
import io.steelyard.db.Endpoint;
import io.steelyard.db.Pools;
import io.steelyard.db.SqlFailures;
import io.steelyard.domain.Environment;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.support.CitusSupport;
import io.steelyard.support.PostgresSupport;
import io.steelyard.usage.UsageMessages.Ingested;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** Both verticles of usage on a database of their own, and rows put there behind their back. */
final class UsageFixture implements AutoCloseable {
  /** Where the clocks of all merchants stand. */
  static final Instant NOW = Instant.parse("2026-03-15T12:00:00Z");

  static final Instant MARCH = Instant.parse("2026-03-01T00:00:00Z");
  static final Instant APRIL = Instant.parse("2026-04-01T00:00:00Z");
  static final int EVENT_BYTES = 1 << 16;
  static final Config.Ingest INGEST =
      new Config.Ingest(100, 1 << 20, 2, 50_000, 1 << 26, 100, 50_000);

  /** Patient with the locks that tests hold: nearly as long as a call may take. */
  static final Config.Database DATABASE =
      new Config.Database(
          null, "", 0, "none", 4, 2, 4, 4, 2, 256, 2000, 5000, 9000, 8000, 10_000, 256);

  private static final long WAIT_S = 60;

  final Endpoint endpoint;
  final SimpleMeterRegistry metrics;
  final UUID merchant = UUID.randomUUID();
  final Vertx vertx;
  private final Bus bus;
  private final MerchantClock clock = new MerchantClock(Clock.systemUTC());
  final Pools pools;

  UsageFixture() {
    this(Vertx.vertx(), PostgresSupport.migratedDatabase());
  }

  /**
   * @param vertx is closed with this
   */
  UsageFixture(Vertx vertx, Endpoint database) {
    endpoint = database;
    metrics = new SimpleMeterRegistry();
    this.vertx = vertx;
    bus = new Bus(vertx, true);
    pools = new Pools(DATABASE, endpoint);
    new RecordCodec(List.of(UsageMessages.class, BillingMessages.class)).register(vertx);
    merchant(merchant);
  }

  private UsageFixture(UsageFixture other) {
    endpoint = other.endpoint;
    metrics = other.metrics;
    vertx = other.vertx;
    bus = other.bus;
    pools = other.pools;
    merchant(merchant);
  }

  /** The same for another merchant; closed with this. */
  UsageFixture neighbour() {
    return new UsageFixture(this);
  }

  /** The deployment's id. */
  String ingestion(Config.Ingest config) {
    return await(
        vertx.deployVerticle(
            new UsageVerticle(
                new ServiceVerticle.Settings(1000, metrics, SqlFailures::of),
                pools,
                clock,
                config)));
  }

  static Config.Aggregation claiming(int eventsMax, int bytesMax) {
    return new Config.Aggregation(eventsMax, bytesMax, 1 << 20, 50, 200, 10, 10_000);
  }

  void aggregation(int instances) {
    Config.Aggregation config = claiming(1000, 1 << 20);
    await(
        vertx.deployVerticle(
            () ->
                new AggregationVerticle(
                    pools, clock, config, EVENT_BYTES, CitusSupport.isWanted(), metrics),
            new DeploymentOptions()
                .setThreadingModel(ThreadingModel.WORKER)
                .setInstances(instances)));
  }

  /** One claim at this time; whether it found anything. */
  boolean foldOnce(Config.Aggregation config, Instant now) {
    Pool pool = pools.aggregation(vertx, config.statementTimeoutMs());
    BatchFold fold =
        new BatchFold(
            config,
            new UsageStore(clock),
            new Folding(new PlanCache(new CatalogStore(), clock::systemNow)),
            HeldEvents.of(vertx),
            FoldBacklog.of(vertx),
            new AggregationMetrics(metrics, vertx),
            () -> now,
            FoldBacklog.of(vertx)::counted);
    return await(fold.runOnce(pool).eventually(pool::close));
  }

  void undeploy(String id) {
    await(vertx.undeploy(id));
  }

  Future<Ingested> ingest(UUID merchantId, List<UsageEvent> events) {
    Call call =
        new Call(
            "test",
            new Call.Merchant(
                new Id(IdKind.MERCHANT, merchantId), Environment.TEST, ZoneOffset.UTC),
            System.currentTimeMillis() + 10_000);
    return bus.ask(new UsageMessages.Ingest(UsageEvent.encoded(events)), call);
  }

  /** Stores the events and waits until they are folded. */
  void count(UsageEvent... events) {
    await(ingest(merchant, List.of(events)));
    awaitFolded();
  }

  static <T> T await(Future<T> future) {
    try {
      return future.toCompletionStage().toCompletableFuture().get(WAIT_S, TimeUnit.SECONDS);
    } catch (java.util.concurrent.ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException | java.util.concurrent.TimeoutException e) {
      throw new IllegalStateException(e);
    }
  }

  void awaitFolded() {
    awaitTrue(
        """
        SELECT NOT EXISTS (SELECT FROM event_batch)
           AND NOT EXISTS (SELECT FROM subscription_period WHERE ready_until < period_end)
        """);
  }

  void awaitTrue(String sql) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_S);
    while (!"t".equals(text(sql))) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("never came true: " + sql);
      }
      pause();
    }
  }

  private static void pause() {
    try {
      Thread.sleep(10);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  void merchant(UUID id) {
    execute(
        """
        INSERT INTO merchant (id, name, environment, timezone, clock_now, created_at, updated_at)
        VALUES ('%s', 'm', 'test', 'UTC', '%s', now(), now())
        """
            .formatted(id, NOW));
  }

  UUID customer(UUID merchantId) {
    UUID id = UUID.randomUUID();
    customer(merchantId, id);
    return id;
  }

  void customer(UUID merchantId, UUID id) {
    execute(
        """
        INSERT INTO customer (id, merchant_id, external_id, had_trial, created_at, updated_at)
        VALUES ('%s', '%s', '%1$s', false, now(), now())
        """
            .formatted(id, merchantId));
  }

  UUID plan() {
    UUID id = UUID.randomUUID();
    execute(
        """
        INSERT INTO plan
        VALUES ('%s', '%s', '%1$s', '%1$s', 'Plan', '', 'USD', 'net30', false, true, '', '',
                'available', 0, false, now(), now())
        """
            .formatted(id, merchant));
    return id;
  }

  /** Counts events of the same name as the calculation, unless {@code eventName} says otherwise. */
  UUID billable(String calculation, String eventName) {
    UUID id = UUID.randomUUID();
    execute(
        """
        INSERT INTO billable
        VALUES ('%s', '%s', '%1$s', 'B', '', 'available', '', '', '', '', false, true, false, 0,
                now(), now());
        INSERT INTO billable_rules (billable_id, merchant_id, rules, active_from)
        VALUES ('%1$s', '%2$s', \
        '{"conditions":[[{"key":"eventName","rule":"matches","value":"%s"}]],\
        "calculation":"%s","overProperty":"data.v"}', '2025-01-01Z')
        """
            .formatted(id, merchant, eventName, calculation));
    return id;
  }

  /** One unit of currency or of {@code unit} per unit of usage. */
  UUID price(UUID plan, UUID billable, UUID unit, String limit) {
    UUID id = UUID.randomUUID();
    execute(
        """
        INSERT INTO price (id, merchant_id, plan_id, is_base, name, billing_mode, block_overage,
          entity_type, price_type, rules, uses_custom_pricing_unit, billable_id, limit_quantity,
          custom_pricing_unit_id, position, active_from, created_at)
        VALUES ('%s', '%s', '%s', false, 'P', 'arrears', true, 'entitlement', 'unit',
                '{"quantity":1,"price":1}', %s, '%s', %s, %s, 0, '2025-01-01Z', now())
        """
            .formatted(
                id,
                merchant,
                plan,
                unit != null,
                billable,
                limit,
                unit == null ? "NULL" : "'" + unit + "'"));
    return id;
  }

  UUID unit() {
    UUID id = UUID.randomUUID();
    execute(
        """
        INSERT INTO custom_pricing_unit
        VALUES ('%s', '%s', '%1$s', 'Credits', 'Credit', 'cr', 'available', now(), now())
        """
            .formatted(id, merchant));
    return id;
  }

  /** An allocated block with its row in the ledger. */
  UUID block(UUID customer, UUID unit, String amount, Instant from, Instant until) {
    UUID id = UUID.randomUUID();
    execute(
        """
        INSERT INTO allocation_block (id, merchant_id, customer_id, custom_pricing_unit_id, amount,
          remaining, effective_at, expires_at, created_at, origin)
        VALUES ('%s', '%s', '%s', '%s', %s, %5$s, '%s', '%s', '%6$s', 'manual');
        INSERT INTO credit_transaction (id, merchant_id, customer_id, allocation_block_id, type,
          amount, operation_id, created_at)
        VALUES ('%1$s', '%2$s', '%3$s', '%1$s', 'manualAllocation', %5$s, '%1$s', now())
        """
            .formatted(id, merchant, customer, unit, amount, from, until));
    return id;
  }

  /** A monthly subscription without any period. */
  UUID subscription(UUID customer, UUID plan) {
    UUID id = UUID.randomUUID();
    execute(
        """
        INSERT INTO subscription (id, merchant_id, customer_id, plan_id, status, start_date,
          billing_cadence, currency, allow_customer_changes, auto_charge_invoice,
          auto_sync_invoice, auto_send_invoice, is_trial, created_at, updated_at)
        VALUES ('%s', '%s', '%s', '%s', 'active', '%s', 'monthly', 'USD', false, false, false,
                false, false, now(), now())
        """
            .formatted(id, merchant, customer, plan, MARCH));
    return id;
  }

  void period(UUID subscription, int index, Instant start, Instant end) {
    execute(
        """
        INSERT INTO subscription_period
        SELECT merchant_id, id, %d, customer_id, plan_id, '%s', '%s', false, '%2$s', '%2$s'
        FROM subscription WHERE id = '%s'
        """
            .formatted(index, start, end, subscription));
  }

  /** A subscription with the period of March. */
  UUID subscribed(UUID customer, UUID plan) {
    UUID id = subscription(customer, plan);
    period(id, 0, MARCH, APRIL);
    return id;
  }

  static UsageEvent event(UUID customer, String name, Instant at, String data) {
    return event(UUID.randomUUID(), customer, name, at, data);
  }

  static UsageEvent event(UUID key, UUID customer, String name, Instant at, String data) {
    return new UsageEvent(key, (name + data).hashCode(), customer, null, name, at, null, data);
  }

  /** An event that brings a number, some days into March. */
  static UsageEvent event(UUID customer, String name, int day, Object value) {
    return event(customer, name, MARCH.plusSeconds(day * 86_400L), "{\"v\":" + value + "}");
  }

  BigDecimal number(String sql, Object... arguments) {
    String text = text(sql.formatted(arguments));
    return text == null ? null : new BigDecimal(text);
  }

  /** The first column of the first row. */
  String text(String sql) {
    try (Connection connection = endpoint.connect();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      return rows.next() ? rows.getString(1) : null;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  void execute(String... sql) {
    PostgresSupport.execute(endpoint, sql);
  }

  @Override
  public void close() {
    await(vertx.close());
  }
}
